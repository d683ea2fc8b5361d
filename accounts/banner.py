"""Banner on every page: house stop, and maintenance notices in force.

One query reads it, for pages and for event streams (``realtime/notices.py``). Times are shown in
each reader's time zone. The database's clock decides what is in force; between two queries, elapsed
time is added.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import structlog
from django.db import InterfaceError, OperationalError, connection
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import get_language, override

from games.tables.fragments import render_fragment
from players.staff import notices
from players.staff.notices import Planned

# One row for every notice that has not ended, or a single row without a notice. Each row has the house stop, the
# database's clock, and the time zones of all jurisdictions.
READ: Final = """
SELECT moment AS now,
       (SELECT stop.id FROM wallet_housestop AS stop WHERE stop.ended_at IS NULL) AS stop,
       (SELECT jsonb_object_agg(law.code, law.time_zone) FROM players_jurisdiction AS law) AS zones,
       notice.id, notice.begins_at, notice.ends_at, notice.shown_from, notice.shown_until, notice.texts
FROM (SELECT clock_timestamp()) AS clock (moment)
LEFT JOIN players_notice AS notice ON notice.withdrawn_at IS NULL AND notice.shown_until > moment
ORDER BY notice.begins_at
"""
HOUSE_ZONE: Final = "UTC"  # the time zone for visitors and staff

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Banner:
    """The contents of the banner at one time."""

    now: datetime
    stop: int | None  # id of the current house stop
    notices: Mapping[int, Planned]  # not ended when read, by id
    zones: Mapping[str, str]  # by jurisdiction

    @property
    def in_force(self) -> dict[int, Planned]:
        """Return the notices that are shown now, by id."""
        return {no: each for no, each in self.notices.items() if each.shown_from <= self.now < each.shown_until}

    @property
    def key(self) -> str:
        """Return a key of the contents. It differs if the banner shows something else."""
        stop = [f"stop-{self.stop}"] if self.stop else []
        return " ".join([*stop, *(f"notice-{number}" for number in self.in_force)])

    @property
    def next_change(self) -> datetime | None:
        """Return when a notice next appears or disappears, or None."""
        moments = [at for each in self.notices.values() for at in (each.shown_from, each.shown_until) if at > self.now]
        return min(moments, default=None)

    def at(self, now: datetime) -> "Banner":
        """Return the banner as of another time."""
        return replace(self, now=now)


def of_rows(rows: Sequence[Mapping[str, Any]]) -> Banner:
    """Return the banner of the rows of `READ`. Malformed rows raise the error of the parser."""
    first = rows[0]
    found = {row["id"]: _planned(row) for row in rows if row["id"] is not None}
    return Banner(first["now"], first["stop"], found, json.loads(first["zones"]))


def _planned(row: Mapping[str, Any]) -> Planned:
    texts = json.loads(row["texts"])
    return Planned(row["begins_at"], row["ends_at"], row["shown_from"], row["shown_until"], texts)


def read() -> Banner:
    """Read the current banner."""
    with connection.cursor() as cursor:
        cursor.execute(READ)
        names = [column.name for column in cursor.description]
        return of_rows([dict(zip(names, row, strict=True)) for row in cursor.fetchall()])


def render(banner: Banner, language: str, zone: str) -> str:
    """Render the banner in *language*, with times in *zone*."""
    messages = [notices.notice_text(each, language, zone) for each in banner.in_force.values()]
    with override(language):
        return render_fragment("banner.html#banner", banner=banner, notices=messages)


def describe_banner(banner: Banner, language: str, zone: str) -> dict[str, Any]:
    """Return the banner as plain values, for API clients."""
    shown = [
        {
            "id": number,
            "begins_at": each.begins_at,
            "ends_at": each.ends_at,
            "text": notices.notice_text(each, language, zone),
        }
        for number, each in banner.in_force.items()
    ]
    return {"is_stopped": banner.stop is not None, "notices": shown}


def on_this_page(*, says_stop: bool = True) -> str:
    """Render the banner for the current page's reader, without the house stop if the page itself shows it.

    Without a database connection, as on some error pages, the banner is empty.
    """
    try:
        found = read()
    except (InterfaceError, OperationalError):
        logger.warning("banner_unread")
        return ""
    shown = found if says_stop else replace(found, stop=None)
    return render(shown, get_language() or "en", get_current_timezone_name())
