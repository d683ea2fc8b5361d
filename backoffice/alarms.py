"""Alarms at the top of every back office page: the house stop, and tables stopped by an incident.

The alarms push the page content down, so they are short: one line for the house stop and one line
for all stopped tables. A line links to the page where the reader can act or see more. Only readers
of the floor see the line about tables.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.urls import reverse

from games.incidents import unruled
from games.shared.floor.rows import READERS as FLOOR_READERS
from players.models import User
from wallet import house_stop

RULE: Final = "games.supervise_table"
STOP_READERS: Final = ("wallet.stop_house", "audit.view_event")


@dataclass(frozen=True)
class Alarm:
    """One alarm: its text and a link. The link is "" where the reader may not see more."""

    text: str
    link: str = ""
    link_text: str = ""


def alarms(user: User) -> list[Alarm]:
    """Return the alarms that a member of staff sees on every page."""
    mine = user.get_all_permissions()
    return [*_house(mine), *_tables(mine)]


def _house(mine: set[str]) -> Iterator[Alarm]:
    stop = house_stop.current()
    if stop:
        text = f"House stop since {stop.at:%Y-%m-%d %H:%M} UTC: all stakes and deposits are blocked."
        yield Alarm(text, "" if mine.isdisjoint(STOP_READERS) else reverse("staff_stop"), "View house stop")


def _tables(mine: set[str]) -> Iterator[Alarm]:
    if mine.isdisjoint(FLOOR_READERS):
        return
    incidents = list(unruled().select_related("table", "live_round__live_table"))
    tables = {}
    for incident in incidents:
        if incident.live_round:
            live_table = incident.live_round.live_table
            tables[live_table.pk] = f"{incident.table.name} ({live_table.get_mode_display().lower()} money)"
    if not tables:
        return
    stopped = f"{next(iter(tables.values()))} is stopped" if len(tables) == 1 else f"{len(tables)} tables are stopped"
    if RULE not in mine:
        yield Alarm(f"{stopped}.", reverse("staff_floor"), "View floor")
    elif len(incidents) == 1:
        yield Alarm(
            f"{stopped}: one incident awaits a ruling.",
            reverse("staff_incident", args=[incidents[0].pk]),
            "View incident",
        )
    else:
        waiting = f"{stopped}: {len(incidents)} incidents await a ruling."
        yield Alarm(waiting, f"{reverse('staff_incidents')}?state=awaiting", "View incidents")
