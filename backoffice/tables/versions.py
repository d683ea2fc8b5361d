"""Pages of games: rules, returns, table versions, and versions scheduled to go live."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language, gettext, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from audit import approvals
from audit.models import Approval, Event
from audit.reports.kinds import Column, Form
from audit.staff_text import language_label
from backoffice.lists.staff_list import NO_PLAYERS, StaffList
from games.betting.limits import StoredLimits
from games.change_requests import differences, execution, rules
from games.change_requests.differences import Change, LowestReturn, changes, rules_written, written
from games.change_requests.requests import ASK, DECIDE
from games.change_requests.requests import TABLE as MAKE
from games.change_requests.requests import VERSION as CHANGE
from games.change_requests.rules import Rules
from games.fairness import hourly_totals
from games.fairness.hourly_totals import Played
from games.labels import variant_label
from games.models import ScheduledVersion, ScheduleEnding, Table, TableVersion
from games.tables import clock as house_clock
from games.tables.checks import TableEligibility, TableError
from games.variants import GAMES, LANGUAGES, VARIANTS
from players.access import StaffRequest, staff_required
from players.login.current_user import actor
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
            return gettext("withdrawn")
        table = self.version.table
        return (
            gettext("in force")
            if table.is_open
            else (gettext("table %(status)s") % {"status": table.get_status_display()})
        )


def of_rules(variant: str) -> list[OfRules]:
    """Return the rules that a game has had, newest first."""
    versions = rules.versions(variant)
    said = [rules_written(variant, each.stored.body) for each in versions]
    return [
        OfRules(each, changes(said[number + 1], said[number]) if number + 1 < len(versions) else ())
        for number, each in enumerate(versions)
    ]


class Versions(StaffList):
    """Versions of one table."""

    model = TableVersion
    name = gettext_noop("Versions")
    players = NO_PLAYERS
    key = ("number",)
    size = SHOWN
    columns = (
        Column("version__number", "Version", Form.NUMBER),
        Column("version__rules_version", "Rules"),
        Column("version__created_at", "In force from", Form.TIME),
        Column("withdrawn_at", "Until", Form.TIME),
        Column("asked_by", "Requested by"),
        Column("by", "By"),
        Column("reason", "Reason"),
        Column("changed", "Changes"),
    )

    def found(self) -> QuerySet[TableVersion]:
        """Return all versions of the table."""
        versions: QuerySet[TableVersion] = self.of.versions.all()
        return versions

    def items(self, rows: Sequence[TableVersion]) -> Sequence[OfTable]:
        """Return the versions with their events and their changes."""
        table, events = self.of, _events_by_number(self.of)
        numbers = {version.number + step for version in rows for step in (-1, 1)}
        neighbours = {version.number: version for version in table.versions.filter(number__in=numbers)}
        return [
            _line(table, version, neighbours.get(version.number + 1), neighbours.get(version.number - 1), events)
            for version in rows
        ]

    def of_changed(self, line: OfTable) -> str:
        """Return the changes in this version."""
        return "; ".join(f"{each.what}: {each.before} → {each.after}" for each in line.changes)


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
    return differences.lowest(table.variant, limits)


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
    events: Mapping[int, Mapping[str, Any]],
) -> OfTable:
    event = events.get(version.number, {})
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


def _events_by_number(table: Table) -> dict[int, Mapping[str, Any]]:
    """Return the events about versions of a table, by version number."""
    bodies = Event.objects.filter(kind="table.version", on=f"table:{table.pk}").values_list("body", flat=True)
    events = [json.loads(bytes(body)) for body in bodies]
    return {event["data"]["after"]["number"]: event for event in events}


def _said(table: Table, version: TableVersion) -> dict[str, str]:
    of_rules = {"Rules": version.rules_version, "SHA-256 of the rules": version.rules_digest[:12]}
    return of_rules | written(table.variant, version.limits, version.clock, TableEligibility.under(version))


READERS: Final = (ASK, DECIDE)
ENDED: Final = 20  # ended schedules on the page


class PageForm(forms.Form):
    """Two versions to compare."""

    one = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    other = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)


class WithdrawForm(forms.Form):
    """Reason for withdrawing a scheduled version."""

    reason = forms.CharField(max_length=300)


@staff_required(*READERS)
@require_safe
def staff_games(request: StaffRequest) -> HttpResponse:
    """List every game with its rules, returns and tables, open requests, and scheduled versions."""
    ended = ScheduleEnding.objects.select_related("schedule__approval").order_by("-at")
    context = {
        "games": [
            (slug, variant_label(game, "name", get_language() or "en"), game, differences.bets(slug), _tables(slug))
            for slug, game in GAMES.items()
        ],
        "asked": [(each, _title(each)) for each in approvals.waiting().filter(kind__in=(CHANGE, MAKE)).order_by("pk")],
        "waiting": [(each, _title(each.approval)) for each in execution.waiting()],
        "ended": [(each, _title(each.schedule.approval)) for each in ended[:ENDED]],
        "may_withdraw": request.user.has_perm(ASK),
    }
    return render(request, "staff/games.html", context)


@staff_required(*READERS)
@require_safe
def staff_game(request: StaffRequest, variant: str) -> HttpResponse:
    """Show one game: paytable with exact returns, languages, past rules and tables."""
    if variant not in GAMES:
        raise Http404
    missing = rules.missing(variant)
    context = {
        "slug": variant,
        "game": GAMES[variant],
        "name": variant_label(GAMES[variant], "name", get_language() or "en"),
        "bets": [(bet, differences.fraction(bet.rtp)) for bet in differences.bets(variant)],
        "tables": tables_of(variant),
        "languages": [(language_label(code), missing.get(code, [])) for code in LANGUAGES],
        "rules": of_rules(variant),
        "figures": figures(variant),
    }
    return render(request, "staff/game.html", context)


@staff_required(*READERS)
@require_safe
def staff_game_table(request: StaffRequest, table_id: int) -> HttpResponse:
    """Show one table: current version, all versions with approvals, and a comparison."""
    table = get_object_or_404(Table.objects.select_related("version"), pk=table_id, version__isnull=False)
    form = PageForm(request.GET)
    asked = form.cleaned_data if form.is_valid() else {}
    version = table.version
    context = {
        "table": table,
        "name": variant_label(GAMES[table.variant], "name", get_language() or "en"),
        "in_force": differences.written(table.variant, version.limits, version.clock, TableEligibility.under(version))
        if version
        else {},
        "lowest": lowest(table),
        "compared": _compared(table, asked.get("one"), asked.get("other")),
        "asked": approvals.waiting().filter(kind=CHANGE, on=f"table:{table.pk}").first(),
        "waiting": execution.of_table(table).first(),
    }
    return Versions(request, table).answer("staff/game_table.html", context)


@staff_required(ASK)
@require_POST
def staff_schedule_withdraw(request: StaffRequest, approval_id: int) -> HttpResponse:
    """Withdraw a scheduled version, with a reason."""
    form = WithdrawForm(request.POST)
    get_object_or_404(ScheduledVersion, pk=approval_id)
    if not form.is_valid():
        messages.error(request, gettext("Enter a reason. It is recorded in the audit log."))
        return redirect("staff_games")
    try:
        execution.withdraw(approval_id=approval_id, by=actor(request), reason=form.cleaned_data["reason"])
    except TableError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, gettext("Scheduled change withdrawn. It will not go live."))
    return redirect("staff_games")


def _tables(variant: str) -> list[Table]:
    return list(Table.objects.filter(variant=variant, version__isnull=False).select_related("version").order_by("name"))


def _compared(
    table: Table, one: int | None, other: int | None
) -> tuple[TableVersion, TableVersion, list[differences.Change]] | None:
    """Compare the two versions with these numbers. Returns None if either does not exist."""
    found = {each.number: each for each in table.versions.filter(number__in=(one, other))} if one and other else {}
    if one not in found or other not in found:
        return None
    return found[one], found[other], between(table, found[one], found[other])


def _title(asked: Approval) -> str:
    """Return the title of a request. A request that was tampered with has only its number."""
    try:
        return approvals.kind(asked.kind).describe(approvals.thaw(asked)).title
    except approvals.Tampered:
        return gettext("Request %(asked)s") % {"asked": asked.pk}
