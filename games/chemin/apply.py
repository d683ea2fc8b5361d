"""Carry out one action at a table of Chemin de Fer, all or nothing, in the caller's transaction.

Every change of a table goes through `carry_out`. The caller has locked the table
(`games.chemin.state.table_state.locked`). The engine returns events; rows, money, notifications and the deadline of
the next question follow from them. Every change is recorded as a `CheminMove`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.utils.translation import gettext_noop

from audit import log
from audit.log import Json
from games.chemin import event_codec, money, moves, shoes
from games.chemin.coups import progress
from games.chemin.state import ledger_view
from games.chemin.state.table_state import TableState, Transition
from games.dealer.client import CardsDealt
from games.engine.chemin import Phase, Presence, apply
from games.engine.chemin.actions import Action, DealCards, Pass, TableAction, TimeUp
from games.engine.chemin.events import (
    BankEnded,
    BankTaken,
    BidMade,
    CoupVoided,
    ExcessTakenHome,
    PlayerAway,
    PlayerBack,
    PlayerJoined,
    PlayerLeft,
    PlayerWillLeave,
    Settled,
)
from games.engine.chemin.frozen import freeze
from games.engine.chemin.state import Chips, State, there
from games.models import CheminSeat, CheminTenure, Decider, LiveRound, WhyLeft
from games.rounds.integrity import NotRecomputed, RulesUnknown
from games.rounds.redeal import Finding
from games.shared.shoes import SYSTEM
from games.tables import clock
from games.variants import GAMES
from players import notify
from players.account import terms
from wallet.models import Account

Seats = Mapping[int, CheminSeat]


def sit_down(transition: Transition, newcomer: CheminSeat | None) -> Seats:
    """Return the seats including a player who sits down in this move."""
    if newcomer is None or transition.first(PlayerJoined) is None:
        return transition.before.seats
    newcomer.joined_at = transition.at
    return {**transition.before.seats, newcomer.number: newcomer}


def follow_seats(transition: Transition, seats: Seats) -> Seats:
    """Note who left, went away, came back or missed a turn; return the remaining seats.

    `games_store_move` stores the same.
    """
    _note_turn(transition, seats)
    for event in transition.events:
        match event:
            case PlayerWillLeave(seat_number):
                _change_seat(seats[seat_number], why_left=transition.why)
            case PlayerAway(seat_number):
                _change_seat(seats[seat_number], away_since=transition.at)
            case PlayerBack(seat_number):
                _change_seat(seats[seat_number], away_since=None, why_left="", missed=0)
            case PlayerLeft(seat_number):
                _change_seat(
                    seats[seat_number], left_at=transition.at, why_left=seats[seat_number].why_left or transition.why
                )
            case _:
                pass
    return {seat_number: seat for seat_number, seat in seats.items() if seat.left_at is None}


def begin_tenure(transition: Transition) -> CheminTenure | None:
    """Begin the tenure of the player who took the bank in this move, or return the present one.

    The account of the bank is opened when it is paid (`games.chemin.money.move`). One move never
    begins and ends tenures of two players: a player who takes over a bank is asked first.
    """
    taken = transition.first(BankTaken)
    if taken is None:
        return transition.before.tenure
    before = transition.before
    return CheminTenure(
        id=uuid4(),
        live_table=before.live_table,
        seat=before.seats[taken.seat],
        put_up=taken.amount,
        began_at=transition.at,
    )


def note_home(transition: Transition, tenure: CheminTenure | None) -> CheminTenure | None:
    """Note what the bank paid out to its owner; return the tenure unless it has ended."""
    home = sum(event.amount for event in transition.events if isinstance(event, BankEnded | ExcessTakenHome))
    has_ended = transition.first(BankEnded) is not None
    if tenure is None or not (home or has_ended):
        return tenure
    tenure.home += home
    tenure.ended_at = transition.at if has_ended else None
    return None if has_ended else tenure


def _note_turn(transition: Transition, seats: Seats) -> None:
    """Count consecutive turns that the croupier took for a player who sits there and plays."""
    if transition.seat_number is None or transition.decider not in (Decider.CROUPIER, Decider.PLAYER):
        return
    seat = seats[transition.seat_number]
    if transition.decider is Decider.PLAYER:
        if transition.answers and seat.missed:
            _change_seat(seat, missed=0)
    elif seat.away_since is None and seat.why_left == "":
        _change_seat(seat, missed=seat.missed + 1)


def _change_seat(seat: CheminSeat, **changed: object) -> None:
    for name, value in changed.items():
        setattr(seat, name, value)


def record(transition: Transition, seats: Seats, tenure: CheminTenure | None) -> None:
    """Record in the event log who came and went and who held the bank in a move.

    *seats* are as they were during the move, *tenure* is the bank it belongs to. Coups are recorded when
    they begin and end. No event contains a card before its coup is over, nor a player's balance.
    """
    for event in transition.events:
        match event:
            case PlayerJoined(seat_number):
                _of_player(transition, "seat.taken", seats[seat_number], {"is_random": seats[seat_number].is_random})
            case PlayerAway(seat_number):
                _of_player(transition, "seat.away", seats[seat_number], {"missed": seats[seat_number].missed})
            case PlayerBack(seat_number):
                _of_player(transition, "seat.back", seats[seat_number], {})
            case PlayerLeft(seat_number):
                _of_player(transition, "seat.left", seats[seat_number], {"why": seats[seat_number].why_left})
            case BankTaken(seat_number, amount):
                _of_player(transition, "bank.taken", seats[seat_number], _of_bank(tenure, amount))
            case ExcessTakenHome(seat_number, amount):
                _of_player(transition, "bank.excess", seats[seat_number], _of_bank(tenure, amount))
            case BankEnded(seat_number, amount):
                _of_player(transition, "bank.ended", seats[seat_number], _of_bank(tenure, amount))
            case _:
                pass


def _of_bank(tenure: CheminTenure | None, amount: int) -> dict[str, Json]:
    return {"amount": amount, "tenure": str(there(tenure).pk)}


def _of_player(transition: Transition, kind: str, seat: CheminSeat, data: dict[str, Json]) -> None:
    by = (
        str(seat.player)
        if seat.player and transition.decider is Decider.PLAYER and transition.seat_number == seat.number
        else SYSTEM
    )
    who = f"player:{seat.player_id}" if seat.player_id else None
    seated_player = {"number": seat.number, "player": who, "seat": seat.pk}
    log.record(kind, by=by, on=f"live_table:{seat.live_table_id}", data={**seated_player, **data})


CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def carry_out(
    table_state: TableState,
    action: Action,
    *,
    decider: Decider,
    why: WhyLeft = WhyLeft.WISH,
    newcomer: CheminSeat | None = None,
) -> TableState:
    """Carry out one action at a table and return the new table state.

    *why* is the reason recorded for a player who leaves in this move. *newcomer* is the seat row of
    a player who sits down. Raises Refused, Unpaid, Doubt, and LedgerError where the ledger refuses
    anything other than a player's payment.
    """
    _demand_sound(table_state, action)
    state, events = apply(table_state.state, action)
    dealt = _dealt(table_state, state)
    if dealt is not None:
        state, events = apply(shoes.with_cards(table_state.state, dealt), action)
    number = table_state.chemin.move + 1
    transition = Transition(table_state, action, state, events, number, clock.now(), decider, dealt, why)
    seated = sit_down(transition, newcomer)
    tenure = begin_tenure(transition)
    live_round = progress.begin(transition, tenure)
    sale_id = table_state.chemin.sale_id or (uuid4() if transition.first(BidMade) else None)
    till = money.Till(transition, tenure, live_round.pk if live_round else None, sale_id)
    money.move(till)
    settled = transition.first(Settled)
    finished = progress.finish(transition, settled) if settled else None
    remain = follow_seats(transition, seated)
    after = replace(table_state, seats=remain, state=state, tenure=note_home(transition, tenure))
    deadline = ask(after, transition)
    after = replace(after, live_round=progress.follow(transition, live_round, deadline))
    if finished is not None:
        progress.keep(finished)
    money.pay_home(till)
    _demand_balances(after, seated, tenure)
    _store(after, transition, seated, live_round, sale_id)
    record(transition, seated, tenure)
    return after


def _dealt(table_state: TableState, after: State) -> CardsDealt | None:
    """Have the dealer deal the cards that an action takes out of the shoe. *after*: the state with any cards.

    How many it takes does not depend on which they are. Raises DealerAway, NotDealt, WrongCard.
    """
    before, shoe = table_state.state.shoe, table_state.shoe
    if before is None or after.shoe is None or after.shoe.drawn <= before.drawn:
        return None  # where fewer are drawn, this is a new shoe
    return shoes.deal(there(shoe), there(table_state.live_round), after.shoe.drawn - before.drawn)


def name_of(action: type[Action]) -> str:
    """Return the name of an action in a move, such as "make_call"."""
    return CAPITAL.sub("_", action.__name__).lower()


def _demand_sound(table_state: TableState, action: Action) -> None:
    """Check rules, stakes and cards before an action is carried out.

    In a coup, this version of the code must have the rules of the coup, and the ledger must hold
    the stakes of the table state. Before a deal, all earlier coups of the shoe must have been dealt
    in order. Raises RulesUnknown, NotRecomputed, WrongCard, NotReproduced.
    """
    if isinstance(action, TableAction | TimeUp) and table_state.in_coup:
        rules, known = table_state.version.rules_digest, GAMES[table_state.live_table.table.variant].digest
        if rules != known:
            raise RulesUnknown(gettext_noop("The rules of the coup are not installed."), Finding("rules", rules, known))
        staked, expected = ledger_view.stakes(table_state), table_state.state.running_coup.stakes
        if staked != expected:
            found = Finding("stakes by place", _by_seat(expected), _by_seat(staked))
            raise NotRecomputed(gettext_noop("Stakes in the ledger and at the table differ."), found)
    is_deal = isinstance(action, DealCards | TimeUp) and table_state.state.phase is Phase.CARDS
    if is_deal and table_state.shoe is not None:
        shoes.demand_in_order(table_state.shoe)


def _by_seat(stakes: Iterable[Chips]) -> str:
    return ", ".join(f"{stake.seat}: {stake.amount}" for stake in stakes)


def _demand_balances(after: TableState, seated: Seats, tenure: CheminTenure | None) -> None:
    """Raise NotRecomputed where the ledger has other amounts than the table state, on the accounts of all
    seated players and of the bank.
    """
    ids = {seat.account_id for seat in seated.values()} | ({tenure.account_id} if tenure else set())
    found = {account.pk: account for account in Account.objects.filter(pk__in=ids)}
    chips = {seat.number: (after.seats[seat.number].account_id, seat.balance) for seat in after.state.seats}
    free = {
        seat_number: (found[account].balance or 0) - found[account].held for seat_number, (account, _) in chips.items()
    }
    wrong = [
        Finding(f"place {seat_number}", str(free[seat_number]), str(amount))
        for seat_number, (_, amount) in chips.items()
        if free[seat_number] != amount
    ]
    bank = after.state.bank.amount if after.state.bank else 0
    if tenure and (balance := found[tenure.account_id].balance) != bank:
        wrong.append(Finding(f"bank of tenure {tenure.pk}", str(balance), str(bank)))
    if wrong:
        raise NotRecomputed(gettext_noop("Amounts in the ledger and at the table differ."), *wrong)


def _store(
    after: TableState, transition: Transition, seated: Seats, live_round: LiveRound | None, sale_id: UUID | None
) -> None:
    """Store the move with the new table state, and notify other processes.

    The move belongs to the coup in which the decision was asked for; taking or keeping a bank
    belongs to the coup that it begins.
    """
    decision, before = transition.decision, transition.before
    belongs = before.live_round if isinstance(decision, Pass) else live_round
    call = getattr(decision, "call", None)
    seat = None if transition.seat_number is None else seated[transition.seat_number]
    newcomer = seat if transition.first(PlayerJoined) else None
    move = {
        "number": transition.number,
        "round": belongs and belongs.pk,
        "seat": seat and seat.pk,
        "session": seat and seat.session if transition.decider is Decider.PLAYER else None,
        "idempotency_keys": seat and seat.idempotency_keys,
        "terms": terms.VERSION,
        "minutes": settings.REALITY_CHECK_MINUTES,
        "kind": name_of(type(decision)),
        "amount": getattr(decision, "amount", None),
        "call": call.value if call else "",
        "decider": transition.decider,
        "events": [event_codec.write(event) for event in transition.events],
        "at": transition.at,
        "why": transition.why,
        "sale": sale_id,
        "newcomer": newcomer and _described(newcomer),
        "tenure": after.tenure and after.tenure.pk,
    }
    moves.store_move(after.chemin, move, freeze(after.state))
    if newcomer is not None:
        newcomer.pk = moves.seat_id(after.live_table.pk, newcomer.number)
    notify.notify_table(after.live_table.pk)


def _described(newcomer: CheminSeat) -> dict[str, Json]:
    return {
        "number": newcomer.number,
        "player": newcomer.player_id,
        "account": newcomer.account_id,
        "is_random": newcomer.is_random,
        "session": str(newcomer.session) if newcomer.session else None,
    }


WAITS: Final[Mapping[Phase, str]] = {
    Phase.OFFER: "ask",
    Phase.SUITE: "ask",
    Phase.AUCTION: "ask",
    Phase.CALLS: "ask",
    Phase.STAKES: "ask",
    Phase.CARDS: "deal",
    Phase.PUNTER: "decide",
    Phase.BANKER: "decide",
    Phase.CHOICE: "choice",
}
"""The time of the table's clock that applies in each phase."""


def ask(table_state: TableState, transition: Transition) -> datetime | None:
    """Return the deadline of the question that a move led to; None where nobody is asked.

    PostgreSQL stores the same (`games_store_move`). A question that was already pending keeps
    its deadline. After a coup the pause that shows its result is added.
    """
    if not transition.asks_new_question:
        return table_state.chemin.deadline
    length = _length(table_state)
    if length is not None and (transition.first(Settled) or transition.first(CoupVoided)):
        length += table_state.clock.pause
    return None if length is None else transition.at + timedelta(milliseconds=length)


def restart_question(table_state: TableState) -> None:
    """Restart the time of the pending question after a stop or pause. Its number does not change."""
    if _length(table_state) is None:
        return
    moves.ask_again(table_state.chemin)
    notify.notify_table(table_state.live_table.pk)


def _length(table_state: TableState) -> int | None:
    """Return the time of the question in milliseconds, or None.

    House players and leaving players get only the short `house_player` time. A free bank waits
    without a deadline, unless house players sit at the table.
    """
    state, waits = table_state.state, table_state.clock
    if state.phase is Phase.FREE:
        is_company = any(seat.player_id is None for seat in table_state.seats.values())
        return waits.house_player if is_company else None
    seat = table_state.asked
    if seat is None:
        return None
    if seat.player_id is None or state.seat(seat.number).presence is Presence.LEAVING:
        return waits.house_player
    length: int = getattr(waits, WAITS[state.phase])
    return length
