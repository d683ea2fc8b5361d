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
from audit.raw_rows import Value, fetch_one
from games.betting import idempotency
from games.betting.eligibility import demand_eligible_here
from games.chemin import maintenance
from games.chemin.apply import carry_out, name_of
from games.chemin.maintenance import demand_to_leave, is_too_late, is_waited_for, may_begin, may_go_on, why_not
from games.chemin.money import Unpaid
from games.chemin.moves import MayNotPlay, NotInTime
from games.chemin.state.table_state import TableState, locked
from games.chemin.stop import one_transaction, send_away
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
    CheminRefused,
    HouseStopped,
    NotEligible,
    NotEnoughBalance,
    OverLimit,
    PlayError,
    QuestionPassed,
    StalePage,
    TableWaits,
    UnknownCurrency,
)
from games.models import CheminSeat, Decider, LiveTable
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

INFORMATIVE: Final = frozenset({Refusal.RULE_BINDS, Refusal.ADVICE_BINDS})

# Eligibility is checked before the table is locked. An exclusion waits until the transaction ends.
WELCOME = f"""
WITH last AS MATERIALIZED (SELECT * FROM games_opentable WHERE player_id = %(player)s FOR SHARE)
SELECT {eligibility.REASON}, {seats.sits("live_table")}
FROM games_livetable AS live_table WHERE live_table.id = %(live_table)s
"""  # noqa: S608  (nothing but names of our own columns and codes)


@dataclass(frozen=True)
class Answer:
    """A player's answer to a question: its number, the action by name. Amounts in minor units.

    *idempotency_key*: see `games.betting.idempotency`.
    """

    player: Player
    live_table: LiveTable
    question: int
    action_name: str
    amount: int | None
    call: Call | None
    session: UUID | None
    idempotency_key: UUID | None


def decide(
    *,
    player: Player,
    live_table_id: int,
    question: int,
    action_name: str,
    amount: int | None = None,
    call: Call | None = None,
    session: UUID | None = None,
    idempotency_key: UUID | None = None,
) -> None:
    """Carry out a player's decision, if it answers the pending question.

    Raises NotEligible, TableWaits, NotEligibleHere, OtherMoney, TablePaused, TableClosed, TableStopped,
    HouseStopped, QuestionPassed, CheminRefused, NotEnoughBalance, OverLimit, StalePage, GameTooSoon. A refusal
    changes nothing, except that a barred player leaves the table, unless only a reality check is
    due. Refusals are recorded, except those that would reveal a hand.
    """
    registers.ask_where_due(player)
    answer = Answer(player, _live_table(live_table_id), question, action_name, amount, call, session, idempotency_key)
    try:
        _at(live_table_id, partial(_decide, answer), welcome=partial(_demand_welcome, answer))
    except PlayError as refusal:
        is_not_eligible = isinstance(refusal, NotEligible) and refusal.ineligibility.code is not eligibility.Code.CHECK
        if not is_not_eligible and _done_before(answer):
            return
        _record(answer, refusal)
        if is_not_eligible:
            _at(live_table_id, partial(_send_off, player))
        raise


def join(
    *, player: Player, live_table_id: int, seat_number: int | None = None, session: UUID | None = None
) -> CheminSeat:
    """Take the seat *seat_number*, or a random free seat, and return it. A seated player keeps their seat.

    Raises NotEligible, NotEligibleHere, OtherMoney, UnknownCurrency, TablePaused, TableClosed, TableStopped,
    CheminRefused.
    """
    registers.ask_where_stale(player)
    live_table = _live_table(live_table_id)
    account_id = accounts.player_account(player.pk, Mode(live_table.mode))

    def sit_down(table_state: TableState) -> TableState:
        if table_state.seat_of(player.pk):
            return table_state
        if player.currency != table_state.rules.currency:
            raise UnknownCurrency(player.currency)
        _demand_eligible_here(table_state, player)
        if not may_begin(table_state):
            raise why_not(table_state)
        newcomer = _newcomer(table_state, seat_number)
        newcomer.player, newcomer.account_id, newcomer.session = player, account_id, session
        free = Account.objects.get(pk=account_id)
        action = Join(newcomer.number, (free.balance or 0) - free.held)
        return carry_out(table_state, action, decider=Decider.PLAYER, newcomer=newcomer)

    welcome = partial(_begin_here, player, live_table, session)
    return there(_at(live_table_id, sit_down, welcome=welcome, newcomer=account_id).seat_of(player.pk))


def leave(*, player: Player, live_table_id: int) -> None:
    """Leave the table, at once or after the coup in which the player takes part.

    Does nothing for a player who does not sit there or is already leaving. Raises TableStopped,
    TablePaused where the table waits and would move on without the player's answer.
    """

    def get_up(table_state: TableState) -> TableState:
        seat = table_state.seat_of(player.pk)
        if seat is None or seat.why_left:
            return table_state
        demand_to_leave(table_state, seat)
        return carry_out(table_state, Leave(seat.number), decider=Decider.PLAYER)

    _at(live_table_id, get_up)


def step_away(*, player: Player, live_table_id: int) -> None:
    """Keep the seat without being asked. Raises CheminRefused, and what `leave` raises."""

    def away(table_state: TableState) -> TableState:
        seat = _own(table_state, player)
        demand_to_leave(table_state, seat)
        return carry_out(table_state, StepAway(seat.number), decider=Decider.PLAYER)

    _at(live_table_id, away)


def come_back(*, player: Player, live_table_id: int, session: UUID | None = None) -> None:
    """Take part again after stepping away or after asking to leave.

    Where the jurisdiction allows play at one table at a time, this becomes that table. Raises
    NotEligible, NotEligibleHere, OtherMoney, CheminRefused.
    """
    registers.ask_where_stale(player)
    welcome = partial(_begin_here, player, _live_table(live_table_id), session)

    def back(table_state: TableState) -> TableState:
        seat = _own(table_state, player)
        _demand_eligible_here(table_state, player)
        _note_session(seat, session)
        return carry_out(table_state, ComeBack(seat.number), decider=Decider.PLAYER)

    _at(live_table_id, back, welcome=welcome)


def _demand_eligible_here(table_state: TableState, player: Player) -> None:
    """Raise NotEligibleHere or OtherMoney by the version in force, whichever version the coup is played under."""
    demand_eligible_here(table_state.live_table.table.version, player, table_state.mode)


def _begin_here(player: Player, live_table: LiveTable, session: UUID | None) -> None:
    """Make this the table at which the player plays. Raises NotEligible where the player may not play."""
    mode = Mode(live_table.mode)
    ineligibility = eligibility.check_play(player, real=mode is Mode.REAL, session=session)
    if ineligibility:
        raise NotEligible(ineligibility)
    seats.sit(player, live_table.table_id, mode)


def _at(
    live_table_id: int,
    do: Callable[[TableState], TableState],
    *,
    welcome: Callable[[], None] = lambda: None,
    newcomer: int | None = None,
) -> TableState:
    """Carry out *do* and the upkeep of the table in one transaction.

    If the winning bidder of a sale cannot pay, that player is removed and the action is tried
    again.
    """
    while True:
        try:
            with one_transaction(live_table_id):
                welcome()
                table_state = _named(locked(live_table_id, newcomer=newcomer))
                return _named(maintenance.see_to(_refusing(do, table_state)))
        except Unpaid as unpaid:
            _at(live_table_id, partial(send_away, seat_number=unpaid.seat_number))


def _named(table_state: TableState) -> TableState:
    """Add the id of the coup to the following log lines."""
    if table_state.live_round:
        bind_contextvars(round_id=str(table_state.live_round.pk))
    return table_state


def _refusing(do: Callable[[TableState], TableState], table_state: TableState) -> TableState:
    """Convert the engine's refusals to CheminRefused."""
    try:
        return do(table_state)
    except Refused as refused:
        raise CheminRefused(refused.reason) from refused


def _decide(answer: Answer, table_state: TableState) -> TableState:
    """Carry out an answer to the pending question. Raises what `decide` raises."""
    chemin, seat = table_state.chemin, _own(table_state, answer.player)
    if idempotency.is_done(seat, answer.idempotency_key):
        return table_state
    if not may_go_on(table_state):
        raise why_not(table_state)
    if answer.question != chemin.question or is_too_late(table_state):
        raise QuestionPassed
    action = _action(answer, seat.number)
    if isinstance(action, STAKES):
        if table_state.is_house_stopped:
            raise HouseStopped
        _demand_eligible_here(table_state, answer.player)
    _note_session(seat, answer.session, answer.idempotency_key)
    try:
        return carry_out(table_state, action, decider=Decider.PLAYER)
    except (NotInTime, MayNotPlay) as late:  # the page shows a reality check that is due since the click
        raise QuestionPassed from late
    except Unpaid as unpaid:
        if unpaid.seat_number != seat.number:
            raise
        if isinstance(unpaid.cause, LimitReached):
            raise OverLimit(unpaid.cause) from unpaid
        raise NotEnoughBalance from unpaid


def _done_before(answer: Answer) -> bool:
    """Return whether this click was already carried out and was sent again.

    The player may have left since, or the table may take no answer now.
    """
    if answer.idempotency_key is None:
        return False
    theirs = CheminSeat.objects.filter(player=answer.player, live_table=answer.live_table)
    latest = theirs.order_by("-id").first()
    return latest is not None and idempotency.is_done(latest, answer.idempotency_key)


def _record(answer: Answer, refusal: PlayError) -> None:
    """Record a refusal, but not that a rule binds: that would reveal the total of a face-down hand."""
    if isinstance(refusal, CheminRefused) and refusal.reason in INFORMATIVE:
        return
    data: dict[str, Json] = {
        "action": answer.action_name[:LONGEST_NAME],
        "question": answer.question,
        "reason": type(refusal).__name__,
    }
    if isinstance(refusal, NotEligible):
        data["ineligibility"] = refusal.ineligibility.code.value
    log.record("play.refused", by=str(answer.player), on=f"live_table:{answer.live_table.pk}", data=data)


def _demand_welcome(answer: Answer) -> None:
    """Raise NotEligible, or TableWaits where the jurisdiction allows one table at a time and it is another."""
    player, live_table = answer.player, answer.live_table
    values: dict[str, Value] = {"live_table": live_table.pk}
    values.update(eligibility.parameters(player, answer.session, real=live_table.mode == Mode.REAL))
    ineligibility, sits = there(fetch_one(WELCOME, values))
    if ineligibility:
        raise NotEligible(eligibility.explain(player, eligibility.Code(ineligibility)))
    if not sits:
        raise TableWaits(live_table.table.slug)


def _action(answer: Answer, seat_number: int) -> TableAction:
    """Return the answer as an action of the engine. Raises StalePage, CheminRefused."""
    kind = ACTIONS.get(answer.action_name)
    if kind is None:
        raise StalePage
    if issubclass(kind, MakeCall):
        if answer.call is None:
            raise StalePage
        return MakeCall(seat_number, answer.call, None if answer.call.covers_the_bank else answer.amount)
    if issubclass(kind, TakeBank | MakeBid | LayStake):
        if answer.amount is None:
            raise CheminRefused(Refusal.BAD_AMOUNT)
        return kind(seat_number, answer.amount)
    return kind(seat_number)


def _newcomer(table_state: TableState, seat_number: int | None) -> CheminSeat:
    """Return a new row for a given or random seat. Raises CheminRefused where none is free."""
    free = table_state.free_seats()
    if seat_number is None and not free:
        raise CheminRefused(Refusal.SEAT_TAKEN)
    number = secrets.choice(free) if seat_number is None else seat_number
    return CheminSeat(live_table=table_state.live_table, number=number, is_random=seat_number is None)


def _own(table_state: TableState, player: Player) -> CheminSeat:
    seat = table_state.seat_of(player.pk)
    if seat is None:
        raise CheminRefused(Refusal.NOT_SEATED)
    return seat


def _send_off(player: Player, table_state: TableState) -> TableState:
    """Remove a player who may not play. If a stopped table waits for them, they leave once it reopens."""
    seat = table_state.seat_of(player.pk)
    if seat is None or is_waited_for(table_state, seat):
        return table_state
    return send_away(table_state, seat_number=seat.number)


def _note_session(seat: CheminSeat, session: UUID | None, idempotency_key: UUID | None = None) -> None:
    """Note the session in which the player acts, and the idempotency key of the click. The move stores them."""
    seat.session = session or seat.session
    idempotency.add_key(seat, idempotency_key)


def _live_table(live_table_id: int) -> LiveTable:
    found = LiveTable.objects.select_related("table").filter(pk=live_table_id).first()
    if found is None:
        raise StalePage
    return found
