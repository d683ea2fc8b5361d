"""A Chemin de Fer table in the lobby: its card, its currency, and the filters that find it."""

import re
from collections.abc import Iterable

import pytest
from django.test import Client

from games.chemin import play
from games.chemin.pages.lobby_card import CheminCardState
from games.engine.chemin import Phase
from games.lobby.selectors import lobby_cards
from games.models import LiveTable, Table
from games.shared.pages.lobby_card import card_key, is_for, render_card
from games.tables.status import close_table
from players.models import Player
from tests.builders import a_chemin_live_table, a_player, a_table
from tests.chemin.at_table import a_bank, a_chemin_table, a_staked_coup, seated_players, step_to
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table
from tests.people import a_visitor
from wallet.models import Mode

pytestmark = pytest.mark.django_db
LOBBY = "/en/"


def browser_of(player: Player) -> Client:
    browser = a_visitor()
    browser.force_login(player.user)
    return browser


def card_of(live: LiveTable) -> CheminCardState:
    (card,) = (card for card in lobby_cards(Mode(live.mode), "SEK", "SE") if card.live_table == live.pk)
    assert isinstance(card, CheminCardState)
    return card


def shown(page: str) -> list[str]:
    """Return the slugs of the tables on a page, in order."""
    return re.findall(r'<li class="table-card[^>]* id="table-([\w-]+)"', page)


def card(page: str, slug: str = "chemin") -> str:
    """Return the part of a page about one table."""
    return page.split(f'id="table-{slug}"')[1].split("</li>")[0]


@pytest.fixture
def live() -> LiveTable:
    return a_chemin_table()


class TestTheCard:
    def test_shows_the_seats_taken_and_the_question(self, live: LiveTable) -> None:
        empty = render_card(card_of(live), "en")
        seated_players(live, 1)
        one = render_card(card_of(live), "en")
        assert ("0 of 9 seats taken" in empty, "No players yet" in empty, "No bank" in empty) == (True,) * 3
        assert ("1 of 9 seats taken" in one, "Waiting for a second player" in one) == (True, True)
        assert one.count('class="taken"') == 1

    @pytest.mark.sweep
    def test_tells_that_the_bank_is_offered_and_then_what_it_holds(self, live: LiveTable) -> None:
        seated_players(live, 4)
        offered = render_card(card_of(live), "en")
        a_bank(live, 5_000)
        taken = render_card(card_of(live), "en")
        assert ("4 of 9 seats taken" in offered, "The bank is offered" in offered) == (True, True)
        assert ("Who calls banco?" in taken, "Bank: SEK\N{NO-BREAK SPACE}50.00" in taken) == (True, True)

    def test_tells_how_coups_ended_and_not_before(self, live: LiveTable) -> None:
        seated_players(live, 2)
        a_staked_coup(live)
        before = card_of(live)
        coup = step_to(live, Phase.CHOICE, Phase.OFFER, Phase.SUITE).coup
        assert coup is not None
        assert (before.outcomes, before.status) == ((), "dealt")
        assert "No results in this shoe yet" in render_card(before, "en")
        assert card_of(live).outcomes == (coup.outcome,)
        assert "No results in this shoe yet" not in render_card(card_of(live), "en")

    def test_speaks_every_language(self, live: LiveTable) -> None:
        seated_players(live, 2)
        words = {language: render_card(card_of(live), language) for language in ("sv", "da", "ro", "de", "en")}
        assert len({re.sub(r"<[^>]*>", "", each) for each in words.values()}) == 5

    def test_changes_its_key_with_what_it_shows_alone(self, live: LiveTable) -> None:
        keys = [card_key(card_of(live)), card_key(card_of(live))]
        seated_players(live, 2)
        keys.append(card_key(card_of(live)))
        a_bank(live, 5_000)
        keys.append(card_key(card_of(live)))
        assert keys[0] == keys[1]
        assert len(set(keys)) == 3

    def test_tells_nothing_of_who_sits_there(self, live: LiveTable) -> None:
        (first, second) = seated_players(live, 2)
        a_bank(live, 5_000)
        said = render_card(card_of(live), "en") + repr(card_of(live))
        for player in (first, second):
            assert player.user.email not in said
        assert "99,950" not in said

    def test_of_a_closed_table_leads_nowhere_once_nobody_sits_there(self, live: LiveTable) -> None:
        players = seated_players(live, 1)
        close_table(table_id=live.table_id, reason="for a test", by="staff:test")
        closing = card_of(live)
        play.leave(player=players[0], live_table_id=live.pk)
        closed = card_of(live)
        assert (closing.may_enter, closing.status) == (True, "alone")
        assert (closed.may_enter, closed.status) == (False, "closed_table")
        assert "The table is closed" in render_card(closed, "en")

    def test_is_for_those_who_have_its_currency(self, live: LiveTable) -> None:
        assert is_for(card_of(live), "SEK", "SE")
        assert not is_for(card_of(live), "EUR", "DE")
        assert not is_for(card_of(live), None, None)
        assert lobby_cards(Mode.REAL, "EUR", "DE") == []


class TestTheList:
    @pytest.mark.sweep
    @pytest.mark.parametrize(("jurisdiction", "slug"), [("SE", "sek"), ("DE", "eur"), ("RO", "ron")])
    def test_has_the_table_of_the_readers_currency(self, jurisdiction: str, slug: str) -> None:
        for currency in ("SEK", "EUR", "RON"):
            a_chemin_live_table(currency, slug=currency.lower())
        assert shown(browser_of(a_player(jurisdiction)).get(LOBBY).text) == [slug]

    @pytest.mark.sweep
    @pytest.mark.parametrize(("language", "slug"), [("sv", "sek"), ("de", "eur"), ("ro", "ron")])
    def test_has_the_table_of_the_currency_of_a_visitors_language(self, language: str, slug: str) -> None:
        for currency in ("SEK", "EUR", "RON"):
            a_chemin_live_table(currency, slug=currency.lower())
        page = a_visitor().get(f"/{language}/").text
        assert shown(page) == [slug]
        assert "/demo/" not in page

    @pytest.mark.sweep
    def test_has_practice_tables_for_free_money_alone_and_marks_them(self) -> None:
        a_chemin_live_table()
        a_chemin_live_table(slug="practice", seat_count=5, house_players=3)
        browser = browser_of(a_player())
        real, free = browser.get(LOBBY).text, browser.get(LOBBY, {"money": "free"}).text
        assert (shown(real), shown(free)) == (["chemin"], ["chemin", "practice"])
        marked = "Practice table, against house players"
        assert [marked in card(free, slug) for slug in ("chemin", "practice")] == [False, True]

    def test_tells_the_range_of_a_bank_and_that_players_play_each_other(self) -> None:
        a_chemin_live_table()
        page = card(browser_of(a_player()).get(LOBBY).text)
        assert re.search(r"<dt>Bank</dt><dd[^>]*>SEK\s10 – SEK\s1,000</dd>", page)
        assert "Player against player" in page
        assert "Chemin de Fer" in page

    def test_leads_to_the_table_and_to_its_rules(self) -> None:
        a_chemin_live_table()
        page = card(browser_of(a_player()).get(LOBBY).text)
        assert 'href="/en/table/chemin/real/"' in page
        assert 'href="/en/help/chemin_de_fer/"' in page

    @pytest.mark.sweep
    def test_keeps_it_as_a_favourite(self) -> None:
        a_table()
        a_chemin_live_table()
        browser = browser_of(a_player())
        assert shown(browser.get(LOBBY).text) == ["baccarat", "chemin"]
        browser.post("/en/lobby/favourite/chemin/", {"keep": "yes"})
        assert shown(browser.get(LOBBY).text) == ["chemin", "baccarat"]

    def test_of_what_moves_has_the_cards_of_the_readers_currency(self) -> None:
        for currency in ("SEK", "EUR"):
            a_chemin_live_table(currency, slug=currency.lower())
        a_live_table()
        found = {
            who: set(re.findall(r'id="card-([\w-]+)-R"', browser.get("/en/lobby/now/").text))
            for who, browser in (("SE", browser_of(a_player())), ("visitor", a_visitor()))
        }
        assert found == {"SE": {"sek", "live"}, "visitor": {"live"}}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("asked", "found"),
    sample(
        [
            ({"game": "chemin_de_fer"}, {"chemin"}),
            ({"game": "baccarat"}, {"baccarat"}),
            ({"company": "others"}, {"chemin", "live"}),
            ({"company": "alone"}, {"baccarat"}),
            ({"lowest": "1000"}, {"baccarat", "chemin"}),
            ({"open": "1"}, {"baccarat", "chemin", "live"}),
            ({"chat": "sv"}, {"chemin"}),
        ],
        3,
    ),
)
def test_it_is_found_by_what_is_asked_for(asked: dict[str, str], found: Iterable[str]) -> None:
    a_table()
    a_live_table()
    Table.objects.filter(pk=a_chemin_live_table().pk).update(chat_language="sv")
    assert set(shown(browser_of(a_player()).get(LOBBY, asked).text)) == found
