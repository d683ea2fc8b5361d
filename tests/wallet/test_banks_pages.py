"""The money of a bank is shown to its banker and to staff."""

from html import unescape
from uuid import uuid4

import pytest

from tests.builders import a_player, a_verified_player
from tests.people import a_member_of_staff, a_visitor
from tests.wallet.coups import Coup, a_bank, coup_player
from tests.wallet.payout_builders import an_account
from wallet import withdrawals
from wallet.ledger import accounts, statements
from wallet.ledger.statements import Liability, liabilities
from wallet.models import Mode

pytestmark = pytest.mark.django_db


def page_of(user, address):
    visitor = a_visitor()
    visitor.force_login(user)
    return unescape(visitor.get(address).text)


@pytest.fixture
def banker():
    return a_verified_player(real=100_000, free=100_000)


class TestToTheBanker:
    @pytest.mark.sweep
    @pytest.mark.parametrize("mode", Mode)
    def test_the_cashier_shows_the_money_there(self, banker, mode):
        bank = a_bank(coup_player(banker, mode), 40_000, mode=mode)
        assert accounts.totals(banker.pk).in_banks == {mode: 40_000}
        assert "You have another SEK\u00a0400.00 in your bank at Chemin de Fer." in page_of(banker.user, "/en/cashier/")
        bank.move("bank_back", -40_000)
        assert accounts.totals(banker.pk).in_banks == {}
        assert "in your bank" not in page_of(banker.user, "/en/cashier/")

    @pytest.mark.sweep
    def test_movements_have_their_names_and_those_of_a_bank_lead_to_no_round(self, banker):
        punter, bank = a_player(real=100_000), a_bank(coup_player(banker), 400)
        coup = Coup(bank)
        coup.lay(coup_player(punter), 400)
        coup.lay(coup_player(punter), -100)
        coup.settle({}, tax=15)
        bank.move("bank_back", -400)
        bank.move("bank_won", -285)
        theirs, others = (statements.statement(each.pk, Mode.REAL).movements for each in (banker, punter))
        assert [(str(each.name), each.amount, each.round_id) for each in theirs[:3]] == [
            ("Bank winnings", 285, None),
            ("Bank returned", 400, None),
            ("Bank put up", -400, None),
        ]
        assert [(str(each.name), each.amount, each.round_id) for each in others[:2]] == [
            ("Stake returned", 100, coup.id),
            ("Stake", -400, coup.id),
        ]

    @pytest.mark.sweep
    def test_a_player_who_asks_for_more_than_is_free_reads_about_the_bank(self, banker):
        a_bank(coup_player(banker), 40_000)
        with pytest.raises(withdrawals.NotEnough, match="returns to your account when you give up the bank"):
            withdrawals.request(player=banker, amount=60_001, account=an_account(banker), key=uuid4())


class TestToStaff:
    def test_what_the_house_owes_counts_banks_as_held(self, banker):
        a_bank(coup_player(banker), 40_000)
        assert Liability("SEK", Mode.REAL, 1, held=40_000, available=60_000, pending=0, total=100_000) in liabilities()

    def test_the_ledger_says_whose_bank_it_is_and_leads_to_no_round(self, banker):
        bank = a_bank(coup_player(banker), 40_000)
        page = page_of(a_member_of_staff("finance").user, "/staff/ledger/")
        assert f"player:{banker.pk}</a>, bank" in page
        assert f"?round={bank.tenure}" not in page

    @pytest.mark.sweep
    def test_a_players_page_lists_banks_that_hold_something(self, banker):
        a_bank(coup_player(banker), 40_000)
        a_bank(coup_player(banker), 100).move("bank_back", -100)
        page = page_of(a_member_of_staff("support").user, f"/staff/players/{banker.pk}/")
        assert page.count("In a bank") == 1
