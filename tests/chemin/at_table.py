"""Helpers for a Chemin de Fer table: seats, decisions, and the product's own steps.

Nothing waits for a clock. A test makes deadlines due in the database (`hurry`).
"""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.db.models.functions import Now

from games.chemin import play, tick
from games.chemin.apply import name_of
from games.chemin.shoes import UNKNOWN
from games.chemin.state.table_state import TableState, locked
from games.engine.chemin import Call, Option, Phase, Refusal, State, options
from games.engine.chemin.frozen import thaw
from games.engine.chemin.machine import default_action
from games.engine.chemin.state import there
from games.engine.chemin.steps.phases import IN_COUP
from games.errors import CheminRefused
from games.models import CheminSeat, CheminTable, LiveTable, ShoeCut
from games.tables.chemin_rules import CheminRules
from players.models import Player, Session
from tests.builders import a_chemin_live_table, a_player
from tests.harness.owner import as_owner, create_as_owner
from wallet.models import Account, AccountKind, Mode

MONEY = 10_000_000
STEPS = 60  # more than a coup takes
ANY_RULES = CheminRules("SEK", 9, 1_000, 100_000, 0).table_rules


def a_chemin_table(mode: Mode = Mode.REAL, **options: Any) -> LiveTable:
    """Return an open table without players, in kronor and for real money by default."""
    table = a_chemin_live_table(**options)
    return LiveTable.objects.select_related("table").get(table=table, mode=mode)


def a_practice_table(house_players: int = 3, **options: Any) -> LiveTable:
    """Return an open free-money table with house players."""
    return a_chemin_table(Mode.FREE, house_players=house_players, **options)


def a_seated_player(
    live_table: LiveTable, seat_number: int | None = None, money: int = MONEY, **options: Any
) -> Player:
    """Return a player with this much money who has taken a seat."""
    real = live_table.mode == Mode.REAL
    player = a_player(real=money if real else 0, free=0 if real else money)
    sit(player, live_table, seat_number, **options)
    return player


def sit(
    player: Player, live_table: LiveTable, seat_number: int | None = None, session: UUID | None = None
) -> CheminSeat:
    return play.join(player=player, live_table_id=live_table.pk, seat_number=seat_number, session=session)


def a_session(player: Player) -> UUID:
    """Return a new running session of the player."""
    return Session.objects.create(id=uuid4(), user=player.user, ip="", browser="").pk


def a_seat_as_owner(**fields: Any) -> CheminSeat:
    """Return a new seat that no move has led to."""
    create_as_owner(CheminSeat(**{"joined_at": Now(), **fields}))
    return CheminSeat.objects.latest("pk")


def seated_players(live_table: LiveTable, count: int = 3, money: int = MONEY) -> list[Player]:
    """Seat players in seats 1, 2, 3 and so on."""
    return [a_seated_player(live_table, seat_number, money) for seat_number in range(1, count + 1)]


def table_state_of(live_table: LiveTable) -> TableState:
    """Return the state of the table with its cards."""
    with transaction.atomic():
        return locked(live_table.pk)


def state_of(live_table: LiveTable) -> State:
    """Return the state of the engine."""
    return table_state_of(live_table).state


def seen_of(live_table: LiveTable) -> State:
    """Return the state of the engine with placeholder cards and money: seats and questions only."""
    frozen = chemin_of(live_table).state
    cards, nothing = (
        UNKNOWN if frozen["shoe"] else (),
        dict.fromkeys((seat_number for seat_number, _ in frozen["seats"]), 0),
    )
    return thaw(frozen, rules=ANY_RULES, cards=cards, balances=nothing)


def chemin_of(live_table: LiveTable) -> CheminTable:
    """Return the table's row from the database."""
    return CheminTable.objects.get(pk=live_table.pk)


def time_given(chemin: CheminTable) -> timedelta:
    """Return the total time for the current question."""
    return there(chemin.deadline) - there(chemin.asked_at)


def asked(live_table: LiveTable) -> Player | None:
    """Return the player whose turn it is; None for a house player or nobody."""
    turn = seen_of(live_table).turn
    if turn is None:
        return None
    return live_table.chemin_seats.select_related("player").get(left_at=None, number=turn).player


def asked_at(live_table: LiveTable) -> Player:
    """Return the player whose turn it is."""
    player = asked(live_table)
    assert player is not None
    return player


def options_of(player: Player, live_table: LiveTable) -> tuple[Option, ...]:
    table_state = table_state_of(live_table)
    seat = table_state.seat_of(player.pk)
    return options(table_state.state, seat.number) if seat else ()


def answer(
    player: Player,
    live_table: LiveTable,
    action_name: str,
    amount: int | None = None,
    call: Call | None = None,
    question: int | None = None,
    session: UUID | None = None,
    idempotency_key: UUID | None = None,
) -> None:
    """Answer the current question, or a given one."""
    play.decide(
        player=player,
        live_table_id=live_table.pk,
        question=chemin_of(live_table).question if question is None else question,
        action_name=action_name,
        amount=amount,
        call=call,
        session=session,
        idempotency_key=idempotency_key,
    )
    finish_cut(live_table)


def take_bank(live_table: LiveTable, amount: int = 10_000) -> Player:
    """Let the player who is offered the bank take it; return that player. The coup may wait for a shoe then."""
    banker, question = asked_at(live_table), chemin_of(live_table).question
    play.decide(player=banker, live_table_id=live_table.pk, question=question, action_name="take_bank", amount=amount)
    return banker


def finish_cut(live_table: LiveTable) -> None:
    """Bring the shoe for which the coup waits, if one is being cut."""
    if ShoeCut.objects.filter(live_table=live_table).exists():
        hurry(live_table)
        tick.advance(live_table.pk)


def refusal_of(player: Player, live_table: LiveTable, action_name: str, amount: int | None = None) -> Refusal:
    """Return the reason with which the croupier refuses an answer."""
    with pytest.raises(CheminRefused) as refused:
        answer(player, live_table, action_name, amount)
    return refused.value.reason


def let_pass(live_table: LiveTable) -> None:
    """Let the player whose turn it is pass."""
    player = asked(live_table)
    assert player
    answer(player, live_table, "pass")


def answer_by_the_rule(live_table: LiveTable) -> None:
    """Answer for the player whose turn it is as the croupier would."""
    table_state = table_state_of(live_table)
    seat, action = table_state.asked, default_action(table_state.state)
    assert seat is not None
    assert seat.player is not None
    assert action is not None
    answer(seat.player, live_table, name_of(type(action)))


def play_out(live_table: LiveTable) -> State:
    """Answer by the rule until the coup is over; return the next state."""
    while seen_of(live_table).phase in IN_COUP:
        answer_by_the_rule(live_table)
    return state_of(live_table)


def a_bank_to_keep(live_table: LiveTable) -> LiveTable:
    """Play coups until the bank does not lose one, so that its banker may keep it.

    Return the table.
    """
    while (phase := seen_of(live_table).phase) is not Phase.CHOICE:
        if phase is Phase.OFFER:
            a_staked_coup(live_table)
        else:
            answer_by_the_rule(live_table)
    return live_table


def a_coup_without_a_natural(live_table: LiveTable) -> Player:
    """Play coups until a punter is asked whether to draw; return that punter."""
    while True:
        phase = seen_of(live_table).phase
        if phase is Phase.OFFER:
            a_dealt_coup(live_table)
        elif phase is Phase.PUNTER:
            punter = asked(live_table)
            assert punter
            return punter
        else:
            answer_by_the_rule(live_table)


def hurry(live_table: LiveTable, seconds: float = 0) -> None:
    """Make the question's deadline pass, by this many seconds, or the time in which a shoe is cut."""
    as_owner("UPDATE games_shoecut SET open_until = clock_timestamp() WHERE live_table_id = %s", [live_table.pk])
    as_owner(
        "UPDATE games_chemintable SET deadline = clock_timestamp() - make_interval(secs => %s)"
        " WHERE live_table_id = %s AND deadline IS NOT NULL",
        [seconds, live_table.pk],
    )


def step(live_table: LiveTable, seconds: float = 0) -> bool:
    """Make the deadline pass and run the due step; return True if there was one."""
    hurry(live_table, seconds)
    return tick.advance(live_table.pk)


def step_to(live_table: LiveTable, *phases: Phase) -> State:
    """Let the croupier decide for everyone until the table is in one of these phases."""
    for _ in range(STEPS):
        phase = seen_of(live_table).phase
        if phase in phases:
            return state_of(live_table)
        assert step(live_table), f"{phase}: nothing was due"
    raise AssertionError(f"never {phases}: {seen_of(live_table).phase}")


def a_bank(live_table: LiveTable, amount: int = 10_000) -> Player:
    """Let the player who is offered the bank take it; return that player."""
    banker = asked(live_table)
    assert banker is not None
    answer(banker, live_table, "take_bank", amount)
    return banker


def a_staked_coup(live_table: LiveTable, amount: int = 10_000, stake: int = 4_000) -> tuple[Player, Player]:
    """Open a bank with one stake and no call, so that the banker is to draw the cards.

    Return banker and punter.
    """
    banker = a_bank(live_table, amount)
    while seen_of(live_table).phase is Phase.CALLS:
        let_pass(live_table)
    punter = asked(live_table)
    assert punter
    answer(punter, live_table, "lay_stake", stake)
    while seen_of(live_table).phase is Phase.STAKES:
        let_pass(live_table)
    return banker, punter


def a_dealt_coup(live_table: LiveTable, amount: int = 10_000, stake: int = 4_000) -> tuple[Player, Player]:
    """Do the same and draw the cards. A natural may have settled the coup."""
    banker, punter = a_staked_coup(live_table, amount, stake)
    answer(banker, live_table, "deal_cards")
    return banker, punter


def cash(player: Player, mode: Mode = Mode.REAL) -> Account:
    """Return the player's account."""
    return Account.objects.get(owner=player, kind=AccountKind.CASH, mode=mode)


def before_the_croupier(kind: AccountKind) -> int:
    """Return the sum of all accounts of a kind: banks, stakes or house players' seats."""
    return sum(account.balance or 0 for account in Account.objects.filter(kind=kind))
