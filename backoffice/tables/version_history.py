"""Version history of games and tables: rules and versions with dates, approvals, changes and play."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Prefetch

from audit.models import Event
from games.betting.limits import StoredLimits
from games.change_requests import returns, rules
from games.change_requests.differences import Change, changes, rules_written, written
from games.change_requests.returns import LowestReturn
from games.change_requests.rules import Rules
from games.fairness import hourly_totals
from games.fairness.hourly_totals import Played
from games.models import Table, TableVersion
from games.tables import clock as house_clock
from games.tables.checks import Served
from games.variants import VARIANTS
from wallet.models import Currency, Mode

SHOWN: Final = 20  # versions of a table per page


@dataclass(frozen=True)
class OfRules:
    """Rules of a game, and their changes from the previous rules."""

    rules: Rules
    changes: Sequence[Change]


@dataclass(frozen=True)
class OfTable:
    """Version of a table, as the event log records it.

    *asked_by* is "" if the version needed no approval: it was created at installation, or because
    the software had other rules.
    """

    version: TableVersion
    withdrawn_at: datetime | None
    reason: str
    by: str
    asked_by: str
    due: str
    changes: Sequence[Change]


@dataclass(frozen=True)
class Figures:
    """Real-money play under a version of a table in one currency, over its whole lifetime."""

    version: TableVersion
    withdrawn_at: datetime | None
    played: Played

    @property
    def status(self) -> str:
        """Status of the version: withdrawn, in force, or the state of its table."""
        if self.withdrawn_at:
            return "withdrawn"
        table = self.version.table
        return "in force" if table.is_open else f"table {table.get_status_display()}"


def of_rules(variant: str) -> list[OfRules]:
    """Return the rules that a game has had, newest first."""
    kept = rules.kept(variant)
    said = [rules_written(variant, each.kept.body) for each in kept]
    return [
        OfRules(each, changes(said[place + 1], said[place]) if place + 1 < len(kept) else ())
        for place, each in enumerate(kept)
    ]


def of_table(table: Table, *, before: int | None = None) -> tuple[list[OfTable], int | None]:
    """Return versions of a table, newest first, and the cursor of the next page (None: none).

    With *before*, only versions with a lower number are returned.
    """
    found = table.versions.order_by("-number")
    later = None
    if before is not None:
        later = found.filter(number=before).first()
        found = found.filter(number__lt=before)
    versions = list(found[: SHOWN + 1])
    told = _told(table)
    ends = [later, *versions]
    lines = [
        _line(table, version, ends[place], versions[place + 1] if place + 1 < len(versions) else None, told)
        for place, version in enumerate(versions[:SHOWN])
    ]
    return lines, versions[SHOWN - 1].number if len(versions) > SHOWN else None


def between(table: Table, one: TableVersion, other: TableVersion) -> list[Change]:
    """Return the differences between two versions of *table*, rules included."""
    return changes(_said(table, one), _said(table, other))


def tables_of(variant: str) -> list[tuple[Table, Sequence[LowestReturn]]]:
    """Return the tables of a game with the lowest return of each bet under the limits in force."""
    found = Table.objects.filter(variant=variant, version__isnull=False).select_related("version").order_by("name")
    return [(table, lowest(table)) for table in found]


def lowest(table: Table) -> Sequence[LowestReturn]:
    """Return the lowest return of each bet at a table under the version in force.

    Returns none for Chemin de Fer, and none where the software has other rules than the version.
    """
    game, version = VARIANTS.get(table.variant), table.version
    if game is None or version is None or version.rules_digest != game.digest:
        return ()
    limits: StoredLimits = version.limits
    return returns.lowest(table.variant, limits)


def figures(variant: str) -> list[Figures]:
    """Return real-money play under each version of each table of a game, by currency."""
    now = house_clock.now()
    tables = Table.objects.filter(variant=variant).order_by("name")
    versions = TableVersion.objects.order_by("number")
    lives = [
        (version, after.created_at if after else None)
        for table in tables.prefetch_related(Prefetch("versions", versions))
        for version, after in _in_turn(list(table.versions.all()))
    ]
    played = {
        (each.version_id, each.currency): each for each in hourly_totals.played((_beginning(now), now), Mode.REAL)
    }
    return [
        Figures(version, withdrawn_at, played[version.pk, currency])
        for version, withdrawn_at in lives
        for currency in Currency.values
        if (version.pk, currency) in played
    ]


def _beginning(now: datetime) -> datetime:
    return hourly_totals.first_played(None) or now


def _in_turn(versions: list[TableVersion]) -> list[tuple[TableVersion, TableVersion | None]]:
    return list(zip(versions, [*versions[1:], None], strict=True))


def _line(
    table: Table,
    version: TableVersion,
    after: TableVersion | None,
    before: TableVersion | None,
    told: Mapping[int, Mapping[str, Any]],
) -> OfTable:
    event = told.get(version.number, {})
    data = event.get("data", {})
    return OfTable(
        version=version,
        withdrawn_at=after.created_at if after else None,
        reason=data.get("reason", ""),
        by=event.get("by", ""),
        asked_by=data.get("asked_by", ""),
        due=data.get("due", ""),
        changes=between(table, before, version) if before else (),
    )


def _told(table: Table) -> dict[int, Mapping[str, Any]]:
    """Return the events about versions of a table, by version number."""
    bodies = Event.objects.filter(kind="table.version", on=f"table:{table.pk}").values_list("body", flat=True)
    events = [json.loads(bytes(body)) for body in bodies]
    return {event["data"]["after"]["number"]: event for event in events}


def _said(table: Table, version: TableVersion) -> dict[str, str]:
    of_rules = {"Rules": version.rules_version, "SHA-256 of the rules": version.rules_digest[:12]}
    return of_rules | written(table.variant, version.limits, version.clock, Served.under(version))
