"""Exact odds under the house rule, compared with a count by single cards and with the table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from io import StringIO
from itertools import product
from math import perm

import pytest
from django.core.management import call_command

from games.engine.chemin import Outcome
from games.engine.chemin.odds import PolicyOdds, chemin_odds, chemin_odds_json, chemin_odds_table
from games.engine.chemin.rules import TAX, Advice
from games.engine.counting import BadDecks
from tests.engine.chemin.test_play import BANKER_AGAINST_STAND, BANKER_TABLE
from tests.harness.sweeps import sample

ONE_DECK = (16, 4, 4, 4, 4, 4, 4, 4, 4, 4)
"""Cards of 0, 1, … 9 points."""


def policy(odds: PolicyOdds) -> tuple[Advice, ...]:
    return odds.punter_on_5, odds.banker_3_9, odds.banker_5_4


def test_there_are_eight_policies() -> None:
    assert {policy(odds) for odds in chemin_odds()} == set(product((Advice.DRAW, Advice.STAND), repeat=3))


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_chances_add_up_to_one(decks: int) -> None:
    for odds in chemin_odds(decks):
        assert odds.punter_win + odds.draw + odds.banker_win == 1


def test_the_punter_gains_what_he_wins_less_what_he_loses_and_the_banker_the_opposite_less_tax() -> None:
    for odds in chemin_odds():
        assert odds.punter == odds.punter_win - odds.banker_win
        assert odds.banker_after_tax == -odds.punter - odds.banker_win * TAX


def test_what_the_punter_and_the_taxed_banker_gain_together_is_the_tax() -> None:
    for odds in chemin_odds():
        assert odds.punter + odds.banker_after_tax == -odds.banker_win / 20


@pytest.mark.parametrize("odds", sample(chemin_odds(1), 3), ids=lambda odds: "-".join(policy(odds)))
def test_counting_card_by_card_gives_the_same(odds: PolicyOdds) -> None:
    ways = card_by_card(odds)
    assert ways.total() == perm(52, 6)
    assert odds.punter_win == Fraction(ways[Outcome.PUNTER], perm(52, 6))
    assert odds.draw == Fraction(ways[Outcome.DRAW], perm(52, 6))
    assert odds.banker_win == Fraction(ways[Outcome.BANKER], perm(52, 6))


def card_by_card(policy: PolicyOdds) -> Counter[Outcome]:
    """Deal every sequence of points from one deck, by the printed tables of the house rules."""
    ways: Counter[Outcome] = Counter()
    for punter, banker, after_four, left in first_four():
        if punter >= 8 or banker >= 8:
            ways[better(punter, banker)] += after_four * perm(48, 2)
        elif punter < 5 or (punter == 5 and policy.punter_on_5 is Advice.DRAW):
            for third in range(10):
                now = list(left)
                now[third] -= 1
                letter = BANKER_TABLE[banker][third]
                choice = policy.banker_3_9 if third == 9 else policy.banker_5_4
                draws = letter == "D" or (letter == "F" and choice is Advice.DRAW)
                for fourth in range(10):
                    final = (banker + fourth) % 10 if draws else banker
                    ways[better((punter + third) % 10, final)] += after_four * left[third] * now[fourth]
        else:
            draws = BANKER_AGAINST_STAND[banker] == "D"
            for third in range(10):
                final = (banker + third) % 10 if draws else banker
                ways[better(punter, final)] += after_four * left[third] * 47
    return ways


def first_four() -> Iterator[tuple[int, int, int, list[int]]]:
    """Yield both totals of every first four cards, the number of ordered ways, and the cards
    left.
    """
    for cards in product(range(10), repeat=4):
        left, ways = list(ONE_DECK), 1
        for points in cards:
            ways *= left[points]
            left[points] -= 1
        if ways:
            yield (cards[0] + cards[2]) % 10, (cards[1] + cards[3]) % 10, ways, left


def better(punter: int, banker: int) -> Outcome:
    return Outcome.PUNTER if punter > banker else Outcome.DRAW if punter == banker else Outcome.BANKER


def test_a_shoe_without_decks_is_refused() -> None:
    with pytest.raises(BadDecks):
        chemin_odds(0)


def test_for_machines_every_share_is_a_fraction() -> None:
    written = chemin_odds_json(6)
    assert (written["variant"], written["decks"]) == ("chemin_de_fer", 6)
    assert len(written["policies"]) == 8
    first, odds = written["policies"][0], chemin_odds(6)[0]
    assert list(first) == [
        "punter_on_5",
        "banker_3_9",
        "banker_5_4",
        "punter_win",
        "draw",
        "banker_win",
        "punter",
        "banker_after_tax",
    ]
    assert first["punter_on_5"] == "draw"
    assert first["punter"] == f"{odds.punter.numerator}/{odds.punter.denominator}"


def test_for_people_a_line_each() -> None:
    title, heading, *lines = chemin_odds_table(6)
    assert title == "chemin_de_fer, decks: 6"
    assert heading.split()[-1] == "%"
    assert lines[0].split() == ["draw", "draw", "draw", "44.6372", "9.5242", "45.8386", "-1.2013", "-1.0906"]
    assert len(lines) == 8


@pytest.mark.parametrize("decks", [None, 1])
def test_the_odds_command_knows_this_game_too(decks: int | None) -> None:
    printed = StringIO()
    call_command("odds", "chemin_de_fer", "--json", *(["--decks", str(decks)] if decks else []), stdout=printed)
    assert json.loads(printed.getvalue()) == chemin_odds_json(decks or 6)
