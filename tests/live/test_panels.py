"""The panels next to a live table: what each shows to each reader, and nothing about other players."""

import re
from fractions import Fraction
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from games.betting.limits import Limits
from games.engine.odds import exact, percent
from games.history import panels
from games.models import LiveTable, Participation, Phase
from games.shared.pages.panel_tabs import WITH_THE_PAGE, panel_names
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_player, a_round, a_table
from tests.harness.sweeps import sample, sweep_languages
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.voiding import cancel
from wallet.cashier import FREE_MONEY
from wallet.ledger import accounts
from wallet.models import Mode

pytestmark = pytest.mark.django_db

MONEY = 1_000_000
FETCHED = ("limits", "history", "cashier", "rules", "settings")


def visitor_of(player: Player) -> Client:
    visitor = Client()
    visitor.force_login(player.user)
    return visitor


def panel(player: Player, name: str, *, language: str = "en", mode: str = "real", slug: str = "live") -> Any:
    return visitor_of(player).get(f"/{language}/table/{slug}/{mode}/panel/{name}/")


def text(html: str) -> str:
    """Return the visible text in one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("\N{NO-BREAK SPACE}", " ")


def played(player: Player, live_table: LiveTable, /, **chips: int) -> Participation:
    """Play a round with these bets of the player and settle it."""
    bet(player, live_table, **chips)
    round_id = advance_to(live_table, Phase.SETTLED).pk
    advance_to(live_table, Phase.BETTING)
    return Participation.objects.get(round_id=round_id, player=player)


class TestTabs:
    @pytest.mark.sweep
    def test_stand_in_their_order_and_favourites_only_where_the_game_has_them(self):
        with_them, without = a_live_table("no_commission", slug="one"), a_live_table("pairs", slug="other")
        assert panel_names(with_them.table)[:4] == ("statistics", "chat", "favourites", "limits")
        assert panel_names(without.table)[:3] == ("statistics", "chat", "limits")

    @pytest.mark.sweep
    def test_each_leads_to_a_panel_that_it_names(self):
        table = a_live_table().table
        page = visitor_of(a_player(real=MONEY)).get("/en/table/live/real/").text
        tabs = re.findall(r'role="tab" id="tab-(\w+)" aria-controls="panel-(\w+)"', page)
        assert [one for one, _ in tabs] == [other for _, other in tabs] == list(panel_names(table))
        for name, _ in tabs:
            assert f'id="panel-{name}" role="tabpanel" aria-labelledby="tab-{name}"' in page

    @pytest.mark.sweep
    def test_what_is_no_panel_to_ask_for_is_not_there(self):
        a_live_table()
        player = a_player()
        assert {panel(player, name).status_code for name in ("croupier", "round", *WITH_THE_PAGE)} == {404}

    @pytest.mark.sweep
    def test_a_table_that_is_not_shared_has_none(self):
        a_table()
        player = a_player()
        assert {panel(player, name, slug="baccarat").status_code for name in FETCHED} == {404}

    @pytest.mark.sweep
    @pytest.mark.parametrize("variant", sample(["no_commission", "pairs"], 1))
    def test_each_answers_at_every_game_and_for_either_money(self, variant):
        a_live_table(variant)
        visitor = visitor_of(a_player(real=MONEY, free=MONEY))
        for mode in ("real", "free"):
            for name in FETCHED:
                answer = visitor.get(f"/en/table/live/{mode}/panel/{name}/")
                assert answer.status_code == 200
                assert "<html" not in answer.text


class TestLimitsAndPayouts:
    @pytest.mark.parametrize("variant", ["no_commission", "pairs"])
    def test_every_bet_has_its_range_what_it_pays_and_its_exact_return(self, variant):
        table = a_live_table(variant).table
        said = text(panel(a_player("GB"), "limits").text)
        assert table.version
        limits, odds = Limits.of(table.version.limits, "GBP"), exact(VARIANTS[variant])
        for rule in VARIANTS[variant].bets:
            allowed = limits.bets[rule.code]
            line = f"{rule.pays_text} {percent(Fraction(odds[rule.code].rtp), 2)}%"
            assert f"{line} £{allowed.minimum / 100:,.2f} – £{allowed.maximum / 100:,.2f}" in said

    def test_says_when_a_prize_is_another_one(self):
        a_live_table("no_commission")
        said = text(panel(a_player("GB"), "limits").text)
        assert "Banker wins with exactly 6 1:2" in said
        assert "Tie stake returned" in said

    @pytest.mark.sweep
    def test_says_what_a_round_may_win_at_the_most_in_the_money_of_the_player(self):
        table = a_live_table().table
        assert table.version
        for country, currency, sign in (("GB", "GBP", "£"), ("DE", "EUR", "€")):
            liability = Limits.of(table.version.limits, currency).liability
            assert liability
            assert f"can win at most {sign}{liability / 100:,.2f}" in text(panel(a_player(country), "limits").text)


class TestHistory:
    @pytest.mark.sweep
    def test_is_empty_in_words(self):
        a_live_table()
        assert "You have not played any rounds at this table yet." in panel(a_player(), "history").text

    @pytest.mark.sweep
    def test_has_the_players_own_rounds_at_this_table_newest_first(self):
        live_table, elsewhere = a_live_table(), a_live_table("pairs", slug="elsewhere")
        player, other = a_player(real=MONEY), a_player(real=MONEY)
        mine = [played(player, live_table, player=25_000) for _ in range(2)]
        theirs = played(other, live_table, banker=25_000)
        away = played(player, elsewhere, banker=10_000)
        alone = a_round(player, a_table(), player=1000)
        said = panel(player, "history").text
        codes = re.findall(r'id="past-([\w-]+)"', said)
        assert codes == [part.round.code for part in reversed(mine)]
        for part in (theirs, away, alone):
            assert str(part.round_id) not in said

    @pytest.mark.sweep
    def test_keeps_the_two_kinds_of_money_apart(self):
        real, player = a_live_table(), a_player(real=MONEY, free=MONEY)
        free = LiveTable.objects.get(table=real.table, mode=Mode.FREE)
        advance_to(free, Phase.BETTING)
        for_nothing, for_money = played(player, free, player=25_000), played(player, real, player=25_000)
        assert re.findall(r'id="past-([\w-]+)"', panel(player, "history").text) == [for_money.round.code]
        assert re.findall(r'id="past-([\w-]+)"', panel(player, "history", mode="free").text) == [for_nothing.round.code]

    @pytest.mark.sweep
    def test_has_no_more_than_so_many_and_asks_for_them_at_once(self, monkeypatch):
        monkeypatch.setattr(panels, "ROUNDS", 2)
        live_table, player = a_live_table(), a_player(real=MONEY)
        counts, visitor = [], visitor_of(player)
        for _ in range(3):
            played(player, live_table, player=25_000)
            with CaptureQueriesContext(connection) as asked:
                said = visitor.get("/en/table/live/real/panel/history/").text
            counts.append(len(asked))
        assert said.count('class="past__round"') == 2
        assert counts[1] == counts[2]  # the first request fills caches

    @pytest.mark.sweep
    def test_marks_what_was_voided(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        bet(player, live_table, player=25_000)
        cancel(round_id=round_at(live_table).pk, by="staff:1")
        said = panel(player, "history").text
        assert "✕" in said
        assert "small-hand" not in said

    @pytest.mark.sweep
    def test_a_round_opens_inside_with_its_bets_and_a_way_back(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        part = played(player, live_table, player=25_000, tie=5_000)
        said = panel(player, f"history/{part.round_id}").text
        assert f"Round {part.round.code}" in said
        assert said.count("<tr class=") == 2
        assert 'hx-get="/en/table/live/real/panel/history/"' in said

    def test_a_round_of_somebody_else_or_of_another_table_is_not_there(self):
        live_table, player = a_live_table(), a_player(real=MONEY)
        theirs = played(a_player(real=MONEY), live_table, player=25_000)
        away = a_round(player, a_table(), player=1000)
        for round_id in (theirs.round_id, away.round_id, uuid4()):
            assert panel(player, f"history/{round_id}").status_code == 404


class TestCashier:
    @pytest.mark.sweep
    def test_a_deposit_leads_to_another_tab_and_the_table_stays(self):
        a_live_table()
        said = panel(a_player("GB", real=MONEY), "cashier").text
        assert "£10,000.00" in said
        form = said[said.index("<form") : said.index("</form>")]
        assert 'action="/en/cashier/deposit/" target="_blank"' in form
        assert "hx-post" not in form
        links = re.findall(r"<a [^>]*>", said)
        assert links
        assert all('target="_blank"' in link for link in links)

    def test_free_money_is_filled_up_on_the_spot_and_once(self):
        a_live_table()
        player, key = a_player("GB", free=100), str(uuid4())
        visitor = visitor_of(player)
        for _ in range(2):
            answer = visitor.post("/en/table/live/free/panel/cashier/top-up/", {"key": key})
            assert "data-balance-changed" in answer.text
        assert accounts.balance(player.pk, Mode.FREE) == FREE_MONEY["GBP"]

    def test_says_why_nothing_is_filled_up(self):
        a_live_table()
        player = a_player("GB", free=FREE_MONEY["GBP"])
        answer = visitor_of(player).post("/en/table/live/free/panel/cashier/top-up/", {"key": str(uuid4())})
        assert "notice--error" in answer.text
        assert "data-balance-changed" not in answer.text


class TestRulesAndSettings:
    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sweep_languages(["sv", "da", "ro", "de", "en"]))
    def test_the_help_is_below_the_page_in_its_language(self, language):
        table = a_live_table("no_commission").table
        said = panel(a_player(), "rules", language=language).text
        page = Client().get(f"/{language}/help/{table.variant}/").text
        prose = page[page.index('<article class="prose">') : page.index("</article>")]
        headings = re.findall(r'<h2 id="([\w-]+)">(.*?)</h2>', prose)
        assert headings
        assert re.findall(r'<h3 id="rules-([\w-]+)">(.*?)</h3>', said) == headings
        assert "<h1" not in said
        assert "<h2" not in said
        out = re.findall(r'<a [^>]*href="/[^>]*>', said)
        assert out
        assert all('target="_blank"' in link for link in out)

    @pytest.mark.sweep
    def test_every_anchor_leads_to_something_on_the_panel(self):
        a_live_table("pairs")
        said = panel(a_player(), "rules").text
        assert set(re.findall(r'href="#([\w-]+)"', said)) <= set(re.findall(r'id="([\w-]+)"', said))

    @pytest.mark.sweep
    def test_says_the_pace_of_the_table(self):
        version = a_live_table().table.version
        assert version
        assert version.clock
        assert f"Betting time {version.clock['betting'] // 1000} s" in text(panel(a_player(), "rules").text)

    @pytest.mark.sweep
    def test_settings_have_every_preference_of_the_dialog_and_bring_the_reader_back_to_the_table(self):
        a_live_table()
        player = a_player(real=MONEY)
        page, said = visitor_of(player).get("/en/table/live/real/").text, panel(player, "settings").text
        dialog = set(
            re.findall(r'<input type="radio" name="(\w+)" value="(\w+)"', page[page.index('id="preferences"') :])
        )
        assert dialog < set(re.findall(r'<input type="radio" name="(\w+)" value="(\w+)"', said))
        assert 'name="next" value="/en/table/live/real/"' in said
        answer = visitor_of(player).post(reverse("set_language"), {"language": "de", "next": "/en/table/live/real/"})
        assert answer.headers["Location"] == "/de/table/live/real/"
