"""A Chemin de Fer table in a test: guests who sit down, decide and go, and the house's own steps, as fast as a test
wants.

Nothing waits for a clock: what a test wants to be due is made due in the database (`hurry`).
"""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from games.chemin import play, tick
from games.chemin.apply import name_of
from games.chemin.table_state import PLAIN, Standing, locked
from games.engine.chemin import Call, Option, Phase, Refusal, State, options
from games.engine.chemin.frozen import thaw
from games.engine.chemin.machine import default_action
from games.engine.chemin.phases import IN_COUP
from games.engine.chemin.state import there
from games.errors import GuestRefused
from games.models import CheminSeat, CheminTable, LiveTable
from games.tables.chemin_rules import GuestRules
from players.models import Player, Session
from tests.builders import a_guest_table, a_player
from wallet.models import Account, AccountKind, Mode

MONEY = 10_000_000
STEPS = 60  # more than a coup takes
ANY_RULES = GuestRules("SEK", 9, 1_000, 100_000, 0).table_rules


def a_chemin_table(mode: Mode = Mode.REAL, **options: Any) -> LiveTable:
    """An open table for guests, in kronor and for real money unless asked otherwise, with nobody at it."""
    table = a_guest_table(**options)
    return LiveTable.objects.select_related("table").get(table=table, mode=mode)


def a_practice_table(house_players: int = 3, **options: Any) -> LiveTable:
    """An open table for free money with house players."""
    return a_chemin_table(Mode.FREE, house_players=house_players, **options)


def a_guest(live_table: LiveTable, place: int | None = None, money: int = MONEY, **options: Any) -> Player:
    """A player with that much money who has sat down."""
    real = live_table.mode == Mode.REAL
    player = a_player(real=money if real else 0, free=0 if real else money)
    sit(player, live_table, place, **options)
    return player


def sit(player: Player, live_table: LiveTable, place: int | None = None, session: UUID | None = None) -> CheminSeat:
    """Have the player sit down."""
    return play.join(player=player, live_table_id=live_table.pk, place=place, session=session)


def a_session(player: Player) -> UUID:
    """A session of the player's that runs."""
    return Session.objects.create(id=uuid4(), user=player.user, ip="", browser="").pk


def guests(live_table: LiveTable, count: int = 3, money: int = MONEY) -> list[Player]:
    """So many players, at places 1, 2, 3 and on."""
    return [a_guest(live_table, place, money) for place in range(1, count + 1)]


def standing_of(live_table: LiveTable) -> Standing:
    """The table as it stands, cards and all."""
    with transaction.atomic():
        return locked(live_table.pk)


def state_of(live_table: LiveTable) -> State:
    """The state of the engine."""
    return standing_of(live_table).state


def seen_of(live_table: LiveTable) -> State:
    """The state of the engine but for cards and money, which are any: who sits there, and what is asked of whom."""
    frozen = chemin_of(live_table).state
    cards, nothing = PLAIN if frozen["shoe"] else (), dict.fromkeys((place for place, _ in frozen["seats"]), 0)
    return thaw(frozen, rules=ANY_RULES, cards=cards, balances=nothing)


def chemin_of(live_table: LiveTable) -> CheminTable:
    """The row of the table, as the database has it now."""
    return CheminTable.objects.get(pk=live_table.pk)


def time_given(chemin: CheminTable) -> timedelta:
    """How long whoever is asked has in all."""
    return there(chemin.deadline) - there(chemin.asked_at)


def asked(live_table: LiveTable) -> Player | None:
    """Whose turn it is; None where nobody's is, or a house player's."""
    turn = seen_of(live_table).turn
    if turn is None:
        return None
    return live_table.guests.select_related("player").get(left_at=None, number=turn).player


def asked_at(live_table: LiveTable) -> Player:
    """The guest whose turn it is."""
    player = asked(live_table)
    assert player is not None
    return player


def options_of(player: Player, live_table: LiveTable) -> tuple[Option, ...]:
    """What the guest may do now."""
    standing = standing_of(live_table)
    seat = standing.seat_of(player.pk)
    return options(standing.state, seat.number) if seat else ()


def answer(
    player: Player,
    live_table: LiveTable,
    action_name: str,
    amount: int | None = None,
    call: Call | None = None,
    question: int | None = None,
    session: UUID | None = None,
    mark: UUID | None = None,
) -> None:
    """Have the guest answer the question that is asked now, or another one that is named."""
    play.decide(
        player=player,
        live_table_id=live_table.pk,
        question=chemin_of(live_table).question if question is None else question,
        action_name=action_name,
        amount=amount,
        call=call,
        session=session,
        mark=mark,
    )


def refusal_of(player: Player, live_table: LiveTable, action_name: str, amount: int | None = None) -> Refusal:
    """Why the croupier refuses an answer."""
    with pytest.raises(GuestRefused) as refused:
        answer(player, live_table, action_name, amount)
    return refused.value.reason


def let_pass(live_table: LiveTable) -> None:
    """Have whoever is asked let it pass."""
    player = asked(live_table)
    assert player
    answer(player, live_table, "pass")


def answer_by_the_rule(live_table: LiveTable) -> None:
    """Have whoever is asked do what the croupier would do for them."""
    standing = standing_of(live_table)
    seat, action = standing.asked, default_action(standing.state)
    assert seat is not None
    assert seat.player is not None
    assert action is not None
    answer(seat.player, live_table, name_of(type(action)))


def play_out(live_table: LiveTable) -> State:
    """Have everybody answer by the rule until the coup is over; return what is asked then."""
    while seen_of(live_table).phase in IN_COUP:
        answer_by_the_rule(live_table)
    return state_of(live_table)


def a_bank_to_keep(live_table: LiveTable) -> LiveTable:
    """Coups one after another until one is not lost by the bank: its banker may keep it. Return the table."""
    while (phase := seen_of(live_table).phase) is not Phase.CHOICE:
        if phase is Phase.OFFER:
            a_staked_coup(live_table)
        else:
            answer_by_the_rule(live_table)
    return live_table


def a_coup_without_a_natural(live_table: LiveTable) -> Player:
    """Coups one after another until a punter is asked whether to draw; return them."""
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
    """Make the question's time be up, by so many seconds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE games_chemintable SET deadline = clock_timestamp() - make_interval(secs => %s)"
            " WHERE live_table_id = %s AND deadline IS NOT NULL",
            [seconds, live_table.pk],
        )


def step(live_table: LiveTable, seconds: float = 0) -> bool:
    """Make the question's time be up, and have the house do what is due; say whether something was."""
    hurry(live_table, seconds)
    return tick.advance(live_table.pk)


def step_to(live_table: LiveTable, *phases: Phase) -> State:
    """Have the croupier decide for everybody until the table asks this."""
    for _ in range(STEPS):
        phase = seen_of(live_table).phase
        if phase in phases:
            return state_of(live_table)
        assert step(live_table), f"{phase}: nothing was due"
    raise AssertionError(f"never {phases}: {seen_of(live_table).phase}")


def a_bank(live_table: LiveTable, amount: int = 10_000) -> Player:
    """Have the guest who is offered the bank take it; return them."""
    banker = asked(live_table)
    assert banker is not None
    answer(banker, live_table, "take_bank", amount)
    return banker


def a_staked_coup(live_table: LiveTable, amount: int = 10_000, stake: int = 4_000) -> tuple[Player, Player]:
    """Have the first guest asked take the bank, nobody call, the next one stake and the others pass: the banker is to
    draw the cards. Return banker and punter.
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
    """The same with the cards drawn. A natural may have settled it."""
    banker, punter = a_staked_coup(live_table, amount, stake)
    answer(banker, live_table, "deal_cards")
    return banker, punter


def cash(player: Player, mode: Mode = Mode.REAL) -> Account:
    """The player's account."""
    return Account.objects.get(owner=player, kind=AccountKind.CASH, mode=mode)


def before_the_croupier(kind: AccountKind) -> int:
    """What lies on all banks, stakes or house players' seats together."""
    return sum(account.balance or 0 for account in Account.objects.filter(kind=kind))
