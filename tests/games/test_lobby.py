"""The lobby shows each solo table with a sample hand, bets and limits, and links to the help."""

import re

import pytest

from games.engine.cards import Card
from games.engine.coup import Outcome, deal
from games.engine.roads import Bead, good_road
from games.lobby.selectors import COUPS, still
from games.shared.pages.scoreboard import EXAMPLES
from games.variants import GAMES, VARIANTS
from tests.builders import a_player, a_table
from tests.people import a_visitor


@pytest.mark.parametrize("cards", COUPS)
def test_the_rules_take_every_card_of_a_picture(cards):
    assert [card.code for card in deal([Card.parse(code) for code in cards.split()]).cards] == cards.split()


@pytest.mark.parametrize("slug", VARIANTS)
def test_a_picture_says_what_the_game_pays(slug):
    variant = VARIANTS[slug]
    pays = {bet.code: bet.pays_text for bet in variant.bets}
    printed = [(bet.code, bet.pays) for bet in still(variant, 0, "en").bets]
    assert printed == [(code, pays[code]) for code in ("player", "tie", "banker")]


@pytest.mark.django_db
class TestThePage:
    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("language", "money"), [("sv", "kr"), ("da", "kr."), ("ro", "RON"), ("de", "€"), ("en", "£")]
    )
    def test_gives_a_visitor_the_limits_in_the_money_of_their_language(self, language, money):
        a_table()
        assert money in facts(a_visitor().get(f"/{language}/").text)

    def test_gives_a_player_the_limits_in_their_own_money(self):
        a_table()
        visitor = a_visitor()
        visitor.force_login(a_player("DE").user)
        assert "€" in facts(visitor.get("/en/").text)

    @pytest.mark.sweep
    @pytest.mark.parametrize(("is_open", "cards"), [(True, True), (False, False)], ids=["open", "closed"])
    def test_has_cards_only_on_an_open_table(self, is_open, cards):
        a_table(is_open=is_open)
        picture = a_visitor().get("/en/").text.split('class="table-card"')[1].split("table-card__text")[0]
        assert ("card__face" in picture, 'class="slot"' in picture) == (cards, not cards)

    @pytest.mark.sweep
    @pytest.mark.parametrize("who", ["visitor", "player"])
    def test_leads_to_the_help_of_every_game(self, who):
        visitor = a_visitor()
        if who == "player":
            visitor.force_login(a_player().user)
        page = visitor.get("/en/").text
        assert set(re.findall(r'href="/en/help/([\w-]+)/"', page)) >= set(GAMES)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("who", "money", "way"),
    [
        ("player", "", "/en/table/baccarat/real/"),
        ("player", "free", "/en/table/baccarat/free/"),
        ("visitor", "demo", "/en/demo/baccarat/"),
        ("visitor", "", "/en/"),
    ],
)
def test_rules_lead_back_to_the_kind_of_game_they_were_opened_from(who, money, way):
    a_table()
    visitor = a_visitor()
    if who == "player":
        visitor.force_login(a_player().user)
    page = visitor.get("/en/help/baccarat/", {"money": money}).text.split("<main")[1]
    assert set(re.findall(r'class="button button--go" href="([^"]*)"', page)) == {way}
    if who == "player":
        there = visitor.get(f"/en/table/baccarat/{money or 'real'}/").text
        assert set(re.findall(r'href="(/en/help/baccarat/[^#"]*)[#"]', there)) == {
            f"/en/help/baccarat/{f'?money={money}' if money else ''}"
        }


def facts(page: str) -> str:
    """Return limits and decks on the first table card."""
    return page.split("table-card__facts")[1].split("</dl>")[0]


@pytest.mark.parametrize("road", EXAMPLES)
def test_the_picture_of_a_good_road_in_the_help_is_one(road):
    outcomes = {"P": Outcome.PLAYER, "B": Outcome.BANKER}
    assert good_road([Bead(outcomes[letter]) for letter in EXAMPLES[road]]) == road
