"""What every page shows to everybody: that play is stopped, and notices of maintenance that are in force.

One query reads all of it, for a page while it is made and for those who watch (``realtime/notices.py``), and says
whose clocks show what in which time zone. Whether something is in force the database's clock decides: between two
readings its time is counted on.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import structlog
from django.db import InterfaceError, OperationalError, connection
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import get_language, override

from players.staff import notices
from players.staff.notices import Planned

# A row for every notice that is not over, or one without a notice; each with whether play is stopped, the database's
# clock, and the time zone of each jurisdiction.
READ: Final = """
SELECT moment AS now,
       (SELECT stop.id FROM wallet_housestop AS stop WHERE stop.ended_at IS NULL) AS stop,
       (SELECT jsonb_object_agg(place.code, place.time_zone) FROM players_jurisdiction AS place) AS zones,
       notice.id, notice.begins_at, notice.ends_at, notice.shown_from, notice.shown_until, notice.texts
FROM (SELECT clock_timestamp()) AS clock (moment)
LEFT JOIN players_notice AS notice ON notice.withdrawn_at IS NULL AND notice.shown_until > moment
ORDER BY notice.begins_at
"""
HOUSE_ZONE: Final = "UTC"  # in which visitors and staff read times

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Banner:
    """What there is to show at a moment."""

    now: datetime
    stop: int | None  # the number of the stop that stands
    notices: Mapping[int, Planned]  # that are not over when they are read, by number
    zones: Mapping[str, str]  # of jurisdictions

    @property
    def in_force(self) -> dict[int, Planned]:
        """The notices that are shown now, by number."""
        return {no: each for no, each in self.notices.items() if each.shown_from <= self.now < each.shown_until}

    @property
    def key(self) -> str:
        """Names what is shown: another key, another banner."""
        stop = [f"stop-{self.stop}"] if self.stop else []
        return " ".join([*stop, *(f"notice-{number}" for number in self.in_force)])

    @property
    def next_change(self) -> datetime | None:
        """When something begins or ends to be shown by itself; None where nothing does."""
        moments = [at for each in self.notices.values() for at in (each.shown_from, each.shown_until) if at > self.now]
        return min(moments, default=None)

    def at(self, now: datetime) -> "Banner":
        """Return it as it is at another moment."""
        return replace(self, now=now)


def of_rows(rows: Sequence[Mapping[str, Any]]) -> Banner:
    """Return what the rows of `READ` say. Raises whatever rows that cannot be understood raise."""
    first = rows[0]
    found = {row["id"]: _planned(row) for row in rows if row["id"] is not None}
    return Banner(first["now"], first["stop"], found, json.loads(first["zones"]))


def _planned(row: Mapping[str, Any]) -> Planned:
    texts = json.loads(row["texts"])
    return Planned(row["begins_at"], row["ends_at"], row["shown_from"], row["shown_until"], texts)


def read() -> Banner:
    """Read what there is to show at this moment."""
    with connection.cursor() as cursor:
        cursor.execute(READ)
        names = [column.name for column in cursor.description]
        return of_rows([dict(zip(names, row, strict=True)) for row in cursor.fetchall()])


def render(banner: Banner, language: str, zone: str) -> SafeString:
    """Render it for readers of *language* whose clocks stand in *zone*."""
    words = [notices.words(each, language, zone) for each in banner.in_force.values()]
    with override(language):
        return render_to_string("_notices.html", {"banner": banner, "notices": words})


def told(banner: Banner, language: str, zone: str) -> dict[str, Any]:
    """Return the same for programs, as plain values."""
    shown = [
        {
            "id": number,
            "begins_at": each.begins_at,
            "ends_at": each.ends_at,
            "text": notices.words(each, language, zone),
        }
        for number, each in banner.in_force.items()
    ]
    return {"is_stopped": banner.stop is not None, "notices": shown}


def on_this_page(*, says_stop: bool = True) -> SafeString:
    """Render it as the reader of the page that is being made reads; without the stop where the page says that itself.
    A page that is made without the database, to say that something is not there, has none.
    """
    try:
        found = read()
    except (InterfaceError, OperationalError):
        logger.warning("banner_unread")
        return SafeString()
    shown = found if says_stop else replace(found, stop=None)
    return render(shown, get_language() or "en", get_current_timezone_name())
