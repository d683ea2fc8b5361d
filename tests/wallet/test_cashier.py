"""Free money and the cashier: the service, then the page, with htmx and without JavaScript."""

import re
from uuid import uuid4

import pytest
from django.test import Client

from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.people import events
from tests.wallet import wholeness
from tests.wallet.money_moves import a_round
from wallet import cashier
from wallet.ledger import accounts
from wallet.models import Journal, Mode
from wallet.money import format_money

pytestmark = pytest.mark.django_db


@pytest.fixture
def player():
    return a_player()


def balance(player, mode=Mode.REAL):
    return accounts.balance(player.pk, mode)


class TestFreeMoney:
    @pytest.mark.parametrize("jurisdiction", ["SE", "DK", "RO", "DE", "GB"])
    def test_topping_up_brings_the_standard_amount(self, jurisdiction):
        player = a_player(jurisdiction)
        cashier.top_up_free(player=player, key=uuid4())
        assert balance(player, Mode.FREE) == cashier.FREE_MONEY[player.currency]
        assert balance(player) == 0

    def test_topping_up_adds_what_is_missing(self):
        player = a_player(free=123)
        cashier.top_up_free(player=player, key=uuid4())
        assert balance(player, Mode.FREE) == cashier.FREE_MONEY["SEK"]
        (event,) = events("top_up.posted", on=str(player))
        assert event["data"]["amount"] == cashier.FREE_MONEY["SEK"] - 123

    def test_a_player_with_enough_gets_none(self):
        player = a_player(free=cashier.FREE_MONEY["SEK"])
        with pytest.raises(cashier.NothingToTopUp):
            cashier.top_up_free(player=player, key=uuid4())

    def test_the_same_key_pays_once(self, player):
        key = uuid4()
        first, again = (cashier.top_up_free(player=player, key=key) for _ in range(2))
        assert (first.repeated, again.repeated) == (False, True)
        assert first.journal_id == again.journal_id

    def test_a_production_house_has_free_money_too(self, player, settings):
        settings.DEMO = False
        cashier.top_up_free(player=player, key=uuid4())
        assert balance(player, Mode.FREE) > 0


@pytest.fixture
def visitor(player):
    client = Client()
    client.force_login(player.user)
    return client


def page_of(visitor, query="", *, language="en"):
    return visitor.get(f"/{language}/cashier/{query}").text


def top_up(visitor, *, key=None, htmx=True):
    headers = {"HX-Request": "true"} if htmx else {}
    return visitor.post("/en/cashier/top-up/", {"key": str(key or uuid4())}, headers=headers)


def key_on(page, form):
    """Return the hidden key of a form."""
    (found,) = re.findall(rf'action="/en/cashier/{form}/".*?name="key" value="([0-9a-f-]+)"', page, re.DOTALL)
    return found


class TestThePage:
    def test_shows_both_balances(self):
        player = a_player(real=123_450, free=500)
        client = Client()
        client.force_login(player.user)
        page = page_of(client, language="sv")
        assert format_money(123_450, "SEK", "sv") in page
        assert format_money(500, "SEK", "sv") in page

    def test_every_form_has_a_key_of_its_own_that_is_new_on_every_page(self, visitor):
        first, second = page_of(visitor), page_of(visitor)
        keys = {key_on(page, form) for page in (first, second) for form in ("deposit", "top-up")}
        assert len(keys) == 4

    def test_labels_the_sandbox_plainly(self, visitor):
        assert "Sandbox" in page_of(visitor)

    def test_offers_no_deposit_where_there_is_no_provider(self, visitor, settings):
        settings.PAYMENT_VARIANTS = {}
        page = page_of(visitor)
        assert "/en/cashier/deposit/" not in page
        assert "there is no payment provider" in page

    def test_is_for_players(self):
        assert Client().get("/en/cashier/").status_code == 302


class TestToppingUp:
    def test_one_click_fills_up_free_money(self, visitor, player):
        answer = top_up(visitor)
        standard = cashier.FREE_MONEY["SEK"]
        assert balance(player, Mode.FREE) == standard
        assert f"You now have {format_money(standard, 'SEK', 'en')} of play money." in answer.text

    def test_without_javascript_it_leads_back_to_the_page(self, visitor):
        answer = top_up(visitor, htmx=False)
        assert (answer.status_code, answer["Location"]) == (302, "/en/cashier/?mode=free")

    def test_with_enough_it_says_so(self, visitor):
        top_up(visitor)
        answer = top_up(visitor)
        assert answer.status_code == 200
        assert "You already have at least" in answer.text

    def test_a_form_without_its_key_is_refused(self, visitor, player):
        answer = visitor.post("/en/cashier/top-up/", {}, headers={"HX-Request": "true"})
        assert "This form was incomplete. Try again." in answer.text
        assert balance(player, Mode.FREE) == 0


class TestMovements:
    def numbers(self, page):
        """Return the listed amounts as text."""
        return re.findall(r'<td class="num">([+−]SEK\xa0[\d,.]+)</td>', page)

    def test_the_newest_come_first_with_what_they_were_for(self):
        player = a_player(real=100_000)
        a_round(player, staked=5000, paid=9750)
        client = Client()
        client.force_login(player.user)
        page = page_of(client)
        assert self.numbers(page) == ["+SEK\xa097.50", "−SEK\xa050.00", "+SEK\xa01,000.00"]
        assert [page.index(name) for name in ("Payout", "Stake", "Deposit</td>")] == sorted(
            page.index(name) for name in ("Payout", "Stake", "Deposit</td>")
        )

    def test_real_and_free_money_are_listed_apart(self):
        player = a_player(real=100, free=700)
        client = Client()
        client.force_login(player.user)
        assert self.numbers(page_of(client, "?mode=real")) == ["+SEK\xa01.00"]
        assert self.numbers(page_of(client, "?mode=free")) == ["+SEK\xa07.00"]

    def test_pages_leave_none_out_and_show_none_twice(self):
        player = a_player(real=100_000)
        for stake in range(1, 24):
            a_round(player, staked=stake, paid=0)
        client = Client()
        client.force_login(player.user)
        first = page_of(client)
        older = re.findall(r'href="[^"?]*(\?mode=real&amp;before=\d+)"', first)
        assert len(older) == 1
        second = page_of(client, older[0].replace("&amp;", "&"))
        amounts = self.numbers(first) + self.numbers(second)
        assert len(amounts) == len(set(amounts)) == 24
        assert "Older transactions" not in second

    @pytest.mark.parametrize(
        "query", sample(["?mode=gold", "?mode=real&before=x", "?mode=real&before=-1", "?before=9e99"], 1)
    )
    def test_a_garbled_address_shows_the_newest(self, visitor, query):
        assert visitor.get(f"/en/cashier/{query}").status_code == 200

    def test_a_round_leads_to_its_replay(self):
        player = a_player(real=1000)
        a_round(player, staked=100, paid=0)
        round_id = Journal.objects.get(kind="stake").round_id
        client = Client()
        client.force_login(player.user)
        assert f"/en/history/{round_id}/" in page_of(client)

    def test_nobody_sees_another_player_s(self, visitor):
        other, theirs = Client(), format_money(777_00, "SEK", "en")
        other.force_login(a_player(real=777_00).user)
        assert theirs in page_of(other)
        page = page_of(visitor)
        assert theirs not in page
        assert self.numbers(page) == []


def test_the_ledger_is_whole_afterwards(player, visitor):
    top_up(visitor)
    a_round(a_player(real=1000), staked=100, paid=250)
    assert [check.invariant.name for check in wholeness.checks() if check.rows] == []
