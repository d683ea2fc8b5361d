"""The pages of Golden Baccarat over Django's test client: answers to clicks, in five languages."""

import re
from html import unescape
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import translation

from games.models import Participation, SoloSeat
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_seat, a_table
from tests.harness.sweeps import sample
from wallet.ledger import accounts, purse
from wallet.models import Mode
from wallet.money import format_money

MONEY = 1_000_000
LANGUAGES = ("sv", "da", "ro", "de", "en")


@pytest.fixture
def player(db):
    return a_player(real=MONEY, free=MONEY)


@pytest.fixture
def table(db):
    return a_golden_table()


@pytest.fixture
def visitor(player, table) -> Client:
    client = Client()
    client.force_login(player.user)
    return client


def address(language="en", mode="real", then=""):
    return f"/{language}/table/golden/{mode}/{then}"


def look(visitor, language="en", mode="real") -> str:
    return unescape(visitor.get(address(language, mode)).text)


def click(visitor, player, action, *, language="en", mode="real", htmx=True, chip=1000):
    seat = SoloSeat.objects.select_related("table__version").get(player=player, mode="R" if mode == "real" else "F")
    assert seat.table.version is not None
    form = {
        "action": action,
        "round_id": seat.round_id,
        "slip_version": seat.slip_version,
        "table_version": seat.table.version.number,
        "chip": chip,
    }
    return visitor.post(address(language, mode, "play/"), form, headers={"HX-Request": "true"} if htmx else {})


def rebuy(visitor, amount, *, language="en", mode="real", key=None):
    """Send the form and return the next page."""
    data = {"amount": amount, "key": key or uuid4()}
    return unescape(visitor.post(address(language, mode, "re-buy/"), data, follow=True).text)


def says(text, english, language, **values):
    """Return True if the page has this message in the language."""
    with translation.override(language):
        message = translation.gettext(english)
        assert language == "en" or message != english, f"not translated into {language}"
    return (message % values if values else message) in unescape(text)


@pytest.mark.sweep
def test_the_table_shows_its_own_controls_and_no_others(visitor, player):
    a_purse(player, MONEY)
    page = look(visitor)
    buttons = set(re.findall(r'name="action" value="([^"]+)"', page))
    assert {"clear", "bet:player", "take:player", "bet:tie", "deal"} <= buttons
    assert not buttons & {"undo", "double", "rebet", "double_deal", "rebet_deal"}


@pytest.mark.parametrize("mode", sample(["real", "free"], 1))
def test_a_whole_round_again_and_again_by_htmx(visitor, player, mode):
    look(visitor, mode=mode)
    rebuy(visitor, "1000", mode=mode)
    click(visitor, player, "bet:banker", mode=mode)
    click(visitor, player, "bet:tie", mode=mode)
    click(visitor, player, "take:tie", mode=mode)
    for _ in range(2):
        answer = click(visitor, player, "deal", mode=mode)
        assert answer.text.lstrip().startswith('<section class="game')
    parts = list(Participation.objects.order_by("id"))
    assert [part.staked for part in parts] == [1000, 1000]
    assert format_money(parts[-1].balance_after, "SEK", "en") in unescape(answer.text)


@pytest.mark.sweep
def test_every_button_works_without_javascript(visitor, player):
    look(visitor)
    a_purse(player, MONEY // 2)
    for action in ("bet:player", "bet:tie", "take:tie", "deal", "deal", "clear"):
        answer = click(visitor, player, action, htmx=False)
        assert (answer.status_code, answer["Location"]) == (302, address())
    assert Participation.objects.count() == 2
    assert SoloSeat.objects.get().slip == {}


@pytest.mark.sweep
def test_the_result_stays_in_sight_with_the_bets_that_stay(visitor, player, table):
    a_purse(player, MONEY)
    played = a_round(player, table, player=1000)
    page = look(visitor)
    wager = Participation.objects.get(round_id=played.round_id).wagers.get()
    assert f"spot__bet--{wager.result}" in page
    click(visitor, player, "bet:player")
    assert "spot__bet--open" in look(visitor)


@pytest.mark.sweep
def test_limits_and_version_are_in_view(visitor):
    page = look(visitor)
    ineligibility = re.search(r'<p class="limits">(.*?)</p>', page, re.DOTALL)
    assert ineligibility is not None
    for amount in (1000, 1_000_000, 120_000):
        assert format_money(amount, "SEK", "en") in ineligibility[1]
    assert "Version 1.0" in page


@pytest.mark.sweep
def test_the_header_and_the_cashier_keep_the_cash_account(visitor, player):
    rebuy(visitor, "100")
    page = unescape(visitor.get("/en/cashier/").text)
    assert format_money(MONEY - 10_000, "SEK", "en") in page
    assert "Transfer to Golden Baccarat" in page


@pytest.mark.parametrize("language", sample(LANGUAGES, 1))
class TestSentences:
    @pytest.mark.sweep
    def test_sides_that_exclude_each_other(self, visitor, player, language):
        look(visitor, language)
        a_purse(player, MONEY)
        click(visitor, player, "bet:player")
        answer = click(visitor, player, "bet:banker", language=language)
        names = {"sv": ("Spelare", "Bank"), "da": ("Spiller", "Bank"), "ro": ("Jucător", "Banca")}
        one, other = names.get(language, ("Spieler", "Bank") if language == "de" else ("Player", "Banker"))
        english = "%(one)s and %(other)s cannot be combined. Remove one of them first."
        assert says(answer.text, english, language, one=one, other=other)

    @pytest.mark.sweep
    def test_a_bet_over_the_balance_of_the_game(self, visitor, player, language):
        look(visitor, language)
        answer = click(visitor, player, "bet:player", language=language)
        assert says(answer.text, "The game balance does not cover this bet. Re-buy or bet less.", language)

    @pytest.mark.sweep
    def test_a_button_it_does_not_have(self, visitor, player, language):
        look(visitor, language)
        answer = click(visitor, player, "undo", language=language)
        assert says(answer.text, "This table has no such button.", language)

    @pytest.mark.sweep
    def test_an_empty_purse_leads_to_rebuy(self, visitor, language):
        page = look(visitor, language)
        assert says(page, "This game has a balance of its own. Re-buy to play.", language)
        assert not says(page, "Choose a chip, put it on a bet, then deal.", language), "nothing to bet with yet"
        assert '<button class="button button--go" type="button" popovertarget="rebuy">' in page
        assert says(page, "Leave game", language)
        assert says(page, "Game history", language)
        assert f'href="/{language}/history/?table=golden"' in page

    @pytest.mark.sweep
    def test_a_purse_below_the_bets_that_stay_offers_a_lower_bet(self, visitor, player, table, language):
        a_purse(player, 5000)
        a_seat(player, table, player=5000)
        purse.leave(player=player, mode=Mode.REAL, key=uuid4())
        a_purse(player, 2000)
        page = look(visitor, language)
        assert says(page, "Your game balance no longer covers these bets.", language)
        assert says(page, "Bet %(amount)s", language, amount=format_money(2000, "SEK", language))
        click(visitor, player, "lower", language=language)
        assert SoloSeat.objects.get().slip == {"player": 2000}

    @pytest.mark.sweep
    def test_a_rebuy_in_the_players_way_of_writing_numbers(self, visitor, player, language):
        typed = {"sv": "1 234,50", "da": "1.234,50", "ro": "1.234,50", "de": "1.234,50", "en": "1,234.50"}[language]
        page = rebuy(visitor, typed, language=language)
        changed = format_money(123_450, "SEK", language)
        assert says(page, "%(amount)s was transferred to the game.", language, amount=changed)
        assert purse.balance(player, Mode.REAL) == 123_450

    def test_a_rebuy_for_more_than_the_account_has(self, visitor, player, language):
        page = rebuy(visitor, "20000", language=language)
        has = format_money(MONEY, "SEK", language)
        assert says(page, "Your balance is %(amount)s. Choose an amount that is not higher.", language, amount=has)
        assert f"/{language}/cashier/" in page
        assert accounts.balance(player.pk, Mode.REAL) == MONEY

    @pytest.mark.sweep
    @pytest.mark.parametrize("typed", sample(["", "much", "-5", "0"], 2))
    def test_a_rebuy_without_an_amount(self, visitor, player, language, typed):
        assert "call__notice--error" in rebuy(visitor, typed, language=language)
        assert purse.balance(player, Mode.REAL) == 0

    @pytest.mark.sweep
    def test_leaving_says_what_went_back(self, visitor, player, language):
        a_purse(player, 123_450)
        answer = visitor.post(address(language, then="leave/"), {"key": uuid4()}, follow=True)
        assert answer.redirect_chain[-1][0] == f"/{language}/"
        back = format_money(123_450, "SEK", language)
        english = "You left the game. %(amount)s was returned to your account."
        assert says(answer.text, english, language, amount=back)
        assert accounts.balance(player.pk, Mode.REAL) == MONEY

    @pytest.mark.sweep
    def test_leaving_with_nothing(self, visitor, language):
        answer = visitor.post(address(language, then="leave/"), {"key": uuid4()}, follow=True)
        assert says(answer.text, "You left the game. There was no balance left to return.", language)

    @pytest.mark.sweep
    def test_movements_and_the_cashier_name_the_game(self, visitor, player, language):
        a_purse(player, 123_450)
        page = visitor.get(f"/{language}/cashier/").text
        assert says(page, "Transfer to Golden Baccarat", language)
        stored = format_money(123_450, "SEK", language)
        assert says(page, "You have another %(amount)s in Golden Baccarat.", language, amount=stored)
        purse.leave(player=player, mode=Mode.REAL, key=uuid4())
        assert says(visitor.get(f"/{language}/cashier/").text, "Transfer from Golden Baccarat", language)


def test_the_same_rebuy_form_again_moves_nothing(visitor, player):
    key = uuid4()
    rebuy(visitor, "100", key=key)
    assert "already booked" in rebuy(visitor, "100", key=key)
    assert purse.balance(player, Mode.REAL) == 10_000


@pytest.mark.sweep
@pytest.mark.parametrize("then", sample(["re-buy/", "leave/"], 1))
@pytest.mark.parametrize("slug", sample(["baccarat", "nowhere"], 1))
def test_a_game_without_a_purse_has_no_such_page(visitor, slug, then):
    a_table()
    assert visitor.post(f"/en/table/{slug}/real/{then}", {"key": uuid4(), "amount": "1"}).status_code == 404


def test_a_forged_form_to_leave_moves_nothing(visitor, player):
    a_purse(player, 10_000)
    visitor.post(address(then="leave/"), {"key": "x"})
    assert purse.balance(player, Mode.REAL) == 10_000
