"""Random evenings of Chemin de Fer: after every move engine, ledger and rows agree.

Players decide at random, come, leave and stop answering. At the end nothing is left on the table.
"""

from dataclasses import dataclass, field
from random import Random

import pytest
from django.db.models import Sum

from games.chemin import play
from games.chemin.apply import name_of
from games.engine.chemin import Presence, options
from games.engine.chemin.actions import MakeCall
from games.engine.chemin.steps.phases import IN_COUP
from games.errors import PlayError
from games.models import CheminCoup, CheminMove, CheminSeat, CheminTenure, LiveRound, LiveTable, Participation, Round
from games.models import Phase as RoundPhase
from players.models import Player
from tests.builders import a_player
from tests.chemin.at_table import a_chemin_table, a_practice_table, answer, sit, step, table_state_of
from tests.harness.sweeps import sample
from wallet.invariants import verify
from wallet.models import Account, AccountKind, Hold, Mode

pytestmark = pytest.mark.django_db

MOVES = 80
MINIMUM, MAXIMUM = 1_000, 8_000  # close enough that banks grow beyond the maximum
PURSES = (900, 5_000, 30_000, 30_000, 200_000)


@dataclass
class Evening:
    """A table, its players, and the actions that were done."""

    chance: Random
    table: LiveTable
    players: list[Player] = field(default_factory=list)
    done: set[str] = field(default_factory=set)

    def go_on(self) -> None:
        """Do one random thing at the table."""
        roll = self.chance.random()
        table_state = table_state_of(self.table)
        if roll < 0.06:
            self.try_to("join", self.chance.choice(self.players))
        elif roll < 0.09 and table_state.seats:
            self.try_to(self.chance.choice(("leave", "step_away", "come_back")), self.chance.choice(self.players))
        elif roll < 0.16:
            step(self.table)
        else:
            self.decide()

    def decide(self) -> None:
        """Choose a random option for the player whose turn it is, with any allowed amount."""
        table_state = table_state_of(self.table)
        able = [seat for seat in table_state.seats.values() if options(table_state.state, seat.number)]
        if not able:
            for player in self.players:
                self.try_to("join", player)
                self.try_to("come_back", player)
            return
        seat = self.chance.choice(able)
        option = self.chance.choice(options(table_state.state, seat.number))
        amount = getattr(option.action, "amount", None)
        if option.lowest is not None and option.highest is not None:
            between = self.chance.randint(option.lowest, option.highest)
            amount = self.chance.choice((option.lowest, option.highest, between))
        call = option.action.call if isinstance(option.action, MakeCall) else None
        assert seat.player is not None
        answer(seat.player, self.table, name_of(type(option.action)), amount, call)
        self.done.add(name_of(type(option.action)))

    def try_to(self, what: str, player: Player) -> None:
        """Try an action that may be refused."""
        try:
            getattr(play, what)(player=player, live_table_id=self.table.pk)
        except PlayError:
            return
        self.done.add(what)

    def everybody_goes(self) -> None:
        """Let all leave; the croupier finishes the coup."""
        for player in self.players:
            self.try_to("leave", player)
        while table_state_of(self.table).seats:
            assert step(self.table)

    def money(self) -> int:
        """Return the money of all players, including banks and stakes."""
        kinds = (AccountKind.CASH, AccountKind.BANK, AccountKind.STAKES)
        theirs = Account.objects.filter(kind__in=kinds, mode=Mode.REAL, currency="SEK")
        return theirs.aggregate(sum=Sum("balance"))["sum"] or 0


def assert_engine_and_ledger_agree(table: LiveTable) -> None:
    table_state = table_state_of(table)
    state = table_state.state
    for seat in state.seats:
        account = Account.objects.get(pk=table_state.seats[seat.number].account_id)
        assert (account.balance or 0) - account.held == seat.balance
    banks = Account.objects.filter(kind=AccountKind.BANK, balance__gt=0)
    assert [bank.balance for bank in banks] == ([state.bank.amount] if state.bank and state.bank.amount else [])
    if state.bank:
        assert table_state.tenure
        assert table_state.tenure.account_id in {bank.pk for bank in banks}
    stored = Account.objects.filter(kind=AccountKind.STAKES).aggregate(sum=Sum("balance"))["sum"] or 0
    assert stored == (state.running_coup.at_risk if state.phase in IN_COUP else 0)
    bids = {table_state.seats[bid.seat].account_id: bid.amount for bid in (state.sale.bids if state.sale else ())}
    assert dict(Hold.objects.values_list("account_id", "amount")) == bids
    assert (table_state.live_round is not None) is (state.phase in IN_COUP)
    presences = {seat.number: seat.presence for seat in state.seats}
    assert {seat_number for seat_number, seat in table_state.seats.items() if seat.why_left} == {
        seat_number for seat_number, presence in presences.items() if presence is Presence.LEAVING
    }


@pytest.mark.parametrize("number", sample(range(2), 1))
def test_whatever_players_do_engine_ledger_and_rows_tell_the_same(number):
    chance = Random(f"evening {number}")
    table = a_chemin_table(seat_count=5, minimum=MINIMUM, maximum=MAXIMUM)
    evening = Evening(chance, table, [a_player(real=purse) for purse in PURSES])
    for player in evening.players[:4]:
        sit(player, table)
    brought = evening.money()
    for _ in range(MOVES):
        evening.go_on()
        assert_engine_and_ledger_agree(table)
    evening.everybody_goes()
    assert not Account.objects.filter(kind__in=(AccountKind.BANK, AccountKind.STAKES)).exclude(balance=0).exists()
    assert not Hold.objects.exists()
    tax = CheminCoup.objects.aggregate(sum=Sum("tax"))["sum"]
    assert evening.money() == brought - tax
    assert [row for check in verify.run() for row in check.rows] == []
    assert_every_coup_has_one_outcome(table)
    numbers = list(CheminMove.objects.filter(live_table=table).order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    assert not CheminSeat.objects.filter(left_at=None).exists()
    assert not CheminTenure.objects.filter(ended_at=None).exists()
    assert {"take_bank", "pass", "deal_cards", "lay_stake", "make_call"} <= evening.done


def assert_every_coup_has_one_outcome(table: LiveTable) -> None:
    rounds = LiveRound.objects.filter(live_table=table)
    assert {each.phase for each in rounds} <= {RoundPhase.SETTLED, RoundPhase.VOID}
    assert set(Round.objects.values_list("pk", flat=True)) == {
        each.pk for each in rounds if each.phase == RoundPhase.SETTLED
    }
    for coup in CheminCoup.objects.prefetch_related("stakes"):
        parts = {part.player_id: part for part in Participation.objects.filter(round_id=coup.pk)}
        stakes = list(coup.stakes.all())
        assert coup.outcome
        assert coup.at_risk == sum(stake.stake for stake in stakes)
        assert {stake.player_id for stake in stakes} | {coup.banker_player_id} == set(parts)
        assert sum(part.paid - part.staked for part in parts.values()) == -coup.tax
        assert all(part.balance_after - part.balance_before == part.paid - part.staked for part in parts.values())


@pytest.mark.sweep
def test_at_a_practice_table_house_players_keep_the_same_books():
    table = a_practice_table(3, seat_count=5, minimum=MINIMUM, maximum=MAXIMUM)
    evening = Evening(Random("practice"), table, [a_player(free=30_000) for _ in range(2)])
    for player in evening.players:
        sit(player, table)
    for _ in range(60):
        seat = table_state_of(table).asked
        if seat is not None and seat.player is not None and evening.chance.random() < 0.8:
            evening.decide()
        else:
            step(table)
        assert_engine_and_ledger_agree(table)
    evening.everybody_goes()
    assert not Account.objects.filter(kind__in=(AccountKind.BANK, AccountKind.STAKES)).exclude(balance=0).exists()
    assert [row for check in verify.run() for row in check.rows] == []
    assert CheminCoup.objects.filter(banker_player=None).exists()
    players = {player.pk for player in evening.players}
    assert set(Participation.objects.values_list("player_id", flat=True)) <= players
