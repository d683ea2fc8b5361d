"""Create tables and put new versions of them live. `games.tables.status` opens, pauses and closes them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext

from audit import log
from audit.log import Json
from games.change_requests import rules
from games.models import LiveTable, Shape, Table, TableVersion
from games.tables.checks import (
    NothingChanged,
    Overtaken,
    TableClock,
    TableEligibility,
    TableError,
    TableLimits,
    UnusableLimits,
    check,
    check_seats_stay,
    everybody,
)
from games.tables.chemin_rules import CheminClock
from games.tables.clock import Clock
from games.variants import GAMES
from players import notify
from players.login import credentials


@dataclass(frozen=True)
class Approved:
    """The approval of a change: who asked for it and why, and who decided."""

    approval_id: int
    asked_by: str
    decided_by: str
    reason: str
    digest: str  # of the rules at the time of the request
    based_on: int | None  # version in force at the time of the request; None for a new table
    due_at: datetime | None  # scheduled time, if any

    def event_data(self) -> dict[str, Json]:
        """Return the approval's data for the event log."""
        event_data: dict[str, Json] = {"approval": self.approval_id, "asked_by": self.asked_by}
        return event_data | ({"due": self.due_at.isoformat()} if self.due_at else {})


@transaction.atomic
def make_table(
    *,
    slug: str,
    name: str,
    variant: str,
    limits: TableLimits,
    by: str,
    shape: Shape = Shape.SOLO,
    clock: TableClock | None = None,
    eligibility: TableEligibility | None = None,
    approval: Approved | None = None,
) -> Table:
    """Create a closed table with its first version.

    The shipped tables need no approval; tables requested by staff have an *approval*
    (`games.change_requests`). A shared table has a clock and, in its limits, the liability of a
    round; it is one live table for each mode. A Chemin de Fer table has one currency and its own
    kind of clock; with house players it is for free money only. Without *eligibility* the table serves
    everybody, in every mode that it supports.

    Raises ReturnTooLow, MissingLanguage, UnusableLimits, UnusableClock, NobodyEligible, WrongShape,
    TableError where a table has this name or address, KeyError for an unknown variant.
    """
    eligibility = eligibility or everybody(shape, limits)
    table = Table(slug=slug, name=name, variant=variant, shape=shape)
    if approval:
        check_is_as_asked(table, digest=approval.digest, based_on=None)
    check(table, limits, clock, eligibility)
    try:
        with transaction.atomic():
            table = Table.objects.raw("SELECT * FROM games_add_table(%s, %s, %s, %s)", [slug, name, variant, shape])[0]
    except IntegrityError as error:
        raise TableError(gettext("Another table was just given this name or this URL name.")) from error
    reason = approval.reason if approval else "Table created."
    _put_live(table, limits=limits, clock=clock, eligibility=eligibility, reason=reason, by=by, approval=approval)
    return table


@transaction.atomic
def new_version(
    *,
    table_id: int,
    limits: TableLimits,
    reason: str,
    by: str,
    clock: TableClock | None = None,
    eligibility: TableEligibility | None = None,
    approval: Approved | None = None,
) -> TableVersion:
    """Put a new version in force at a table: limits, clock, players and modes served, or the
    release's rules (GLI-19 v3.0, A.5.1, A.6.1).

    None keeps *clock* or *eligibility*. Once the table was opened, the database requires an *approval*
    for every change except the release's rules.

    At a solo table the change waits for rounds in progress, which end under the version they were
    staked under. Bets on the table stay, and pages drawn before are refused. At a shared table the
    round in progress, with its bets, keeps the version it opened with. A Chemin de Fer table keeps
    its currency, its seats and its house players, because players sit there.

    Raises what `check_change` raises, Overtaken, Table.DoesNotExist.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT games_hold_off_rounds()")
    table = Table.objects.select_for_update(of=("self",)).select_related("version").get(pk=table_id)
    if approval:
        check_is_as_asked(table, digest=approval.digest, based_on=approval.based_on)
    clock, eligibility = check_change(table, limits, clock, eligibility)
    return _put_live(
        table, limits=limits, clock=clock, eligibility=eligibility, reason=reason, by=by, approval=approval
    )


def check_is_as_asked(table: Table, *, digest: str, based_on: int | None) -> None:
    """Refuse a request if the table's version or the rules have changed since it was made. Raises Overtaken."""
    if (table.version and table.version.number) != based_on:
        raise Overtaken(gettext("The table has a newer version since this request. Submit a new request."))
    if digest != GAMES[table.variant].digest:
        raise Overtaken(gettext("The rules have changed since this request. Submit a new request."))


def check_change(
    table: Table, limits: TableLimits, clock: TableClock | None, eligibility: TableEligibility | None
) -> tuple[TableClock | None, TableEligibility]:
    """Refuse a version that cannot follow the one in force; return its clock and eligible players.

    Raises NothingChanged, UnusableLimits, UnusableClock, NobodyEligible, ReturnTooLow,
    MissingLanguage.
    """
    before = table.version
    eligibility = eligibility or (TableEligibility.under(before) if before else everybody(Shape(table.shape), limits))
    if clock is None and before and before.clock:
        clock = (CheminClock if table.shape == Shape.CHEMIN else Clock).of(before.clock)
    in_force = before and (before.limits, before.clock, before.rules_digest, TableEligibility.under(before))
    if in_force == (limits, clock and clock.stored(), GAMES[table.variant].digest, eligibility):
        raise NothingChanged
    if before and (gone := before.limits.keys() - limits.keys()):
        raise UnusableLimits(
            gettext("Players with %(join)s would lose access to the table. Close the table instead.")
            % {"join": ", ".join(sorted(gone))}
        )
    if before and table.shape == Shape.CHEMIN:
        check_seats_stay(before.limits, limits)
    check(table, limits, clock, eligibility)
    return clock, eligibility


def follow_rules(*, by: str) -> None:
    """Put the release's rules in force at every table that has older ones.

    No round is dealt there before. The database needs no approval, because limits and clock stay
    the same.
    """
    rules.keep()
    for table in Table.objects.filter(version__isnull=False).select_related("version").order_by("pk"):
        if table.version and table.version.rules_digest != GAMES[table.variant].digest:
            new_version(table_id=table.pk, limits=table.version.limits, reason="The rules have changed.", by=by)


@transaction.atomic
def set_chat_language(*, table_id: int, language: str, by: str) -> Table:
    """Set the language of a table's chat; empty means any. Idempotent.

    Raises TableError for a language that is not configured, Table.DoesNotExist.
    """
    if language and language not in dict(settings.LANGUAGES):
        raise TableError(gettext("Unknown language."))
    table = Table.objects.select_for_update().get(pk=table_id)
    if table.chat_language != language:
        before, table.chat_language = table.chat_language, language
        table.save(update_fields=["chat_language"])
        data: dict[str, Json] = {"before": before, "after": language}
        log.record("table.chat_language", by=by, on=f"table:{table.pk}", data=data)
    return table


def _lay_out(table: Table, modes: Iterable[str]) -> None:
    """Create the missing empty live tables of a table for several players, one for each mode."""
    there = set(table.live.values_list("mode", flat=True))
    wanted = [mode for mode in modes if mode not in there]
    live_tables = [_added(table, mode) for mode in wanted]
    if table.shape == Shape.CHEMIN:
        with connection.cursor() as cursor:
            for added in live_tables:
                cursor.execute("SELECT games_add_chemin_table(%s)", [added.pk])


def _added(table: Table, mode: str) -> LiveTable:
    """Add an empty live table. The database alone writes it."""
    added: LiveTable = LiveTable.objects.raw("SELECT * FROM games_add_live_table(%s, %s)", [table.pk, mode])[0]
    return added


def _put_live(
    table: Table,
    *,
    limits: TableLimits,
    clock: TableClock | None,
    eligibility: TableEligibility,
    reason: str,
    by: str,
    approval: Approved | None,
) -> TableVersion:
    game, before = GAMES[table.variant], table.version
    content = {
        "rules_version": game.version,
        "rules_digest": game.digest,
        "limits": limits,
        "clock": clock and clock.stored(),
        "jurisdictions": list(eligibility.jurisdictions),
        "modes": list(eligibility.modes),
        "approval": approval.approval_id if approval else None,
    }
    table.version = _add(table, before.number + 1 if before else 1, json.dumps(content))
    if table.shape != Shape.SOLO:
        _lay_out(table, eligibility.modes)
        for live_table_id in table.live.values_list("pk", flat=True):
            notify.notify_table(live_table_id)
    log.record(
        "table.version",
        by=by,
        on=f"table:{table.pk}",
        data={
            "after": _described(table.version),
            "before": _described(before) if before else None,
            "reason": reason,
            **(approval.event_data() if approval else {}),
        },
    )
    return table.version


def _add(table: Table, number: int, content: str) -> TableVersion:
    """Add a version with a proof of its content. The database alone writes it."""
    proof = credentials.content_proof(f"table version:{table.pk}:{number}", content)
    added: TableVersion = TableVersion.objects.raw(
        "SELECT * FROM games_add_table_version(%s, %s, %s)", [table.pk, content, proof]
    )[0]
    return added


def _described(version: TableVersion) -> dict[str, Json]:
    described: dict[str, Json] = {
        "jurisdictions": cast("Json", version.jurisdictions),
        "limits": cast("Json", version.limits),
        "modes": cast("Json", version.modes),
        "number": version.number,
        "rules_digest": version.rules_digest,
        "rules_version": version.rules_version,
    }
    return {**described, "clock": cast("Json", version.clock)} if version.clock else described
