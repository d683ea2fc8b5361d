"""Banks, stakes and chips of house players: movements, refusals, and limits."""

from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from players.models import LimitKind, Period
from players.protection.limits import set_limit
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.wallet import holds
from tests.wallet.coups import Coup, a_bank, balance_of, broken, counted, coup_player, house_player
from tests.wallet.money_moves import open_table_account, write
from wallet import ledger
from wallet.ledger import Journal, Line
from wallet.models import AccountKind, Mode

ADA, BEN = 0, 1


@pytest.fixture
def players():
    return [a_player(real=1000) for _ in range(3)]


@pytest.fixture
def coup_players(players):
    """Three players with 1000 each; the first will be banker."""
    return [coup_player(player) for player in players]


def limit(player, kind, amount):
    set_limit(player=player, kind=LimitKind(kind), period=Period.DAY, amount=amount, by=str(player))


def refused(error, *journals):
    with pytest.raises(error), transaction.atomic():
        write(*journals)


@pytest.mark.django_db
class TestHowItMoves:
    def test_a_bank_won_and_gone_home(self, coup_players):
        ada, ben, cy = coup_players
        bank = a_bank(ada, 400)
        coup = Coup(bank)
        coup.lay(ben, 300)
        coup.lay(cy, 100)
        assert (balance_of(ada.account), bank.balance, coup.balance) == (600, 400, 400)
        coup.settle({}, tax=20)
        assert (bank.balance, coup.balance) == (780, 0)
        bank.move("bank_back", -400)
        bank.move("bank_won", -380)
        assert [balance_of(each.account) for each in coup_players] == [1380, 700, 900]
        assert broken() == {}

    def test_a_bank_lost_and_what_was_not_covered_gone_home(self, coup_players):
        ada, ben, _ = coup_players
        bank = a_bank(ada, 400)
        coup = Coup(bank)
        coup.lay(ben, 300)
        coup.settle({ben: 600})
        bank.move("bank_back", -100)
        assert [balance_of(each.account) for each in coup_players] == [700, 1300, 1000]
        assert broken() == {}

    def test_a_draw_and_a_stake_that_is_relieved(self, coup_players):
        ada, ben, cy = coup_players
        coup = Coup(a_bank(ada, 400))
        coup.lay(ben, 400)
        coup.lay(cy, 150)
        coup.lay(ben, -150)
        coup.settle({ben: 250, cy: 150})
        assert coup.bank.balance == 400
        assert broken() == {}

    def test_house_players_against_a_player_for_free_money(self):
        ada = coup_player(a_player(free=1000), Mode.FREE)
        robot, other = house_player(500), house_player(500)
        coup = Coup(a_bank(robot, 300, mode=Mode.FREE))
        coup.lay(ada, 200)
        coup.lay(other, 100)
        coup.settle({ada: 400, other: 200})
        assert [balance_of(each.account) for each in (ada, robot, other)] == [1200, 200, 600]
        assert broken() == {}

    def test_a_bid_is_held_and_returned_a_house_players_too(self, coup_players):
        for bidder in (coup_players[ADA], house_player(500)):
            sale = uuid4()
            has = balance_of(bidder.account)
            assert holds.hold(sale, bidder.account, 300) == has - 300
            assert holds.hold(sale, bidder.account, 0) == has

    def test_opening_again_finds_the_account(self, coup_players, players):
        bank = a_bank(coup_players[ADA], 100)
        asked = {"currency": "SEK", "mode": Mode.REAL, "owner_id": players[ADA].pk}
        assert open_table_account(AccountKind.BANK, bank.tenure, **asked) == bank.account


@pytest.mark.django_db
class TestRefused:
    @pytest.mark.parametrize("amount", [1001, 5000])
    def test_no_credit_to_a_banker_or_a_punter(self, coup_players, amount):
        with pytest.raises(ledger.InsufficientFunds), transaction.atomic():
            a_bank(coup_players[ADA], amount)
        coup = Coup(a_bank(coup_players[ADA], 1000))
        with pytest.raises(ledger.InsufficientFunds), transaction.atomic():
            coup.lay(coup_players[BEN], amount)

    def test_a_coup_pays_no_more_than_stakes_and_bank(self, coup_players):
        coup = Coup(a_bank(coup_players[ADA], 100))
        coup.lay(coup_players[BEN], 100)
        with pytest.raises(ledger.InsufficientFunds), transaction.atomic():
            coup.settle({coup_players[BEN]: 201})

    def test_what_a_bid_holds_is_neither_staked_nor_put_up(self, coup_players):
        holds.hold(uuid4(), coup_players[ADA].account, 700)
        with pytest.raises(ledger.InsufficientFunds), transaction.atomic():
            a_bank(coup_players[ADA], 301)

    @pytest.mark.parametrize("kind", sample(["stake", "deposit", "correction", "void", "seat_funded", "leave"], 2))
    def test_a_bank_moves_by_its_own_journals_alone(self, coup_players, kind):
        bank = a_bank(coup_players[ADA], 100)
        lines = bank.lines((coup_players[ADA].account, 50), -50)
        refused(ledger.WrongPurpose, Journal(uuid4(), kind, lines, bank.tenure))

    def test_nor_by_those_of_another_tenure(self, coup_players):
        bank, other = a_bank(coup_players[ADA], 100), a_bank(coup_players[ADA], 100)
        for kind in ("bank", "bank_back", "bank_won"):
            refused(
                ledger.WrongPurpose,
                Journal(uuid4(), kind, bank.lines((coup_players[ADA].account, 9), -9), other.tenure),
            )

    def test_a_bank_settles_with_the_stakes_of_a_coup_and_not_alone(self, coup_players):
        bank = a_bank(coup_players[ADA], 100)
        refused(
            ledger.WrongPurpose, Journal(uuid4(), "settle", bank.lines((coup_players[BEN].account, 50), -50), uuid4())
        )

    def test_stakes_move_for_their_own_coup_alone(self, coup_players):
        coup, other = Coup(a_bank(coup_players[ADA], 100)), Coup(a_bank(coup_players[ADA], 100))
        coup.lay(coup_players[BEN], 50)
        for kind in ("stake", "settle", "void", "correction"):
            stolen = other.journal(kind, (coup.stakes, -50), (coup_players[BEN].account, 50))
            refused(ledger.WrongPurpose, stolen)
        refused(ledger.WrongPurpose, coup.journal("correction", (coup.stakes, -50), (coup_players[BEN].account, 50)))

    def test_a_coup_pays_nobody_who_has_not_staked_in_it(self, coup_players):
        ada, ben, cy = coup_players
        coup = Coup(a_bank(ada, 100))
        coup.lay(ben, 50)
        for stranger in (cy, ada):
            with pytest.raises(ledger.WrongPurpose), transaction.atomic():
                coup.settle({stranger: 100})

    def test_between_coups_a_bank_goes_to_nobody_but_its_banker(self, coup_players):
        bank = a_bank(coup_players[ADA], 100)
        for kind in ("bank_back", "bank_won", "void_transfer"):
            lines = bank.lines((coup_players[BEN].account, 50), -50)
            refused(ledger.BetweenPlayers, Journal(uuid4(), kind, lines, bank.tenure))

    def test_one_players_money_is_not_another_ones_bank(self, coup_players):
        bank = a_bank(coup_players[ADA], 100)
        refused(
            ledger.BetweenPlayers,
            Journal(uuid4(), "bank", bank.lines((coup_players[BEN].account, -50), 50), bank.tenure),
        )

    def test_nor_do_house_players_and_players_give_each_other_anything(self):
        ada, robot = coup_player(a_player(free=1000), Mode.FREE), house_player(500)
        for amount in (100, -100):
            lines = (Line(ada.account, "SEK", "F", amount), Line(robot.account, "SEK", "F", -amount))
            refused(ledger.BetweenPlayers, Journal(uuid4(), "stake", lines))

    @pytest.mark.parametrize(
        ("kind", "mode", "has_owner"),
        [
            (AccountKind.SEAT, Mode.REAL, False),
            (AccountKind.SEAT, Mode.FREE, True),
            (AccountKind.BANK, Mode.REAL, False),
            (AccountKind.STAKES, Mode.REAL, True),
            (AccountKind.CASH, Mode.REAL, True),
            (AccountKind.HOUSE, Mode.REAL, False),
        ],
    )
    def test_nothing_else_opens(self, players, kind, mode, has_owner):
        with pytest.raises(IntegrityError), transaction.atomic():
            open_table_account(
                kind, uuid4(), currency="SEK", mode=mode, owner_id=players[ADA].pk if has_owner else None
            )

    def test_money_reserved_for_a_bank_covers_nothing_else(self, coup_players, players):
        bank = a_bank(coup_players[ADA], 100)
        for kind, owner in ((AccountKind.STAKES, None), (AccountKind.BANK, players[BEN].pk)):
            with pytest.raises(IntegrityError), transaction.atomic():
                open_table_account(kind, bank.tenure, currency="SEK", mode=Mode.REAL, owner_id=owner)


@pytest.mark.django_db
class TestLimits:
    @pytest.mark.parametrize("kind", ["stake", "loss"])
    def test_a_bank_put_up_is_held_to_them(self, players, coup_players, kind):
        limit(players[ADA], kind, 500)
        a_bank(coup_players[ADA], 300)
        with pytest.raises(ledger.LimitReached) as reached, transaction.atomic():
            a_bank(coup_players[ADA], 201)
        assert (reached.value.kind, reached.value.left) == (kind, 200)
        a_bank(coup_players[ADA], 200)

    def test_so_is_a_bid(self, players, coup_players):
        limit(players[ADA], "stake", 500)
        holds.hold(uuid4(), coup_players[ADA].account, 300)
        with pytest.raises(ledger.LimitReached), transaction.atomic():
            a_bank(coup_players[ADA], 201)

    def test_what_goes_home_unlost_is_staked_no_more_and_what_was_won_is_paid(self, players, coup_players):
        bank = a_bank(coup_players[ADA], 400)
        coup = Coup(bank)
        coup.lay(coup_players[BEN], 400)
        coup.settle({}, tax=20)
        assert (counted(players[ADA]), counted(players[BEN])) == ((400, 0), (400, 0))
        bank.move("bank_back", -400)
        bank.move("bank_won", -380)
        assert counted(players[ADA]) == (0, 380)

    def test_what_a_bank_loses_stays_staked(self, players, coup_players):
        bank = a_bank(coup_players[ADA], 400)
        coup = Coup(bank)
        coup.lay(coup_players[BEN], 300)
        coup.settle({coup_players[BEN]: 600})
        bank.move("bank_back", -100)
        assert (counted(players[ADA]), counted(players[BEN])) == ((300, 0), (300, 600))

    def test_a_stake_that_is_relieved_is_staked_no_more(self, players, coup_players):
        coup = Coup(a_bank(coup_players[ADA], 400))
        coup.lay(coup_players[BEN], 400)
        coup.lay(coup_players[BEN], -150)
        assert counted(players[BEN]) == (250, 0)

    def test_free_money_counts_nowhere(self):
        player = a_player(free=1000)
        a_bank(coup_player(player, Mode.FREE), 400, mode=Mode.FREE)
        assert counted(player) == (0, 0)
