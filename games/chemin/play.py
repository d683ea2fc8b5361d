"""What a guest does at a Chemin de Fer table: sits down, answers what is asked, steps away, comes back, gets up.

One click is one transaction. A question has a number and an answer says which one it is to, so that none lands in
another; PostgreSQL's clock decides whether it came in time, once the table has been waited for.
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
from games.chemin.removal import send_away
from games.chemin.stop import one_transaction
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
"""What a guest can do when asked, by its name as "make_call"."""

STAKES: Final = (TakeBank, KeepBank, MakeBid, MakeCall, LayStake)
"""What puts money at risk. Whom the table serves no more plays on with what lies there, and with no more; so does
everybody while the whole house is stopped.
"""

LONGEST_NAME: Final = 20
ALREADY: Final = frozenset({Refusal.ALREADY_AWAY, Refusal.NOT_AWAY})
"""What is refused since it is so already: a page that shows it has nothing to add."""

TELLING: Final = frozenset({Refusal.RULE_BINDS, Refusal.ADVICE_BINDS})

# Whoever may not play is told before the table is waited for; an exclusion waits until the transaction ends.
WELCOME = f"""
WITH last AS MATERIALIZED (SELECT * FROM games_opentable WHERE player_id = %(player)s FOR SHARE)
SELECT {eligibility.BARRED}, {seats.SITS} FROM games_livetable AS place WHERE place.id = %(live_table)s
"""  # noqa: S608  (nothing but names of our own columns and codes)


@dataclass(frozen=True)
class Answer:
    """Who answers, and what: which question, by its number, and the action by its name. Amounts in minor units. By its
    *mark* the same click is known that is sent again: see `games.betting.idempotency`.
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
    """Do what the guest decides, if that is what is asked.

    Raises Barred (and the guest gets up, unless it is a reality check that waits), TableWaits, NotServed, OtherMoney,
    TablePaused, TableClosed, TableStopped, QuestionPassed, GuestRefused, NotEnoughBalance, OverLimit, StalePage.
    Nothing has changed then; each refusal is recorded but those that tell what somebody holds.
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
    """Sit down at a free *place*, or at one that the house's chance chooses among those that are free; return the seat.
    Whoever sits there already keeps their seat.

    Raises Barred, NotServed, OtherMoney, UnknownCurrency, TablePaused, TableClosed, TableStopped, GuestRefused.
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
    """Get up, at once or when the coup is over in which the guest has a part. Whoever does not sit there, or is about
    to go, goes on doing so.

    Raises TableStopped, TablePaused where the table stands still and would move on without the guest's answer.
    """

    def get_up(standing: Standing) -> Standing:
        seat = standing.seat_of(player.pk)
        if seat is None or seat.why_left:
            return standing
        demand_to_leave(standing, seat)
        return carry_out(standing, Leave(seat.number), decider=Decider.GUEST)

    _at(live_table_id, get_up)


def step_away(*, player: Player, live_table_id: int) -> None:
    """Keep the seat and be asked nothing. Raises GuestRefused, and what `leave` raises."""

    def away(standing: Standing) -> Standing:
        seat = _own(standing, player)
        demand_to_leave(standing, seat)
        return carry_out(standing, StepAway(seat.number), decider=Decider.GUEST)

    _at(live_table_id, away)


def come_back(*, player: Player, live_table_id: int, session: UUID | None = None) -> None:
    """Be asked again, whether after stepping away or after wanting to leave; whoever may play at one table at a time
    plays here from now on. Raises Barred, NotServed, OtherMoney, GuestRefused.
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
    """Raises NotServed, OtherMoney by the version in force, whichever one the coup is played under."""
    demand_served(standing.live_table.table.version, player, standing.mode)


def _begin_here(player: Player, live_table: LiveTable, session: UUID | None) -> None:
    """Have the player play at this table from now on. Raises Barred where something keeps them from playing."""
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
    """Do something at a table whole or not at all, and then what the house sees to. Where a bank would go to a bidder
    who may not pay for it any more, that one gets up first.
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
    """Have lines of the log from here on say which coup it is: the one in which something is done, or that it began."""
    if standing.live_round:
        bind_contextvars(round_id=str(standing.live_round.pk))
    return standing


def _refusing(do: Callable[[Standing], Standing], standing: Standing) -> Standing:
    """Let the croupier's refusals be those of the table."""
    try:
        return do(standing)
    except Refused as refused:
        raise GuestRefused(refused.reason) from refused


def _decide(answer: Answer, standing: Standing) -> Standing:
    """Carry out an answer to the question that is asked. Raises what `decide` says."""
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
    """Say whether this click was carried out and is sent again, by somebody who has got up since or at a table that
    takes no answer now.
    """
    if answer.mark is None:
        return False
    theirs = CheminSeat.objects.filter(player=answer.player, live_table=answer.live_table)
    latest = theirs.order_by("-id").first()
    return latest is not None and idempotency.is_done(latest, answer.mark)


def _record(answer: Answer, refusal: PlayError) -> None:
    """Record a refusal; but not that a rule binds, which would tell what a hand counts that lies face down."""
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
    """Raises Barred, and TableWaits where the player's law has them play at one table at a time, and it is another."""
    player, live_table = answer.player, answer.live_table
    values: dict[str, Value] = {"live_table": live_table.pk}
    values.update(eligibility.barred(player, answer.session, real=live_table.mode == Mode.REAL))
    bar, sits = there(fetch_one(WELCOME, values))
    if bar:
        raise Barred(eligibility.bar(player, eligibility.Code(bar)))
    if not sits:
        raise TableWaits(live_table.table.slug)


def _action(answer: Answer, place: int) -> TableAction:
    """Return what is answered as an action of the engine. Raises StalePage, GuestRefused."""
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
    """Return the seat at a place, or at one by chance. Raises GuestRefused where none is free."""
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
    """Have a guest get up who may not play; whom a stopped table waits for, once it goes on."""
    seat = standing.seat_of(player.pk)
    if seat is None or is_waited_for(standing, seat):
        return standing
    return send_away(standing, place=seat.number)


def _note_session(seat: CheminSeat, session: UUID | None, mark: UUID | None = None) -> None:
    """Keep in which session the guest acts, and with which click."""
    if mark is not None or session not in (None, seat.session):
        seat.session = session or seat.session
        idempotency.note(seat, mark)
        seat.save(update_fields=["session", "marks"])


def _live_table(live_table_id: int) -> LiveTable:
    found = LiveTable.objects.select_related("table").filter(pk=live_table_id).first()
    if found is None:
        raise StalePage
    return found
