"""Since when a table is paused or closed, who did it and why, from the audit log."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC
from typing import Final

from audit.models import Event
from games.models import Status, Table
from players.models import Staff

TURNED: Final = ("table.opened", "table.paused", "table.went_on", "table.closed")


def since(tables: Iterable[Table]) -> Mapping[int, str]:
    """Return the text by table id, for tables that are not open and have such an event. Two queries."""
    of_tables = {f"table:{table.pk}": table.pk for table in tables if table.status != Status.OPEN}
    turned = Event.objects.filter(on__in=of_tables, kind__in=TURNED).order_by("on", "-pk").distinct("on")
    latest = list(turned)
    names = _names(event.by for event in latest)
    return {of_tables[event.on]: _describe_change(event, names) for event in latest}


def _describe_change(event: Event, names: Mapping[str, str]) -> str:
    reason = json.loads(bytes(event.body))["data"]["reason"]
    return f"since {event.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC, by {names.get(event.by, event.by)}: {reason}"


def _names(called: Iterable[str]) -> Mapping[str, str]:
    """Return the names of staff by their identifier in events."""
    numbers = {each.removeprefix("staff:") for each in called if each.startswith("staff:")}
    members = Staff.objects.filter(pk__in=[int(number) for number in numbers if number.isdecimal()])
    return {str(member): member.name for member in members}
