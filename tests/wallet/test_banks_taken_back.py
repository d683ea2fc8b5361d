"""Returned banks and stakes: on the day of the stake, and with a voided coup."""

import pytest
from django.db import connection, transaction

from tests.builders import a_player
from tests.wallet.coups import Bank, Coup, a_bank, balance_of, broken, counted, coup_player, house_player
from wallet.ledger import round_reversal
from wallet.ledger.round_reversal import Undone
from wallet.models import Day, Mode

ADA, BEN, CY = 0, 1, 2


@pytest.fixture
def players():
    return [a_player(real=1000) for _ in range(3)]


@pytest.fixture
def coup_players(players):
    """Three players with 1000 each; the first will be banker."""
    return [coup_player(player) for player in players]


@pytest.fixture
def days_ago(owner):
    """Return a function that moves all counted totals some days back."""

    def do(days):
        for table in ("wallet_journal", "wallet_day"):
            owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        owner.execute(f"UPDATE wallet_journal SET at = at - interval '{days} days'")
        owner.execute(f"UPDATE wallet_day SET day = day - {days}")
        for table in ("wallet_journal", "wallet_day"):
            owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")

    return do


def on_days(player):
    """Return stakes and payouts of each day with any, the latest last, in days from today."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_today(%s::bigint)", [player.pk])
        (today,) = cursor.fetchone()
    days = Day.objects.filter(player=player).order_by("day").values_list("day", "staked", "paid")
    return {(day - today).days: (staked, paid) for day, staked, paid in days if staked or paid}


class TestOnLaterDays:
    """A returned stake makes room on the day of the stake, and on no other."""

    @pytest.mark.sweep
    def test_a_bank_goes_home(self, cloned_db, days_ago):
        ada, ben = a_player(real=1000), a_player(real=1000)
        bank = a_bank(coup_player(ada), 400)
        coup = Coup(bank)
        coup.lay(coup_player(ben), 400)
        coup.settle({}, tax=20)
        days_ago(1)
        bank.move("bank_back", -400)
        bank.move("bank_won", -380)
        assert on_days(ada) == {0: (0, 380)}
        assert broken() == {}

    @pytest.mark.sweep
    def test_a_stake_is_relieved(self, cloned_db, days_ago):
        ada, ben = a_player(real=1000), a_player(real=1000)
        coup = Coup(a_bank(coup_player(ada), 400))
        coup.lay(coup_player(ben), 400)
        days_ago(1)
        coup.lay(coup_player(ben), -100)
        assert on_days(ben) == {-1: (300, 0)}
        assert broken() == {}

    @pytest.mark.sweep
    def test_a_coup_is_voided(self, cloned_db, days_ago, without_voids):
        ada, ben = a_player(real=1000), a_player(real=1000)
        coup = Coup(a_bank(coup_player(ada), 400))
        coup.lay(coup_player(ben), 400)
        coup.lay(coup_player(ben), -100)
        coup.settle({coup_player(ben): 600})
        days_ago(3)
        undo(coup)
        without_voids()
        assert (on_days(ada), on_days(ben)) == ({-3: (400, 0)}, {})
        assert broken() == {}

    @pytest.mark.sweep
    def test_a_banker_gives_back_what_was_won(self, cloned_db, days_ago, without_voids):
        ada, ben = a_player(real=1000), a_player(real=1000)
        bank = a_bank(coup_player(ada), 400)
        coup = Coup(bank)
        coup.lay(coup_player(ben), 400)
        coup.settle({}, tax=20)
        days_ago(2)
        bank.move("bank_back", -400)
        bank.move("bank_won", -380)
        days_ago(1)
        undo(coup)
        without_voids()
        assert (on_days(ada), on_days(ben)) == ({}, {})
        assert broken() == {}


def undo(coup: Coup) -> dict[int, Undone]:
    with transaction.atomic():
        return {each.player_id: each for each in round_reversal.undo_round(coup.id)}


@pytest.mark.usefixtures("without_voids")
@pytest.mark.django_db
class TestVoided:
    @pytest.fixture
    def coup(self, coup_players):
        """A bank of 400 against 300 and 100."""
        coup = Coup(a_bank(coup_players[ADA], 400))
        coup.lay(coup_players[BEN], 400)
        coup.lay(coup_players[CY], 100)
        coup.lay(coup_players[BEN], -100)
        return coup

    def after(self, coup, coup_players):
        """Return the players' balances, the bank, and the remaining stakes."""
        return [balance_of(each.account) for each in coup_players], coup.bank.balance, coup.balance

    def test_before_it_is_settled(self, coup, coup_players, players):
        undone = undo(coup)
        assert self.after(coup, coup_players) == ([600, 1000, 1000], 400, 0)
        assert {each.player_id: each.returned for each in undone.values()} == {
            players[BEN].pk: 300,
            players[CY].pk: 100,
        }
        assert broken() == {}

    def test_once_the_bank_has_won(self, coup, coup_players, players):
        coup.settle({}, tax=20)
        undone = undo(coup)
        assert self.after(coup, coup_players) == ([600, 1000, 1000], 400, 0)
        assert [undone[player.pk].returned for player in players] == [-380, 300, 100]
        assert broken() == {}

    @pytest.mark.sweep
    def test_once_the_bank_has_lost(self, coup, coup_players, players):
        coup.settle({coup_players[BEN]: 600, coup_players[CY]: 200})
        undone = undo(coup)
        assert self.after(coup, coup_players) == ([600, 1000, 1000], 400, 0)
        assert [undone[player.pk].returned for player in players] == [400, -300, -100]
        assert broken() == {}

    @pytest.mark.sweep
    def test_a_draw(self, coup, coup_players):
        coup.settle({coup_players[BEN]: 300, coup_players[CY]: 100})
        undo(coup)
        assert self.after(coup, coup_players) == ([600, 1000, 1000], 400, 0)
        assert broken() == {}

    def test_once_a_bank_that_has_won_is_home(self, coup, coup_players, players):
        coup.settle({}, tax=20)
        go_home(coup.bank, won=380)
        undone = undo(coup)
        assert self.after(coup, coup_players) == ([1000, 1000, 1000], 0, 0)
        assert undone[players[ADA].pk] == Undone(players[ADA].pk, "SEK", -380, 0)
        assert counted(players[ADA]) == (0, 0)
        assert broken() == {}

    @pytest.mark.sweep
    def test_the_house_adds_what_a_banker_has_spent_since(self, coup, coup_players, players):
        coup.settle({}, tax=20)
        go_home(coup.bank, won=380)
        Coup(a_bank(coup_players[CY], 100)).lay(coup_players[ADA], 1280)
        assert undo(coup)[players[ADA].pk] == Undone(players[ADA].pk, "SEK", -380, 280)
        assert self.after(coup, coup_players) == ([0, 1000, 900], 0, 0)
        assert broken() == {}

    @pytest.mark.sweep
    def test_a_bank_that_is_played_for_elsewhere_is_left_alone(self, coup, coup_players, players):
        coup.settle({}, tax=20)
        go_home(coup.bank, won=380)
        elsewhere = a_bank(coup_players[ADA], 1280)
        assert undo(coup)[players[ADA].pk].shortfall == 280
        assert elsewhere.balance == 1280

    def test_the_house_adds_what_a_punter_has_spent_since(self, coup, coup_players, players):
        coup.settle({coup_players[BEN]: 600, coup_players[CY]: 200})
        a_bank(coup_players[BEN], 1300)
        assert undo(coup)[players[BEN].pk] == Undone(players[BEN].pk, "SEK", -300, 300)
        assert (balance_of(coup_players[BEN].account), coup.bank.balance) == (0, 400)
        assert broken() == {}

    @pytest.mark.sweep
    def test_a_lost_bank_that_is_over_is_restored(self, coup, coup_players):
        coup.settle({coup_players[BEN]: 600, coup_players[CY]: 200})
        undo(coup)
        coup.bank.move("bank_back", -400)
        assert self.after(coup, coup_players) == ([1000, 1000, 1000], 0, 0)
        assert broken() == {}

    @pytest.mark.sweep
    def test_what_a_later_coup_lost_of_the_winnings_is_the_bankers(self, coup, coup_players, players):
        coup.settle({}, tax=20)
        later = Coup(coup.bank)
        later.lay(coup_players[CY], 780)
        later.settle({coup_players[CY]: 1560})
        undo(coup)
        assert self.after(coup, coup_players) == ([220, 1000, 1780], 0, 0)
        assert counted(players[ADA]) == (400, -380)
        assert broken() == {}

    @pytest.mark.sweep
    def test_house_players_lose_what_they_won_and_the_house_makes_up_the_rest(self):
        player = a_player(free=1000)
        ada, robot, other = coup_player(player, Mode.FREE), house_player(300), house_player(100)
        coup = Coup(a_bank(robot, 300, mode=Mode.FREE))
        coup.lay(ada, 200)
        coup.lay(other, 100)
        coup.settle({}, tax=15)
        go_home(coup.bank, won=285)
        a_bank(robot, 585, mode=Mode.FREE)
        assert list(undo(coup).values()) == [Undone(player.pk, "SEK", 200, 0)]
        assert [balance_of(each.account) for each in (ada, robot, other)] == [1000, 0, 100]
        assert broken() == {}

    def test_locks_no_bank_or_stakes_of_other_coups(self, coup, coup_players, players):
        coup.settle({}, tax=20)
        for _ in range(3):
            other = Coup(a_bank(coup_players[ADA], 10))
            other.lay(coup_players[BEN], 10)
        locked = round_reversal._lock({coup.bank.account: 0, coup_players[BEN].account: 0})
        assert set(locked) == {coup.bank.account, coup_players[BEN].account, coup_players[ADA].account}


def go_home(bank: Bank, *, won: int) -> None:
    bank.move("bank_back", won - bank.balance)
    bank.move("bank_won", -won)
