"""The player's pages over Django's test client: what each click answers, with htmx and without."""

import re
from datetime import date
from html import unescape
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import translation

from casino.templatetags.dates import day
from games.models import NextRound, Participation, Round
from games.seeds import unseal
from games.shipped import baccarat_limits
from games.tables import set_open
from tests.builders import a_place, a_player, a_round, a_table
from wallet import accounts
from wallet.models import Mode
from wallet.money import format_money

MONEY = 1_000_000
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


def click(visitor: Client, player, action: str, *, mode="real", language="en", htmx=True, **changes):
    """Press a button of the table as the page stands."""
    place = NextRound.objects.get(player=player, mode="R" if mode == "real" else "F")
    assert place.table.version is not None
    form = {
        "action": action,
        "round_id": place.round_id,
        "slip_version": place.slip_version,
        "table_version": place.table.version.number,
        "chip": 1000,
    } | changes
    headers = {"HX-Request": "true"} if htmx else {}
    return visitor.post(f"/{language}/table/baccarat/{mode}/play/", form, headers=headers)


@pytest.mark.parametrize("mode", ["real", "free"])
def test_a_whole_round_by_htmx_is_fragments_only(visitor, player, table, mode):
    visitor.get(f"/en/table/baccarat/{mode}/")
    answer = click(visitor, player, "bet:player", mode=mode)
    assert answer.status_code == 200
    assert "<html" not in answer.text
    assert answer.text.lstrip().startswith('<section class="game')
    answer = click(visitor, player, "deal", mode=mode)
    part = Participation.objects.get()
    assert part.mode == ("R" if mode == "real" else "F")
    assert part.round.code in answer.text
    assert format_money(part.balance_after, "SEK", "en") in answer.text


def test_every_button_works_without_javascript(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    for action in (
        "bet:player",
        "bet:tie",
        "double",
        "undo",
        "clear",
        "undo",
        "deal",
        "rebet",
        "double_deal",
        "rebet_deal",
    ):
        answer = click(visitor, player, action, htmx=False)
        assert (answer.status_code, answer["Location"]) == (302, "/en/table/baccarat/real/")
    assert [part.staked for part in Participation.objects.order_by("id")] == [2000, 4000, 4000]


def test_without_javascript_a_refusal_waits_for_the_page_and_is_said_once(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "deal", htmx=False)
    assert "Place a bet first" in visitor.get("/en/table/baccarat/real/").text
    assert "Place a bet first" not in visitor.get("/en/table/baccarat/real/").text


def test_a_reload_shows_the_bets_and_another_tab_shows_the_same(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "bet:player", chip=5000)
    for _ in range(2):
        page = visitor.get("/en/table/baccarat/real/").text
        assert format_money(5000, "SEK", "en") in page
        assert format_money(MONEY - 5000, "SEK", "en") in page


def test_the_same_click_again_shows_the_same_round(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "bet:banker")
    place = NextRound.objects.get()
    same = {"round_id": place.round_id, "slip_version": place.slip_version}
    click(visitor, player, "deal", **same)
    again = click(visitor, player, "deal", **same)
    assert Round.objects.get().code in again.text
    assert "already been played" in again.text


class TestOnesOwnValue:
    def field(self, visitor) -> str:
        page = visitor.get("/en/table/baccarat/real/").text
        found = re.search(r'name="player_value" value="(.*?)"', page)
        assert found
        return _unescaped(found[1])

    @pytest.mark.parametrize("htmx", [True, False])
    def test_is_kept_with_every_click_until_it_is_changed(self, visitor, player, table, htmx):
        assert self.field(visitor) == ""
        click(visitor, player, "bet:tie", htmx=htmx, player_value='blåbär "<')
        assert self.field(visitor) == 'blåbär "<'
        click(visitor, player, "deal", htmx=htmx, player_value='blåbär "<')
        assert Round.objects.get().player_value == 'blåbär "<'
        assert self.field(visitor) == 'blåbär "<', "it is there for the next round"
        click(visitor, player, "bet:tie", htmx=htmx, player_value="")
        assert self.field(visitor) == ""

    def test_is_kept_by_a_click_that_is_refused(self, visitor, player, table):
        visitor.get("/en/table/baccarat/real/")
        click(visitor, player, "deal", htmx=False, player_value="mine")
        assert self.field(visitor) == "mine"

    def test_is_kept_by_enter_which_does_nothing_else(self, visitor, player, table):
        visitor.get("/en/table/baccarat/real/")
        before = NextRound.objects.get()
        answer = click(visitor, player, "keep", player_value="mine")
        assert "call__notice" not in answer.text
        after = NextRound.objects.get()
        assert (after.slip, after.slip_version, after.undo) == (before.slip, before.slip_version, before.undo)
        assert after.player_value == "mine"


def test_the_button_that_enter_presses_is_the_first_of_the_form(visitor, player, table):
    page = visitor.get("/en/table/baccarat/real/").text
    form = page.partition('id="slip"')[2]
    assert re.findall(r'<button[^>]* value="([^"]*)"', form)[0] == "keep"


class TestAClosedTable:
    def closed(self, table) -> None:
        set_open(table_id=table.pk, is_open=False, reason="test", by="staff:1")

    def disabled(self, page: str) -> set[str]:
        return set(re.findall(r'<button[^>]*id="([^"]*)"[^>]*aria-disabled="true"', page))

    def test_says_so_quietly_and_offers_no_bets(self, visitor, player, table):
        visitor.get("/en/table/baccarat/real/")
        click(visitor, player, "bet:tie")
        self.closed(table)
        page = visitor.get("/en/table/baccarat/real/").text
        assert 'role="status"><p>This table is closed. You can take back what lies on it.</p>' in page
        assert "badge--off" in page
        assert self.disabled(page) >= {"bet-player", "bet-tie", "bet-banker", "act-deal", "act-double"}
        assert not self.disabled(page) & {"act-undo", "act-clear"}

    def test_is_marked_as_closed_by_the_answer_to_a_click(self, visitor, player, table):
        visitor.get("/en/table/baccarat/real/")
        assert "badge--off" not in click(visitor, player, "bet:tie").text
        self.closed(table)
        answer = click(visitor, player, "bet:tie").text
        assert "badge--off" in answer.partition('id="table-state" hx-swap-oob="true"')[2]

    @pytest.mark.parametrize("action", ["undo", "clear"])
    def test_lets_bets_go(self, visitor, player, table, action):
        visitor.get("/en/table/baccarat/real/")
        click(visitor, player, "bet:tie")
        self.closed(table)
        click(visitor, player, action)
        assert NextRound.objects.get().slip == {}

    def test_takes_none_by_undoing_either(self, visitor, player, table):
        visitor.get("/en/table/baccarat/real/")
        click(visitor, player, "bet:tie")
        self.closed(table)
        click(visitor, player, "clear")
        for action in ("undo", "bet:tie", "rebet", "deal"):
            click(visitor, player, action)
            assert NextRound.objects.get().slip == {}
        assert not Round.objects.exists()


def test_the_meters_agree_with_what_deal_would_do(visitor, player, table):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "bet:tie")
    after_round = click(visitor, player, "deal").text
    assert "Last bet" in after_round
    click(visitor, player, "bet:tie")
    cleared = click(visitor, player, "clear").text
    assert "Last bet" not in cleared
    assert re.search(r'meter--bet">.*?<b[^>]*>SEK\s0\.00</b>', cleared, re.DOTALL)
    assert "spot__bet" not in cleared
    assert "spot__lit" not in cleared


@pytest.mark.parametrize("language", LANGUAGES)
class TestSentences:
    """Every refusal is a sentence in the player's language, with status 200: htmx swaps nothing else."""

    def said(self, answer, language, english) -> str:
        assert answer.status_code == 200
        notice = re.search(r'<div class="call__notice[^>]*>\s*<p>(.*?)</p>', answer.text, re.DOTALL)
        assert notice, answer.text
        with translation.override(language):
            expected = translation.gettext(english)
        if language != "en":
            assert expected != english, f"not translated into {language}"
        plain = re.split(r"%\(\w+\)s", expected)
        assert all(part in _unescaped(notice[1]) for part in plain)
        return answer.text

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

    def test_free_money_too_low_leads_to_more_of_it(self, visitor, player, table, language):
        poor = a_player(free=500)
        visitor.force_login(poor.user)
        visitor.get(f"/{language}/table/baccarat/free/")
        answer = click(visitor, poor, "bet:player", language=language, mode="free")
        assert f"/{language}/cashier/" in self.said(answer, language, "Your free money does not cover this bet.")

    def test_over_the_limit(self, visitor, player, language):
        limits = baccarat_limits()
        limits["SEK"]["bets"]["tie"] = [1000, 1000]
        a_table(limits=limits)
        visitor.get(f"/{language}/table/baccarat/real/")
        click(visitor, player, "bet:tie", language=language)
        answer = click(visitor, player, "bet:tie", language=language)
        text = self.said(answer, language, "The maximum bet on %(bet)s is %(amount)s.")
        assert format_money(1000, "SEK", language) in _unescaped(text)

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
        set_open(table_id=table.pk, is_open=False, reason="test", by="staff:1")
        answer = click(visitor, player, "bet:player", language=language)
        self.said(answer, language, "This table is closed. No bet was taken.")

    def test_stale_page(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        click(visitor, player, "bet:player")
        answer = click(visitor, player, "deal", language=language, round_id=uuid4())
        self.said(answer, language, "This page was out of date. Nothing was staked; it now shows how the table stands.")

    def test_bets_changed_in_another_window(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        click(visitor, player, "bet:player")
        answer = click(visitor, player, "deal", language=language, slip_version=0)
        self.said(
            answer,
            language,
            "Your bets were changed in another window. Nothing was staked; look at them and deal again.",
        )

    def test_nothing_to_bet_again(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        answer = click(visitor, player, "rebet", language=language)
        self.said(answer, language, "There is no earlier round at this table to bet again.")

    def test_a_chip_that_is_not_in_the_tray(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        answer = click(visitor, player, "bet:player", language=language, chip=1234)
        self.said(answer, language, "This table has no such chip. Choose one from the tray.")

    def test_session_ended(self, visitor, player, table, language):
        visitor.get(f"/{language}/table/baccarat/real/")
        place = NextRound.objects.get()
        visitor.logout()
        answer = visitor.post(
            f"/{language}/table/baccarat/real/play/",
            {"action": "deal", "round_id": place.round_id, "slip_version": 0},
            headers={"HX-Request": "true", "HX-Current-URL": f"http://testserver/{language}/table/baccarat/real/"},
        )
        assert answer.status_code == 200
        log_in = visitor.get(answer["HX-Redirect"])
        english = "Your session has ended. Log in to go on."
        with translation.override(language):
            assert language == "en" or translation.gettext(english) != english
            assert translation.gettext(english) in _unescaped(log_in.text)


@pytest.mark.parametrize(
    "nonsense",
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
)
def test_nonsense_changes_nothing(visitor, player, table, nonsense):
    visitor.get("/en/table/baccarat/real/")
    click(visitor, player, "bet:player")
    before = NextRound.objects.get()
    answer = (
        click(visitor, player, "deal", **nonsense)
        if "action" not in nonsense
        else click(
            visitor, player, nonsense["action"], **{key: value for key, value in nonsense.items() if key != "action"}
        )
    )
    assert answer.status_code == 200
    assert "call__notice--error" in answer.text
    after = NextRound.objects.get()
    assert (after.round_id, after.slip) == (before.round_id, before.slip)
    assert accounts.balance(player.pk, Mode.REAL) == MONEY


class TestGameLogs:
    def test_begin_with_a_sentence_and_a_way_on(self, visitor, player, table):
        page = visitor.get("/en/history/").text
        assert "/en/" in page
        assert Round.objects.count() == 0

    def test_show_every_bet_and_every_win_separately(self, visitor, player, table):
        a_round(player, table, player=1000, banker=5000, tie=10_000)
        page = _unescaped(visitor.get("/en/history/").text)
        part = Participation.objects.get()
        for wager in part.wagers.all():
            assert format_money(wager.stake, "SEK", "en") in page
            assert wager.payout == 0 or format_money(wager.payout, "SEK", "en") in page
        for amount in (part.balance_before, part.balance_after):
            assert format_money(amount, "SEK", "en") in page
        assert part.round.code in page

    def test_show_real_money_only(self, visitor, player, table):
        free = a_round(player, table, Mode.FREE, player=1000)
        real = a_round(player, table, player=1000)
        page = visitor.get("/en/history/").text
        assert Round.objects.get(pk=real.round_id).code in page
        assert Round.objects.get(pk=free.round_id).code not in page

    def test_page_back_through_all_rounds_without_losing_or_repeating_one(self, visitor, player, table):
        played = [a_round(player, table, player=1000).round_id for _ in range(45)]
        seen: list[str] = []
        page = visitor.get("/en/history/").text
        while True:
            seen += re.findall(r'href="/en/history/([0-9a-f-]{36})/"', page)
            older = re.search(r'href="(\?before=\d+)" rel="next"', page)
            if not older:
                break
            page = visitor.get(f"/en/history/{older[1]}").text
        assert list(dict.fromkeys(seen)) == [str(each) for each in reversed(played)]

    @pytest.mark.parametrize("mark", ["x", "-1", "9" * 30, "٣", ""])
    def test_take_a_broken_mark_for_the_newest_page(self, visitor, player, table, mark):
        a_round(player, table, player=1000)
        assert Round.objects.get().code in visitor.get("/en/history/", {"before": mark}).text


class TestAReplay:
    def test_is_marked_as_one_and_shows_the_round_as_it_was(self, visitor, player, table):
        played = a_round(player, table, player=1000)
        page = visitor.get(f"/en/history/{played.round_id}/").text
        part = Participation.objects.get()
        assert "Replay" in page
        assert part.round.code in page
        assert bytes(part.round.seed).hex() in page
        assert part.round.commitment in page

    def test_of_somebody_else_is_not_found(self, visitor, player, table):
        other = a_player(real=MONEY)
        played = a_round(other, table, player=1000)
        assert visitor.get(f"/en/history/{played.round_id}/").status_code == 404


def test_the_seed_of_the_next_round_is_nowhere_on_the_page(visitor, player, table):
    page = visitor.get("/en/table/baccarat/real/").text
    place = a_place(player, table)
    seed = unseal(place.round_id, bytes(place.sealed_seed))
    assert place.commitment in page
    assert seed.hex() not in page
    assert bytes(place.sealed_seed).hex() not in page


def _unescaped(text: str) -> str:
    return unescape(text)


@pytest.mark.parametrize(
    ("language", "printed"),
    [
        ("sv", "21 november 2026"),
        ("da", "21. november 2026"),
        ("ro", "21 noiembrie 2026"),
        ("de", "21. November 2026"),
        ("en", "21 November 2026"),
    ],
)
def test_dates_are_written_as_the_language_does(language, printed):
    with translation.override(language):
        assert day(date(2026, 11, 21)) == printed


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
