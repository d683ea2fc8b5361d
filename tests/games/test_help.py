"""Rules pages: every figure on them comes from the engine that settles the bets."""

import re
from fractions import Fraction
from html import unescape

import pytest
from django.test import Client

from games.engine.odds import exact, return_at
from games.engine.tableau import banker_draws
from games.help import percent
from games.models import TableVersion
from games.variants import LANGUAGES, VARIANTS, help_text
from tests.builders import a_table

BACCARAT = VARIANTS["baccarat"]


def page(language: str, slug: str = "baccarat") -> str:
    answer = Client().get(f"/{language}/help/{slug}/")
    assert answer.status_code == 200
    return unescape(answer.text)


@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
class TestEveryLanguage:
    def test_is_readable_without_an_account_and_says_its_version_and_date(self, language):
        text = page(language)
        assert BACCARAT.version in text
        assert str(BACCARAT.changed.year) in text

    def test_prints_the_exact_return_of_every_bet(self, language):
        text = page(language)
        for odds in exact(BACCARAT).values():
            assert percent(odds.rtp, language) in text
            assert percent(odds.edge, language) in text

    def test_prints_the_return_of_the_whole_game_with_its_edge_beside_it(self, language):
        foot = (
            page(language)
            .partition('<table class="table returns">')[2]
            .partition("<tfoot>")[2]
            .partition("</tfoot>")[0]
        )
        headline = BACCARAT.headline
        mean = sum((exact(BACCARAT)[bet].rtp for bet in headline.bets), Fraction(0)) / len(headline.bets)
        digits = len(headline.percent.partition(".")[2])
        expected = [percent(share, language, digits) for share in (mean, 1 - mean)]
        assert re.findall(r'<td class="num">(.*?)</td>', foot) == expected

    def test_prints_what_every_bet_pays(self, language):
        table = page(language).partition('<table class="table paytable">')[2].partition("</table>")[0]
        assert table
        for bet in BACCARAT.bets:
            for prize in bet.prizes:
                assert not prize.pays.win or str(prize.pays) in table

    def test_prints_the_return_at_the_smallest_stake_of_every_currency(self, language):
        a_table()
        text = page(language)
        stored = TableVersion.objects.get().limits
        for limits in stored.values():
            for bet, (minimum, _maximum) in limits["bets"].items():
                assert percent(return_at(BACCARAT, bet, minimum), language) in text

    def test_leaves_no_mark_unfilled(self, language):
        assert "{{" not in page(language)
        assert "{{ paytable }}" in help_text("baccarat", language)


@pytest.mark.django_db
def test_the_bankers_table_is_the_engines():
    rows = re.findall(r"<tr><th scope=\"row\" class=\"num\">(\d)</th>(.*?)</tr>", page("en"), re.DOTALL)
    assert [int(total) for total, _cells in rows] == list(range(8))
    for total, cells in rows:
        printed = [cell == "draws" for cell in re.findall(r"<td class=\"(draws|stands)\"", cells)]
        assert printed == [banker_draws(int(total), third) for third in (None, *range(10))]


@pytest.mark.django_db
def test_an_unknown_game_has_no_rules():
    assert Client().get("/en/help/roulette/").status_code == 404


@pytest.mark.parametrize(
    ("value", "language", "printed"),
    [
        (Fraction(9899, 10000), "en", "98.99 %"),
        (Fraction(9899, 10000), "sv", "98,99 %"),
        (Fraction(98995, 100000), "en", "99.00 %"),  # half rounds up
        (Fraction(1, 3), "de", "33,33 %"),
    ],
)
def test_percentages_are_written_as_the_language_does(value, language, printed):
    assert percent(value, language) == printed
