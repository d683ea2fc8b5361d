"""Every refusal of a table is a message in the player's language, and nothing changes."""

import re
from html import unescape
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import translation

from games.betting.error_messages import refusal
from games.errors import FavouriteError, PlayError, TrayError
from games.models import SoloSeat
from games.tables.default_tables import baccarat_limits
from games.tables.status import close_table, pause_table
from games.variants import VARIANTS
from tests.builders import a_player, a_round, a_table
from tests.games.at_pages import MONEY, click
from tests.harness.sweeps import sample
from wallet.ledger import accounts
from wallet.models import Mode
from wallet.money import format_money

LANGUAGES = ("sv", "da", "ro", "de", "en")


@pytest.fixture
def player(db):
    return a_player(real=MONEY, free=MONEY)


@pytest.fixture
def table(db):
    return a_table()


@pytest.fixture
def visitor(player) -> Client:
    client = Client()
    client.force_login(player.user)
    return client


@pytest.mark.parametrize("language", sample(LANGUAGES, 1))
class TestSentences:
    """Refusals have status 200, because htmx does not swap other answers."""

    def said(self, answer, language, english) -> str:
        assert answer.status_code == 200
        notice = re.search(r'<div class="call__notice[^>]*>\s*<p>(.*?)</p>', answer.text, re.DOTALL)
        assert notice, answer.text
        with translation.override(language):
            expected = translation.gettext(english)
        if language != "en":
            assert expected != english, f"not translated into {language}"
        plain = re.split(r"%\(\w+\)s", expected)
        assert all(part in unescape(notice[1]) for part in plain)
        return answer.text

    @pytest.mark.sweep
    def test_no_stake(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        answer = click(visitor, player, "deal", language=language)
        self.said(answer, language, "Place a bet first: choose a chip and click Player, Banker or Tie.")

    def test_balance_too_low_leads_to_deposit(self, visitor, player, table, language):
        poor = a_player(real=500)
        visitor.force_login(poor.user)
        visitor.get(f"/{language}/table/baccarat/real/")
        answer = click(visitor, poor, "bet:player", language=language)
        assert f"/{language}/cashier/" in self.said(answer, language, "Your balance does not cover this bet.")

    @pytest.mark.sweep
    def test_too_little_free_money_leads_to_more(self, visitor, player, table, language):
        poor = a_player(free=500)
        visitor.force_login(poor.user)
        visitor.get(f"/{language}/table/baccarat/free/")
        answer = click(visitor, poor, "bet:player", language=language, mode="free")
        assert f"/{language}/cashier/" in self.said(answer, language, "Your play money does not cover this bet.")

    def test_over_the_limit(self, visitor, player, language):
        limits = baccarat_limits()
        limits["SEK"]["bets"]["tie"] = [1000, 1000]
        a_table(limits=limits)
        visitor.get(f"/{language}/table/baccarat/real/")
        click(visitor, player, "bet:tie", language=language)
        answer = click(visitor, player, "bet:tie", language=language)
        text = self.said(answer, language, "The maximum bet on %(bet)s is %(amount)s.")
        assert format_money(1000, "SEK", language) in unescape(text)

    @pytest.mark.sweep
    def test_under_the_limit(self, visitor, player, language):
        limits = baccarat_limits()
        limits["SEK"]["bets"]["tie"] = [5000, 10_000]
        a_table(limits=limits)
        visitor.get(f"/{language}/table/baccarat/real/")
        click(visitor, player, "bet:tie", language=language)
        answer = click(visitor, player, "deal", language=language)
        self.said(answer, language, "The minimum bet on %(bet)s is %(amount)s.")

    def test_table_closed(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        close_table(table_id=table.pk, reason="test", by="staff:1")
        answer = click(visitor, player, "bet:player", language=language)
        self.said(answer, language, "This table is closed. No bet was placed.")

    @pytest.mark.sweep
    def test_table_pauses(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        pause_table(table_id=table.pk, reason="test", by="staff:1")
        answer = click(visitor, player, "bet:player", language=language)
        self.said(answer, language, "This table is paused. The next round opens when the table resumes.")

    @pytest.mark.sweep
    def test_stale_page(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        click(visitor, player, "bet:player")
        answer = click(visitor, player, "deal", language=language, round_id=uuid4())
        self.said(answer, language, "This page was out of date and has been updated. No bet was placed.")

    @pytest.mark.sweep
    def test_bets_changed_in_another_window(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        click(visitor, player, "bet:player")
        answer = click(visitor, player, "deal", language=language, slip_version=0)
        self.said(
            answer,
            language,
            "Your bets were changed in another window. No bet was placed. Check your bets, then deal again.",
        )

    @pytest.mark.sweep
    def test_nothing_to_bet_again(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        answer = click(visitor, player, "rebet", language=language)
        self.said(answer, language, "There is no previous round at this table to rebet.")

    @pytest.mark.sweep
    def test_a_chip_that_is_not_in_the_tray(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        answer = click(visitor, player, "bet:player", language=language, chip=1234)
        self.said(answer, language, "This table does not have this chip. Choose one from the tray.")

    @pytest.mark.sweep
    def test_session_ended(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        seat = SoloSeat.objects.get()
        visitor.logout()
        answer = visitor.post(
            f"/{language}/table/baccarat/real/play/",
            {"action": "deal", "round_id": seat.round_id, "slip_version": 0},
            headers={"HX-Request": "true", "HX-Current-URL": f"http://testserver/{language}/table/baccarat/real/"},
        )
        assert answer.status_code == 200
        log_in = visitor.get(answer["HX-Redirect"])
        english = "Your session has ended. Log in to continue."
        with translation.override(language):
            assert language == "en" or translation.gettext(english) != english
            assert translation.gettext(english) in unescape(log_in.text)


@pytest.mark.parametrize(
    "nonsense",
    sample(
        [
            {"action": "bet:nowhere"},
            {"action": "steal"},
            {"action": ""},
            {"round_id": "not a uuid"},
            {"slip_version": "-1"},
            {"table_version": ""},
            {"table_version": "one"},
            {"slip_version": "99999999999999999999"},
            {"chip": "-1000", "action": "bet:player"},
            {"chip": "1e9", "action": "bet:player"},
            {"chip": "٣٠٠", "action": "bet:player"},
            {"player_value": "x" * 65},
        ],
        4,
    ),
)
def test_nonsense_changes_nothing(visitor, player, table, nonsense):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "bet:player")
    before = SoloSeat.objects.get()
    answer = (
        click(visitor, player, "deal", **nonsense)
        if "action" not in nonsense
        else click(
            visitor, player, nonsense["action"], **{key: value for key, value in nonsense.items() if key != "action"}
        )
    )
    assert answer.status_code == 200
    assert "call__notice--error" in answer.text
    after = SoloSeat.objects.get()
    assert (after.round_id, after.slip) == (before.round_id, before.slip)
    assert accounts.balance(player.pk, Mode.REAL) == MONEY


def test_rebet_and_deal_with_too_little_money_says_so_and_moves_nothing(table, visitor):
    poor = a_player(real=1000)
    visitor.force_login(poor.user)
    visitor.get("/en/table/baccarat/real/")
    a_round(poor, table, tie=1000)
    while accounts.balance(poor.pk, Mode.REAL) >= 1000:  # one round in ten is a tie and pays
        a_round(poor, table, tie=1000)
    before = accounts.balance(poor.pk, Mode.REAL)
    answer = click(visitor, poor, "rebet_deal")
    assert "does not cover this bet" in answer.text
    assert accounts.balance(poor.pk, Mode.REAL) == before


def test_no_two_refusals_are_said_alike():
    """A refusal without its own message would read like that of an old page."""
    direct = [each for each in PlayError.__subclasses__() if each not in (FavouriteError, TrayError)]
    plain = [each for each in direct if each.__init__ is PlayError.__init__]
    said = [refusal(each(), variant=VARIANTS["baccarat"], mode=Mode.REAL, language="en").text for each in plain]
    assert len(plain) > 10
    assert sorted(each.__name__ for each in plain if said.count(said[plain.index(each)]) > 1) == [
        "StalePage",
        "TableChanged",  # the page says it by `table_changed`
    ]
