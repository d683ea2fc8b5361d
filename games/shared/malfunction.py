"""Malfunctions at live tables: stop the table, record the findings, call the supervisor, carry out a ruling.

The supervisor rules whether the round stands or is void, and when the table reopens. At Chemin de
Fer a round is a coup.

A round does not move while one of its incidents awaits a ruling, except that `games.shared.phases`
voids a round that was not dealt in time. Before the deal one supervisor may cancel a round. After
the deal two people together may void it, and only where an incident says what is wrong
(`audit.approvals`).

Locks the round, then the live table, as all code that moves a round does; at Chemin de Fer in the
opposite order.
"""

from collections.abc import Iterable, Iterator, Mapping
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _

from audit import approvals, log
from audit.log import Json
from audit.models import Approval
from audit.raw_rows import sqlstate
from audit.staff_text import in_sentence, word
from games.chemin import shoes as chemin_shoes
from games.chemin.apply import restart_question
from games.chemin.coups.void import AnotherCoup, void_coup
from games.chemin.pages.floor import phase_text
from games.chemin.state.table_state import locked
from games.engine.chemin.frozen import UNREADABLE
from games.engine.coup import TooFewCards
from games.engine.dealing import coup_at
from games.incidents import case_of, concerned, open_incident, open_live_incident, unruled
from games.models import (
    OPEN_PHASES,
    UNDEALT,
    Incident,
    IncidentKind,
    IncidentRuling,
    LiveRound,
    LiveTable,
    Phase,
    Round,
    Ruling,
    Shape,
    Shoe,
    ShoeEnding,
    Void,
    VoidReason,
)
from games.rounds.database_refusals import round_refusals
from games.rounds.integrity import Doubt, NotDealt
from games.rounds.redeal import Finding
from games.rounds.stored import OF_THE_CARDS, Problem, problems
from games.rounds.void import RoundNotFound, keep_parts, void_round
from games.shared import moves, round_status, rounds, shoes
from games.shared.round_status import lying_open
from games.tables import clock
from players import mail, notify
from players.models import Staff, User
from wallet.ledger import LedgerError
from wallet.ledger.round_reversal import Undone, undo_round
from wallet.money import format_money

HELD = """
SELECT account.owner_id, account.currency, hold.amount
FROM wallet_hold AS hold JOIN wallet_account AS account ON account.id = hold.account_id
WHERE hold.round_id = %s ORDER BY account.id
"""

STORE = "SELECT games_store_void_round(%s::uuid, %s::text, %s::text)"


@transaction.atomic
def void_live_round(*, round_id: UUID, reason: VoidReason, by: str) -> LiveRound:
    """Void a round of a live table. Idempotent: the second call moves no money.

    Before the deal, what is held is released and stakes go back. After it, every posting of the
    round is reversed and its shoe is retired. Locks the round, then accounts by ascending id; at
    Chemin de Fer the table first. Raises RoundNotFound, AnotherCoup, LedgerError.
    """
    rounds.read_by_key()
    coup = LiveRound.objects.filter(pk=round_id, live_table__table__shape=Shape.CHEMIN).first()
    if coup is not None:
        return void_coup(live_round=coup, reason=reason, by=by)
    live = LiveRound.objects.select_for_update().filter(pk=round_id).first()
    if live is None:
        raise RoundNotFound(round_id)
    if live.phase in OPEN_PHASES:
        is_dealt = live.phase == Phase.DEALT
        _void(live, reason, by)
        rounds.end_void(live)
        if is_dealt or not shoes.is_sound(live.shoe):
            shoes.retire(live.shoe)
    elif live.phase == Phase.SETTLED:
        void_round(round_id=round_id, reason=reason, by=by)
        shoes.retire(live.shoe)
    notify.notify_table(live.live_table_id)
    return live


def _void(live: LiveRound, reason: VoidReason, by: str) -> None:
    """Return what was held or staked, and store the round if it had bets. Storing it releases what is held."""
    undone = (*_held(live.pk), *undo_round(live.pk))
    if _store(live, reason, by):
        keep_parts(Void.objects.get(pk=live.pk), undone)


def _held(round_id: UUID) -> tuple[Undone, ...]:
    with connection.cursor() as cursor:
        cursor.execute(HELD, [round_id])
        return tuple(Undone(player, currency, amount, 0) for player, currency, amount in cursor.fetchall())


def _store(live: LiveRound, reason: VoidReason, by: str) -> bool:
    """Store the round with its void, and return whether it had bets."""
    with round_refusals(), connection.cursor() as cursor:
        cursor.execute(STORE, [live.pk, reason.value, by])
        (had_bets,) = cursor.fetchone()
    return bool(had_bets)


KIND = "void_live_round"
PERMISSION = "games.supervise_table"
NOT_AGREED = "SB033"  # SQLSTATE of games_two_agreed_to_void
DONE = {
    Phase.BETTING: gettext_noop("Bets stay on hold; no cards have been dealt."),
    Phase.CLOSED: gettext_noop("Stakes are unchanged; no cards have been dealt."),
    Phase.DEALT: gettext_noop("The round will not be settled before the ruling."),
    Phase.SETTLED: gettext_noop("The round was already settled and paid."),
    Phase.VOID: gettext_noop("The round is void; all stakes are returned."),
}
EMPTY = gettext_noop("The round had ended without a bet; there is nothing to return.")
DONE_AT_CHEMIN = DONE | {
    Phase.BETTING: gettext_noop("Bank and stakes are unchanged; no cards have been dealt."),
    Phase.CLOSED: gettext_noop("Bank and stakes are unchanged; no cards have been dealt."),
    Phase.DEALT: gettext_noop("The coup is on hold until the ruling."),
}


class MalfunctionError(Exception):
    """An action that the state of the round or table does not allow. The message is for staff."""


@transaction.atomic
def stop(*, live_round: LiveRound, kind: IncidentKind, cause: str, found: Iterable[Finding], by: str) -> Incident:
    """Stop the live table, record what is wrong with its round, and call the supervisor.

    Supervisors are called by mail and on every page of the back office. A second call for the same
    finding returns the incident of the first.
    """
    live = _lock(live_round.pk)
    # a concurrent reopening waits for this lock
    LiveTable.objects.select_for_update(no_key=True).get(pk=live.live_table_id)
    known = unruled().filter(live_round=live, kind=kind).first()
    if known:
        return known
    done = [gettext_noop("Table stopped."), gettext_noop("Supervisors notified by e-mail."), _became_of(live)]
    if other := round_status.other_round(live):
        done.append(f"{other}.")
    incident = open_live_incident(kind=kind, live=live, cause=cause, found=found, done=done, by=by)
    moves.stop_table(live.live_table_id, incident.pk)
    _call_the_supervisor(incident)
    notify.notify_table(live.live_table_id)
    return incident


def publish_seed(shoe_id: UUID) -> None:
    """Publish the seed of a shoe that has ended. If its rounds do not follow from it, stop the table, once.

    Where the dealer does not have the seed, the shoe stays without one, and the table is stopped once, unless the
    database was restored from a backup. Raises DealerAway.
    """
    kind, cause = IncidentKind.NOT_REPRODUCED, gettext_noop("The rounds do not match the seed of the shoe.")
    shoe = Shoe.objects.select_related("live_table__table").get(pk=shoe_id)
    try:
        redeal = chemin_shoes.dealt_otherwise if _is_chemin(shoe.live_table) else shoes.dealt_otherwise
        found = shoes.publish(shoe_id, redeal)
    except NotDealt as doubt:
        if shoes.is_from_a_copy(shoe):
            return
        kind, cause, found = doubt.kind, gettext_noop("The dealer does not have the seed of the shoe."), doubt.found
    last = LiveRound.objects.filter(shoe=shoe_id).order_by("-number").first()
    if found and last and not Incident.objects.filter(live_round=last, kind=kind).exists():
        stop(live_round=last, kind=kind, cause=cause, found=found, by=shoes.SYSTEM)


@transaction.atomic
def report(*, round_id: UUID, cause: str, by: str) -> Incident:
    """Open the incident that a person reports about a round, call the supervisors, and stop a shared table.

    A solo table goes on: its round is over, and every round is verified automatically. Raises
    MalfunctionError, also where the round was reported before and the supervisor has not ruled, and
    where a solo round is void.
    """
    played = Round.objects.select_related("table_version").filter(pk=round_id, shoe=None).first()
    if played is not None:
        return _report_solo(played, cause, by)
    live = _lock(round_id)
    known = unruled().filter(live_round=live, kind=IncidentKind.REPORTED).first()
    if known:
        raise MalfunctionError(
            _("Round %(code)s is already reported: incident %(incident)s awaits a ruling.")
            % {"code": live.code, "incident": known.pk}
        )
    return stop(live_round=live, kind=IncidentKind.REPORTED, cause=stated(cause), found=(), by=by)


def _report_solo(played: Round, cause: str, by: str) -> Incident:
    """Open the incident of a finished solo round. Raises MalfunctionError if it is void or has been reported."""
    if Void.objects.filter(pk=played.pk).exists():
        raise MalfunctionError(_("Round %(code)s is already void.") % {"code": played.code})
    incident, is_new = open_incident(
        kind=IncidentKind.REPORTED,
        table_id=played.table_version.table_id,
        round_id=played.pk,
        found=(),
        done=[gettext_noop("Supervisors notified by e-mail.")],
        by=by,
        cause=stated(cause),
    )
    if not is_new:
        raise MalfunctionError(
            _("Round %(code)s is already reported: incident %(incident)s.")
            % {"code": played.code, "incident": incident.pk}
        )
    _call_the_supervisor(incident)
    return incident


@transaction.atomic
def cancel(*, round_id: UUID, reason: str, by: str) -> LiveRound:
    """Void a round before its deal, while no card of it is known, and rule on its incidents.

    Raises MalfunctionError where its cards are drawn.
    """
    live, why = _lock(round_id), stated(reason)
    if live.phase not in UNDEALT:
        raise MalfunctionError(
            _("It is too late to cancel round %(code)s: %(phase)s.") % {"code": live.code, "phase": phase_text(live)}
        )
    log.record("round.cancelled", by=by, on=f"round:{round_id}", data={"phase": live.phase, "reason": why})
    live = void_live_round(round_id=round_id, reason=VoidReason.CANCELLED, by=by)
    _rule_on_all(live, Ruling.VOID, why, by)
    return live


@transaction.atomic
def let_stand(*, incident_id: int, reason: str, by: str) -> IncidentRuling:
    """Rule that a round stands in spite of an incident.

    After the last open incident of the round, a dealt round is settled and a coup is played out; if
    that fails again, that is a new finding. An undealt round continues when the table reopens.
    Raises MalfunctionError.
    """
    incident, live = _open_incident(incident_id)
    if _is_void(live):
        raise MalfunctionError(_("Round %(code)s is void and cannot stand.") % {"code": live.code})
    ruling = _rule(incident, Ruling.CONFIRMED, stated(reason), by)
    _give_players_their_time(live.live_table)
    notify.notify_table(live.live_table_id)
    return ruling


@transaction.atomic
def accept_void(*, incident_id: int, reason: str, by: str) -> IncidentRuling:
    """Rule on an incident of a round that is already void, such as one not dealt in time.

    Raises MalfunctionError where the round is not void: voiding it takes two people.
    """
    incident, live = _open_incident(incident_id)
    if not _is_void(live):
        raise MalfunctionError(_("Round %(code)s is not void.") % {"code": live.code})
    return _rule(incident, Ruling.VOID, stated(reason), by)


@transaction.atomic
def ask_void(*, incident_id: int, reason: str, by: Staff) -> Approval:
    """Ask for a dealt round to be voided because of an incident; another person decides.

    Raises MalfunctionError, approvals.AskedTwice.
    """
    incident, live = _open_incident(incident_id)
    if live.phase in UNDEALT:
        raise MalfunctionError(_("Round %(code)s is not dealt yet. Cancel it instead.") % {"code": live.code})
    if _is_void(live):
        raise MalfunctionError(_("Round %(code)s is already void.") % {"code": live.code})
    request: dict[str, Json] = {"incident": incident.pk, "round": str(live.pk)}
    return approvals.ask(
        kind=KIND, on=f"round:{live.pk}", request=request, by=str(by), person=by.person, reason=stated(reason)
    )


def execute(request: Mapping[str, Json], verdict: approvals.Verdicted) -> None:
    """Void the round of an approved request. Raises approvals.CannotExecute."""
    try:
        _incident, live = _open_incident(int(str(request["incident"])))
    except MalfunctionError as error:
        raise approvals.CannotExecute(str(error)) from error
    if _is_void(live):
        raise approvals.CannotExecute(_("Round %(code)s is already void.") % {"code": live.code})
    asked = Approval.objects.get(pk=verdict.approval_id)
    try:
        with transaction.atomic():
            live = void_live_round(round_id=live.pk, reason=VoidReason.DECIDED, by=verdict.by)
    except AnotherCoup as error:
        raise approvals.CannotExecute(str(error)) from error
    except LedgerError as error:
        raise approvals.CannotExecute(_("The ledger refuses: %(error)s") % {"error": error}) from error
    except DatabaseError as error:
        if sqlstate(error) != NOT_AGREED:
            raise
        raise approvals.CannotExecute(approvals.NOT_THEIRS) from error
    _rule_on_all(live, Ruling.VOID, f"{asked.by}: {asked.reason}", verdict.by)


def describe(request: Mapping[str, Json]) -> approvals.Description:
    """Describe a request: the round, its incident, and whether seed and rules confirm it."""
    incident = Incident.objects.select_related("table").get(pk=int(str(request["incident"])))
    live = LiveRound.objects.select_related("live_table__table", "shoe", "version").get(pk=str(request["round"]))
    cards = _("cards %(cards)s") % {"cards": lying_open(live, clock.now())}
    return approvals.Description(
        title=_("Void round %(code)s of %(table)s") % {"code": live.code, "table": incident.table},
        facts=[
            (_("Money"), in_sentence(live.live_table.get_mode_display())),
            (_("Round"), f"{phase_text(live)}; {cards}"),
            (_("Incident"), f"incident:{incident.pk}. {incident.get_kind_display()}. {word(incident.cause)}"),
            *_money_of(incident.pk, live),
            *evidence_of(live),
        ],
    )


def _money_of(incident_id: int, live: LiveRound) -> Iterator[tuple[str, str]]:
    """Yield what players have staked and were paid, which a void gives back, for each currency."""
    case = case_of(incident_id)
    people = concerned(live.pk, case.parts if case else None)
    if not people:
        yield _("Stakes"), _("none")
    for currency in sorted({each.currency for each in people}):
        mine = [each for each in people if each.currency == currency]
        staked = format_money(sum(each.staked for each in mine), currency, get_language() or "en")
        paid = _("not paid yet")
        if all(each.paid is not None for each in mine):
            paid = format_money(sum(each.paid or 0 for each in mine), currency, get_language() or "en")
        yield (
            _("Stakes in %(currency)s") % {"currency": currency},
            _("%(staked)s; players: %(count)s; payouts: %(paid)s")
            % {"staked": staked, "count": len(mine), "paid": paid},
        )


@transaction.atomic
def reopen(*, live_table_id: int, reason: str, by: str) -> LiveTable:
    """Reopen a stopped table.

    The phase of an undealt round starts again in full, and at Chemin de Fer the time to act. Raises
    MalfunctionError where the table is not stopped, or an incident awaits its ruling.
    """
    live_table = _lock_table(live_table_id)
    why = stated(reason)
    if live_table.stopped_by_id is None:
        raise MalfunctionError(f"{live_table.table} is not stopped.")
    unanswered = unruled().filter(live_round__live_table=live_table).values_list("pk", flat=True)
    if unanswered:
        numbers = ", ".join(str(each) for each in unanswered)
        raise MalfunctionError(f"{live_table.table} stays stopped until a ruling on these incidents: {numbers}.")
    _put_away_known(live_table)
    # A dealt coup is played out at a stopped table: the ruling has given its players their time.
    if not LiveRound.objects.filter(live_table=live_table, phase=Phase.DEALT).exists():
        _give_players_their_time(live_table)
    moves.reopen_table(live_table)
    log.record(
        "table.reopened", by=by, on=f"table:{live_table.table_id}", data={"mode": live_table.mode, "reason": why}
    )
    notify.notify_table(live_table_id)
    return live_table


def _put_away_known(live_table: LiveTable) -> None:
    """Retire a shoe whose coming cards may be known after a restore from a backup.

    Other shoes were retired at the restore; this one had a round that awaited a ruling. Raises
    MalfunctionError while that round is still to be paid.
    """
    shoe = live_table.shoe
    if shoe is None or not shoes.is_known(shoe):
        return
    try:
        (chemin_shoes if _is_chemin(live_table) else shoes).end(shoe, ShoeEnding.RETIRED)
    except shoes.ShoeInUse as error:
        raise MalfunctionError(f"{live_table.table} stays stopped until its round has ended.") from error


def _is_chemin(live_table: LiveTable) -> bool:
    return live_table.table.shape == Shape.CHEMIN


def _lock_table(live_table_id: int) -> LiveTable:
    """Lock a table, and before it the round that waits to be dealt. A coup is not locked here."""
    tables = LiveTable.objects.select_for_update(of=("self",), no_key=True).select_related("table")
    waiting = LiveRound.objects.filter(live_table_id=live_table_id, phase__in=UNDEALT)
    list(waiting.exclude(live_table__table__shape=Shape.CHEMIN).select_for_update(of=("self",)).values_list("pk"))
    return tables.get(pk=live_table_id)


def _give_players_their_time(live_table: LiveTable) -> None:
    """Restart the time to act at Chemin de Fer after a stop.

    Raises MalfunctionError where the stored state cannot be read.
    """
    if not _is_chemin(live_table):
        return
    try:
        restart_question(locked(live_table.pk, blind=True))
    except UNREADABLE as error:
        raise MalfunctionError(
            _("The stored state of %(table)s cannot be read. Break up the table.") % {"table": live_table.table}
        ) from error


def _lock(round_id: UUID) -> LiveRound:
    chemin_state = LiveTable.objects.filter(rounds=round_id, table__shape=Shape.CHEMIN)
    list(chemin_state.select_for_update(of=("self",), no_key=True).values_list("pk"))
    found = LiveRound.objects.select_for_update(of=("self",)).select_related("live_table__table", "shoe", "version")
    live = found.filter(pk=round_id).first()
    if live is None:
        raise MalfunctionError(_("Round not found."))
    return live


def _open_incident(incident_id: int) -> tuple[Incident, LiveRound]:
    """Return an incident that awaits its ruling and its round, locked."""
    incident = Incident.objects.filter(pk=incident_id, live_round__isnull=False).first()
    if incident is None or incident.live_round_id is None:
        raise MalfunctionError(_("Incident not found at a shared table."))
    live = _lock(incident.live_round_id)
    ruling = IncidentRuling.objects.filter(pk=incident_id).first()
    if ruling:
        raise MalfunctionError(
            _("Incident %(incident)s was ruled on by %(by)s: %(ruling)s.")
            % {"incident": incident_id, "by": ruling.by, "ruling": ruling.get_ruling_display()}
        )
    return incident, live


def _became_of(live: LiveRound) -> str:
    """Return what stopping the table means for a round."""
    if live.phase == Phase.VOID and not Void.objects.filter(pk=live.pk).exists():
        return EMPTY
    return (DONE_AT_CHEMIN if _is_chemin(live.live_table) else DONE)[Phase(live.phase)]


def _is_void(live: LiveRound) -> bool:
    return live.phase == Phase.VOID or Void.objects.filter(pk=live.pk).exists()


def _rule_on_all(live: LiveRound, ruling: Ruling, reason: str, by: str) -> None:
    for incident in unruled().filter(live_round=live):
        _rule(incident, ruling, reason, by)


def _rule(incident: Incident, ruling: Ruling, reason: str, by: str) -> IncidentRuling:
    data: dict[str, Json] = {"incident": incident.pk, "reason": reason, "ruling": str(ruling)}
    log.record("incident.ruled", by=by, on=f"table:{incident.table_id}", data=data)
    longest = IncidentRuling._meta.get_field("reason").max_length
    return IncidentRuling.objects.create(incident=incident, ruling=ruling, by=by, reason=reason[:longest])


def stated(text: str) -> str:
    """Return a reason, stripped. Raises MalfunctionError where it is empty."""
    if not text.strip():
        raise MalfunctionError(_("Enter a reason. It is recorded in the audit log."))
    return text.strip()


def _call_the_supervisor(incident: Incident) -> None:
    """Send mail to all staff whose role rules on incidents."""
    app, codename = PERMISSION.split(".")
    called = User.objects.filter(
        is_active=True,
        staff__isnull=False,
        groups__permissions__codename=codename,
        groups__permissions__content_type__app_label=app,
    ).distinct()
    for user in called:
        context = {"incident": incident}
        mail.write_to_staff(
            user=user, template="table_stopped", context=context, page="staff_incident", of=[incident.pk]
        )


def evidence_of(live: LiveRound) -> list[tuple[str, str]]:
    """Return the evidence for a request to void a round: whether the seed of the shoe reproduces the
    cards, and whether the settlement recomputes.

    Both people who decide read it. It reveals no face-down card.
    """
    if live.phase == Phase.DEALT:
        is_chemin = live.live_table.table.shape == Shape.CHEMIN
        found = shoe_found(live.shoe) if is_chemin else cards_found(live)
        return [(_("Seed reproduces it"), _answer(found)), (_("Settlement confirmed"), _("not settled yet"))]
    problem = next((problem for _, problem in problems([live.pk])), None)
    of_cards, of_money = _split(problem)
    return [(_("Seed reproduces it"), _answer(of_cards)), (_("Settlement confirmed"), _answer(of_money))]


def cards_found(live: LiveRound) -> tuple[Finding, ...]:
    """Deal a round again whose cards are drawn, and return the differences."""
    first = live.first_card or 0
    try:
        coup = coup_at(shoes.cards_of(live.shoe), first)
    except Doubt as doubt:
        return doubt.found
    except TooFewCards:  # cards that nobody may know yet
        return (Finding("first card", str(first), f"among the {live.shoe.gone} that have left the shoe"),)
    cards = Finding("cards", live.cards, " ".join(card.code for card in coup.cards))
    return () if cards.stored == cards.recomputed else (cards,)


def shoe_found(shoe: Shoe) -> tuple[Finding, ...]:
    """Return what is wrong with a shoe of Chemin de Fer.

    The cards of a coup in progress are not stored, so they cannot be compared.
    """
    try:
        chemin_shoes.cards_of(shoe)
    except Doubt as doubt:
        return doubt.found
    return ()


def _split(problem: Problem | None) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    found = problem.found if problem else ()
    of_cards = tuple(each for each in found if each.what in OF_THE_CARDS)
    return of_cards, tuple(each for each in found if each not in of_cards)


def _answer(found: tuple[Finding, ...]) -> str:
    if not found:
        return _("yes")
    lines = (
        _("%(what)s stored %(stored)s, recomputed %(recomputed)s")
        % {"what": each.what, "stored": each.stored, "recomputed": each.recomputed}
        for each in found
    )
    return _("no: %(differences)s") % {"differences": "; ".join(lines)}
