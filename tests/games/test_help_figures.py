"""Every figure on a help page equals a value computed in another way."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

import pytest

from games.engine.bets import PUSH, Variant
from games.engine.cards import FULL_DECK
from games.engine.conditions import EVERY_COUP
from games.engine.coup import Side, deal
from games.engine.odds import exact, return_at
from games.models import TableVersion
from games.variants import GAMES, LANGUAGES, VARIANTS
from tests.builders import a_golden_table, a_table
from tests.games.help_figures import CURRENCY, amount, cards, exactly, examples_of, figures_of, ladder, played, written
from tests.games.help_pages import Tag, help_page, help_without_tables, shown_cards
from tests.harness.sweeps import sample
from wallet.models import Currency
from wallet.money import format_money

pytestmark = pytest.mark.django_db

PAIR_OF = {total: ("KS", "QS") if total == 0 else ("KS", f"{'A' if total == 1 else total}S") for total in range(8)}
"""Two cards for each total that is not a natural."""
DRAWS = "draw"
NOT_FIGURES = {"table", "figure", "details"}

every_language = pytest.mark.parametrize("language", sample(LANGUAGES, 1))
every_game = pytest.mark.parametrize("slug", GAMES)
every_variant = pytest.mark.parametrize("slug", VARIANTS)


def outcomes(variant: Variant, code: str) -> set[str]:
    """Return the payouts of a bet over all coups as the paytable prints them; "" is a push."""
    paid = {variant.bet(code).pays(coup) for coup in EVERY_COUP}
    return {"" if pays == PUSH else f"{pays.win}:{pays.per}" for pays in paid if pays is not None}


def banker_draws_in_play(total: int) -> list[bool]:
    """Return whether the Banker draws on this total as dealt.

    First if Player stood, then for each third card of Player.
    """
    one, two = PAIR_OF[total]
    stood = deal(cards(f"KH {one} 7H {two} 2D 2C"))
    against = [
        deal(cards(f"KH {one} QH {two} {'KD' if p == 0 else 'AD' if p == 1 else f'{p}D'} 2C")) for p in range(10)
    ]
    return [len(coup.banker) == 3 for coup in (stood, *against)]


def figures_in_prose(part: Tag) -> str:
    """Return the text of a page without tables, examples and the line about decks."""
    words = []
    for inside in part.inside:
        if isinstance(inside, str):
            words.append(inside)
        elif inside.name not in NOT_FIGURES and "decks" not in inside.classes:
            words.append(figures_in_prose(inside))
    return " ".join(words)


@every_language
@every_variant
class TestTablesOfPuntoBanco:
    def test_the_paytable_prints_what_each_bet_can_pay(self, language: str, slug: str) -> None:
        variant, name = VARIANTS[slug], ""
        printed: dict[str, set[str]] = {}
        for row in help_without_tables(language, slug).one("table", "paytable").rows:
            name = row[0] if len(row) == 3 else name
            printed.setdefault(name, set()).add(row[-1] if ":" in row[-1] else "")
        names = {variant.label(language, f"bet.{bet.code}"): bet.code for bet in variant.bets}
        assert printed == {name: outcomes(variant, code) for name, code in names.items()}

    def test_third_cards_are_dealt_as_printed(self, language: str, slug: str) -> None:
        player, banker = help_without_tables(language, slug).one("article").all("table", "tableau")
        cells = player.one("tbody").all("td")[:8]
        for total, cell in enumerate(cells):
            one, two = PAIR_OF[total]
            coup = deal(cards(f"{one} KH {two} 7H 2D 2C"))
            assert (DRAWS in cell.classes) == (len(coup.player) == 3)
        rows = banker.one("tbody").all("tr")
        assert len(rows) == 8
        for total, row in enumerate(rows):
            assert [DRAWS in cell.classes for cell in row.all("td")] == banker_draws_in_play(total)

    def test_returns_are_the_declared_ones(self, language: str, slug: str) -> None:
        variant, returns = VARIANTS[slug], help_without_tables(language, slug).one("article").all("table", "returns")[0]
        expected = []
        for bet in variant.bets:
            rtp = exactly(exact(variant)[bet.code].rtp)
            positions = len(variant.declared[bet.code].partition(".")[2])
            assert str(rtp.quantize(Decimal(10) ** -positions, ROUND_HALF_UP)) == variant.declared[bet.code]
            name = variant.label(language, f"bet.{bet.code}")
            expected.append([name, written(rtp, language), written(100 - rtp, language)])
        assert returns.rows == expected
        digits = len(variant.headline.percent.partition(".")[2])
        headline = Decimal(variant.headline.percent)
        foot = [cell.text for cell in returns.one("tfoot").all("td")]
        assert foot == [written(headline, language, digits), written(100 - headline, language, digits)]

    def test_the_line_about_decks_has_their_number(self, language: str, slug: str) -> None:
        line = help_without_tables(language, slug).one("article").one("p", "decks").text
        assert re.findall(r"\d+", line) == [str(VARIANTS[slug].decks), str(len(FULL_DECK))]


@every_language
@pytest.mark.parametrize("slug", sample(["baccarat", "golden"], 1))
class TestLimits:
    def test_limits_are_those_of_the_table(self, language: str, slug: str) -> None:
        (a_table if slug == "baccarat" else a_golden_table)()
        stored, variant = TableVersion.objects.get().limits, VARIANTS[slug]
        tables = help_page(language, slug).one("article").all("table", "bet-limits")
        order = sorted(Currency.values, key=lambda currency: currency != CURRENCY[language])
        assert set(stored) == set(order)
        for printed, currency in zip(tables, order, strict=True):
            assert printed.rows == [
                [
                    variant.label(language, f"bet.{bet.code}"),
                    ladder(variant, bet.code),
                    *(format_money(each, currency, language) for each in stored[currency]["bets"][bet.code]),
                ]
                for bet in variant.bets
            ]

    def test_returns_at_the_smallest_stake_are_rounded_as_the_engine_does(self, language: str, slug: str) -> None:
        (a_table if slug == "baccarat" else a_golden_table)()
        stored, variant = TableVersion.objects.get().limits, VARIANTS[slug]
        printed = help_page(language, slug).one("article").all("table", "returns")[1]
        currencies = [head.text for head in printed.one("thead").all("th")][1:]
        assert set(currencies) == set(stored)
        for row, bet in zip(printed.rows, variant.bets, strict=True):
            for cell, currency in zip(row[1:], currencies, strict=True):
                least = stored[currency]["bets"][bet.code][0]
                assert format_money(least, currency, language) in cell
                assert cell.startswith(written(exactly(return_at(variant, bet.code, least)), language))


@every_language
@every_variant
def test_every_example_is_dealt_and_settled_by_the_engine(language: str, slug: str) -> None:
    variant, figures = VARIANTS[slug], help_without_tables(language, slug).one("article").all("figure", "example")
    for figure, example in zip(figures, examples_of(slug, language), strict=True):
        coup, settlement = played(variant, example)
        for side, hand in zip(Side, figure.all("div", "small-hand"), strict=True):
            assert shown_cards(hand) == [card.code for card in coup.hand(side)]
            assert hand.one("b").text == coup.score(side)
            assert ("small-hand--won" in hand.classes) == (coup.outcome.value == side.value)
        bets = figure.one("table", "example__bets")
        assert bets.rows == [
            [variant.label(language, f"bet.{line.bet}"), amount(line.stake, language), amount(line.payout, language)]
            for line in settlement.lines
        ]
        total = [cell.text for cell in bets.one("tfoot").all("td")]
        assert total == [amount(settlement.staked, language), amount(settlement.paid, language)]


@every_language
@every_game
def test_every_figure_in_the_prose_is_worked_out_again(language: str, slug: str) -> None:
    text = re.sub(r"[ \n]+", " ", figures_in_prose(help_without_tables(language, slug).one("article")))
    expected = {figure for figure in figures_of(slug, language) if re.search(r"\d", figure)}
    for figure in sorted(expected, key=len, reverse=True):
        assert figure in text
        text = re.sub(rf"(?<!\d){re.escape(figure)}(?!\d)", "", text)
    assert re.findall(r".{0,20}\d.{0,20}", text.replace("SHA-256", "")) == []
