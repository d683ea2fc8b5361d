"""Actions of players at a Chemin de Fer table: join, decide, step away, come back, leave.

One click is one transaction. Each question has a number, and an answer names it, so that it cannot
answer another question. After the table is locked, PostgreSQL's clock decides whether the answer is
in time.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, get_args
from uuid import UUID

from structlog.contextvars import bind_contextvars

from audit import log
from audit.log import Json
from games.betting import idempotency
from games.betting.eligibility import demand_served
from games.chemin import maintenance
from games.chemin.apply import carry_out, name_of
from games.chemin.availability import demand_to_leave, is_too_late, is_waited_for, may_begin, may_go_on, why_not
from games.chemin.money import Unpaid
from games.chemin.stop import one_transaction, send_away
from games.chemin.table_state import Standing, locked
from games.engine.chemin import Call, Refusal, Refused
from games.engine.chemin.actions import (
    ComeBack,
    Join,
    KeepBank,
    LayStake,
    Leave,
    MakeBid,
    MakeCall,
    StepAway,
    TableAction,
    TakeBank,
)
from games.engine.chemin.state import there
from games.errors import (
    Barred,
    GuestRefused,
    HouseStopped,
    NotEnoughBalance,
    OverLimit,
    PlayError,
    QuestionPassed,
    StalePage,
    TableWaits,
    UnknownCurrency,
)
from games.models import CheminSeat, Decider, LiveTable
from games.raw_rows import Value, fetch_one
from games.solo import seats
from players.models import Player
from players.protection import eligibility, registers
from wallet.ledger import LimitReached, accounts
from wallet.models import Account, Mode

ACTIONS: Final[Mapping[str, type[TableAction]]] = {name_of(action): action for action in get_args(TableAction)}
"""Decisions of a player, by name, such as "make_call"."""

STAKES: Final = (TakeBank, KeepBank, MakeBid, MakeCall, LayStake)
"""Decisions that put money at risk.

During a house stop, and for a player who may no longer play here, they are refused; the coup
goes on with the money on the table.
"""

LONGEST_NAME: Final = 20
ALREADY: Final = frozenset({Refusal.ALREADY_AWAY, Refusal.NOT_AWAY})
"""Refusals that mean the state is already so; the page shows no error for them."""

TELLING: Final = frozenset({Refusal.RULE_BINDS, Refusal.ADVICE_BINDS})

# Eligibility is checked before the table is locked. An exclusion waits until the transaction ends.
WELCOME = f"""
WITH last AS MATERIALIZED (SELECT * FROM games_opentable WHERE player_id = %(player)s FOR SHARE)
SELECT {eligibility.BARRED}, {seats.SITS} FROM games_livetable AS place WHERE place.id = %(live_table)s
"""  # noqa: S608  (nothing but names of our own columns and codes)


@dataclass(frozen=True)
class Answer:
    """A player's answer to a question: its number, the action by name. Amounts in minor units.

    *mark* is the idempotency key: see `games.betting.idempotency`.
    """

    player: Player
    live_table: LiveTable
    question: int
    action_name: str
    amount: int | None
    call: Call | None
    session: UUID | None
    mark: UUID | None


def decide(
    *,
    player: Player,
    live_table_id: int,
    question: int,
    action_name: str,
    amount: int | None = None,
    call: Call | None = None,
    session: UUID | None = None,
    mark: UUID | None = None,
) -> None:
    """Carry out a player's decision, if it answers the pending question.

    Raises Barred, TableWaits, NotServed, OtherMoney, TablePaused, TableClosed, TableStopped,
    HouseStopped, QuestionPassed, GuestRefused, NotEnoughBalance, OverLimit, StalePage. A refusal
    changes nothing, except that a barred player leaves the table, unless only a reality check is
    due. Refusals are recorded, except those that would reveal a hand.
    """
    registers.ask_where_due(player)
    answer = Answer(player, _live_table(live_table_id), question, action_name, amount, call, session, mark)
    try:
        _at(live_table_id, partial(_decide, answer), welcome=partial(_demand_welcome, answer))
    except PlayError as refusal:
        is_barred = isinstance(refusal, Barred) and refusal.bar.code is not eligibility.Code.CHECK
        if not is_barred and _done_before(answer):
            return
        _record(answer, refusal)
        if is_barred:
            _at(live_table_id, partial(_send_off, player))
        raise


def join(*, player: Player, live_table_id: int, place: int | None = None, session: UUID | None = None) -> CheminSeat:
    """Take the seat *place*, or a random free seat, and return it. A seated player keeps their seat.

    Raises Barred, NotServed, OtherMoney, UnknownCurrency, TablePaused, TableClosed, TableStopped,
    GuestRefused.
    """
    registers.ask_where_stale(player)
    live_table = _live_table(live_table_id)
    account_id = accounts.player_account(player.pk, Mode(live_table.mode))

    def sit_down(standing: Standing) -> Standing:
        if standing.seat_of(player.pk):
            return standing
        if player.currency != standing.rules.currency:
            raise UnknownCurrency(player.currency)
        _demand_served(standing, player)
        if not may_begin(standing):
            raise why_not(standing)
        newcomer = _newcomer(standing, place)
        newcomer.player, newcomer.account_id, newcomer.session = player, account_id, session
        free = Account.objects.get(pk=account_id)
        action = Join(newcomer.number, (free.balance or 0) - free.held)
        return carry_out(standing, action, decider=Decider.GUEST, newcomer=newcomer)

    welcome = partial(_begin_here, player, live_table, session)
    return there(_at(live_table_id, sit_down, welcome=welcome, newcomer=account_id).seat_of(player.pk))


def leave(*, player: Player, live_table_id: int) -> None:
    """Leave the table, at once or after the coup in which the player takes part.

    Does nothing for a player who does not sit there or is already leaving. Raises TableStopped,
    TablePaused where the table waits and would move on without the player's answer.
    """

    def get_up(standing: Standing) -> Standing:
        seat = standing.seat_of(player.pk)
        if seat is None or seat.why_left:
            return standing
        demand_to_leave(standing, seat)
        return carry_out(standing, Leave(seat.number), decider=Decider.GUEST)

    _at(live_table_id, get_up)


def step_away(*, player: Player, live_table_id: int) -> None:
    """Keep the seat without being asked. Raises GuestRefused, and what `leave` raises."""

    def away(standing: Standing) -> Standing:
        seat = _own(standing, player)
        demand_to_leave(standing, seat)
        return carry_out(standing, StepAway(seat.number), decider=Decider.GUEST)

    _at(live_table_id, away)


def come_back(*, player: Player, live_table_id: int, session: UUID | None = None) -> None:
    """Take part again after stepping away or after asking to leave.

    Where the jurisdiction allows play at one table at a time, this becomes that table. Raises
    Barred, NotServed, OtherMoney, GuestRefused.
    """
    registers.ask_where_stale(player)
    welcome = partial(_begin_here, player, _live_table(live_table_id), session)

    def back(standing: Standing) -> Standing:
        seat = _own(standing, player)
        _demand_served(standing, player)
        _note_session(seat, session)
        return carry_out(standing, ComeBack(seat.number), decider=Decider.GUEST)

    _at(live_table_id, back, welcome=welcome)


def _demand_served(standing: Standing, player: Player) -> None:
    """Raise NotServed or OtherMoney by the version in force, whichever version the coup is played under."""
    demand_served(standing.live_table.table.version, player, standing.mode)


def _begin_here(player: Player, live_table: LiveTable, session: UUID | None) -> None:
    """Make this the table at which the player plays. Raises Barred where the player may not play."""
    mode = Mode(live_table.mode)
    bar = eligibility.bar_to_play(player, real=mode is Mode.REAL, session=session)
    if bar:
        raise Barred(bar)
    seats.sit(player, live_table.table_id, mode)


def _at(
    live_table_id: int,
    do: Callable[[Standing], Standing],
    *,
    welcome: Callable[[], None] = lambda: None,
    newcomer: int | None = None,
) -> Standing:
    """Carry out *do* and the upkeep of the table in one transaction.

    If the winning bidder of a sale cannot pay, that player is removed and the action is tried
    again.
    """
    while True:
        try:
            with one_transaction(live_table_id):
                welcome()
                standing = _named(locked(live_table_id, newcomer=newcomer))
                return _named(maintenance.see_to(_refusing(do, standing)))
        except Unpaid as unpaid:
            _at(live_table_id, partial(send_away, place=unpaid.place))


def _named(standing: Standing) -> Standing:
    """Add the id of the coup to the following log lines."""
    if standing.live_round:
        bind_contextvars(round_id=str(standing.live_round.pk))
    return standing


def _refusing(do: Callable[[Standing], Standing], standing: Standing) -> Standing:
    """Convert the engine's refusals to GuestRefused."""
    try:
        return do(standing)
    except Refused as refused:
        raise GuestRefused(refused.reason) from refused


def _decide(answer: Answer, standing: Standing) -> Standing:
    """Carry out an answer to the pending question. Raises what `decide` raises."""
    chemin, seat = standing.chemin, _own(standing, answer.player)
    if idempotency.is_done(seat, answer.mark):
        return standing
    if not may_go_on(standing):
        raise why_not(standing)
    if answer.question != chemin.question or is_too_late(standing):
        raise QuestionPassed
    action = _action(answer, seat.number)
    if isinstance(action, STAKES):
        if standing.is_house_stopped:
            raise HouseStopped
        _demand_served(standing, answer.player)
    _note_session(seat, answer.session, answer.mark)
    try:
        return carry_out(standing, action, decider=Decider.GUEST)
    except Unpaid as unpaid:
        if unpaid.place != seat.number:
            raise
        if isinstance(unpaid.cause, LimitReached):
            raise OverLimit(unpaid.cause) from unpaid
        raise NotEnoughBalance from unpaid


def _done_before(answer: Answer) -> bool:
    """Return whether this click was already carried out and was sent again.

    The player may have left since, or the table may take no answer now.
    """
    if answer.mark is None:
        return False
    theirs = CheminSeat.objects.filter(player=answer.player, live_table=answer.live_table)
    latest = theirs.order_by("-id").first()
    return latest is not None and idempotency.is_done(latest, answer.mark)


def _record(answer: Answer, refusal: PlayError) -> None:
    """Record a refusal, but not that a rule binds: that would reveal the total of a face-down hand."""
    if isinstance(refusal, GuestRefused) and refusal.reason in TELLING:
        return
    data: dict[str, Json] = {
        "action": answer.action_name[:LONGEST_NAME],
        "question": answer.question,
        "reason": type(refusal).__name__,
    }
    if isinstance(refusal, Barred):
        data["bar"] = refusal.bar.code.value
    log.record("play.refused", by=str(answer.player), on=f"live_table:{answer.live_table.pk}", data=data)


def _demand_welcome(answer: Answer) -> None:
    """Raise Barred, or TableWaits where the jurisdiction allows one table at a time and it is another."""
    player, live_table = answer.player, answer.live_table
    values: dict[str, Value] = {"live_table": live_table.pk}
    values.update(eligibility.barred(player, answer.session, real=live_table.mode == Mode.REAL))
    bar, sits = there(fetch_one(WELCOME, values))
    if bar:
        raise Barred(eligibility.bar(player, eligibility.Code(bar)))
    if not sits:
        raise TableWaits(live_table.table.slug)


def _action(answer: Answer, place: int) -> TableAction:
    """Return the answer as an action of the engine. Raises StalePage, GuestRefused."""
    kind = ACTIONS.get(answer.action_name)
    if kind is None:
        raise StalePage
    if issubclass(kind, MakeCall):
        if answer.call is None:
            raise StalePage
        return MakeCall(place, answer.call, None if answer.call.covers_the_bank else answer.amount)
    if issubclass(kind, TakeBank | MakeBid | LayStake):
        if answer.amount is None:
            raise GuestRefused(Refusal.BAD_AMOUNT)
        return kind(place, answer.amount)
    return kind(place)


def _newcomer(standing: Standing, place: int | None) -> CheminSeat:
    """Return a new row for a given or random seat. Raises GuestRefused where none is free."""
    free = standing.free_places()
    if place is None and not free:
        raise GuestRefused(Refusal.PLACE_TAKEN)
    number = secrets.choice(free) if place is None else place
    return CheminSeat(live_table=standing.live_table, number=number, is_random=place is None)


def _own(standing: Standing, player: Player) -> CheminSeat:
    seat = standing.seat_of(player.pk)
    if seat is None:
        raise GuestRefused(Refusal.NOT_SEATED)
    return seat


def _send_off(player: Player, standing: Standing) -> Standing:
    """Remove a player who may not play. If a stopped table waits for them, they leave once it reopens."""
    seat = standing.seat_of(player.pk)
    if seat is None or is_waited_for(standing, seat):
        return standing
    return send_away(standing, place=seat.number)


def _note_session(seat: CheminSeat, session: UUID | None, mark: UUID | None = None) -> None:
    """Store the session in which the player acts, and the idempotency key of the click."""
    if mark is not None or session not in (None, seat.session):
        seat.session = session or seat.session
        idempotency.note(seat, mark)
        seat.save(update_fields=["session", "marks"])


def _live_table(live_table_id: int) -> LiveTable:
    found = LiveTable.objects.select_related("table").filter(pk=live_table_id).first()
    if found is None:
        raise StalePage
    return found
