"""The evidence against a return is a fair wager, raises no more false alarms than it says, and finds what is biased."""

from math import exp, inf, log
from pathlib import Path

import numpy as np
import pytest

from games.engine.bets import Shape, Variant
from games.engine.coup import deal
from games.engine.dealing import coups as coups_of_shoe
from games.engine.evidence import (
    BIAS,
    LIMIT,
    LOST,
    OTHER,
    bet_test,
    biased,
    ending_of,
    half_width,
    log_evidence_of,
    rounds_to_find,
)
from games.engine.odds import exact
from games.engine.shoe import shuffle
from games.simulation import all_coups
from games.variants import VARIANTS
from tests.harness.sweeps import sweep
from tests.returns.lives import alarms, by_bet, endings, log_evidence, numbered, seeds, ways

GAMES = list(VARIANTS.values())
BETS = [(game, bet.code) for game in GAMES for bet in game.bets]
SHARED = [game for game in GAMES if game.shape is Shape.SHARED]
EXAMPLE = VARIANTS["pairs"]  # the game that `make test` simulates
LIVES = 1_000
TABLES, CHECKS = 40, 100
FALSE = LIVES // 100  # alarms that may be raised: the chance of one is at most 1 in 110


def by_slug(value: object) -> str | None:
    return value.slug if isinstance(value, Variant) else None


def test_every_wager_on_every_bet_expects_exactly_what_it_owns():
    for game, bet in BETS:
        test = bet_test(game, bet)
        for wager in test.wagers:
            factors = {ending: test.factor(wager, ending) for ending in test.chances}
            assert min(factors.values()) > 0, (game.slug, bet)
            assert sum(chance * factors[ending] for ending, chance in test.chances.items()) == 1, (game.slug, bet)


@pytest.mark.parametrize("game", GAMES, ids=by_slug)
def test_the_evidence_against_a_game_expects_one_after_a_coup(game):
    """Bets of one coup depend on each other; the mean over them is still a fair wager."""
    expected = sum(
        float(chance)
        * exp(log_evidence_of(game, {bet.code: {end: 1} for bet, end in zip(game.bets, together, strict=True)}))
        for together, chance in ways(game).items()
    )
    assert expected == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("game", sweep(GAMES, always=[EXAMPLE]), ids=by_slug)
def test_gli19_a_6_2_a_thousand_fair_lives_raise_no_more_alarms_than_they_may(game):
    """Lives of ten million rounds, looked at after each ten-thousandth part of a way that grows: early and late."""
    chance = np.random.default_rng(20_261_122)
    likely = ways(game)
    rounds = np.diff(np.unique(np.geomspace(50, 10_000_000, 60).astype(int)), prepend=0)
    every, shares = list(likely), np.array([float(each) for each in likely.values()])
    counts = np.stack([chance.multinomial(size, shares / shares.sum(), LIVES) for size in rounds], axis=1)
    evidence = log_evidence(game, every, counts.cumsum(axis=1))
    assert alarms(evidence).sum() <= FALSE
    assert evidence[0, -1] == pytest.approx(log_evidence_of(game, by_bet(game, every, counts[0].sum(axis=0))))


@pytest.mark.sweep
@pytest.mark.parametrize("game", sweep(SHARED, always=[EXAMPLE]), ids=by_slug)
def test_a_thousand_lives_dealt_from_whole_shoes_raise_no_more_alarms_than_they_may(game):
    """Coups of one shoe depend on each other. Forty tables side by side for each life, each dealing a shoe to its end,
    looked at after every forty coups.
    """
    chance = np.random.default_rng(13)
    every, number = numbered(game)
    shoe = np.tile(np.arange(52, dtype=np.uint8), game.decks)
    counts = np.zeros((LIVES, CHECKS, len(every)), np.int64)
    for life in counts:
        dealt = number[all_coups(chance.permuted(np.tile(shoe, (TABLES, 1)), axis=1))]
        assert dealt.min() >= 0
        np.add.at(life, (np.arange(len(dealt)) // TABLES, dealt), 1)
    assert alarms(log_evidence(game, every, counts.cumsum(axis=1))).sum() <= FALSE


@pytest.mark.sweep
@pytest.mark.parametrize("game", sweep(GAMES, always=[EXAMPLE]), ids=by_slug)
def test_lives_dealt_by_the_engine_raise_none(game):
    every = list(ways(game))
    counts = np.zeros(len(every), np.int64)
    for seed in seeds(game.slug, 6):
        cards = shuffle(seed, game.decks)
        for coup in [deal(cards)] if game.shape is Shape.SOLO else coups_of_shoe(cards):
            counts[every.index(endings(game, coup))] += 1
            assert log_evidence_of(game, by_bet(game, every, counts)) < log(LIMIT)


@pytest.mark.parametrize(("game", "bet"), sweep(BETS, always=lambda case: case[0] == EXAMPLE), ids=by_slug)
@pytest.mark.parametrize("bias", [BIAS, -BIAS], ids=["more", "less"])
def test_a_bias_of_two_points_is_found_within_the_stated_number_of_rounds(game, bet, bias):
    """In at least 97 of 100 lives, where 99 are said: a hundred lives may show two fewer by chance."""
    chance = np.random.default_rng(2)
    test = bet_test(game, bet)
    likely = biased(test, bias)
    mean = sum(share * test.gains[ending] for ending, share in likely.items())
    assert mean - test.mean == bias
    within, found = rounds_to_find(game, bet), 0
    for drawn in chance.multinomial(within, [float(each) for each in likely.values()], 100):
        counts = dict(zip(likely, drawn.tolist(), strict=True))
        found += log_evidence_of(game, {bet: counts}) >= log(LIMIT)
    assert found >= 97


def test_the_number_of_rounds_is_near_the_least_there_can_be():
    """A single wager that knew the bias would need this many for a limit of a hundred; nobody knows it beforehand."""
    for game, bet in BETS:
        variance = float(bet_test(game, bet).variance)
        least = (2.326 + (2.326**2 + 2 * log(100)) ** 0.5) ** 2 * variance / float(BIAS) ** 2
        assert rounds_to_find(game, bet) < 1.3 * least


def test_the_numbers_of_rounds_are_those_of_the_manual():
    lines = (Path(__file__).parents[2] / "docs" / "returns.md").read_text().splitlines()
    shown = [line for line in lines if line.startswith("| ") and line[-3].isdecimal()]
    due = [
        f"| {game.label('en', 'name')} | {game.label('en', f'bet.{bet}')} | {rounds_to_find(game, bet):,} |"
        for game, bet in BETS
    ]
    assert "\n".join(shown) == "\n".join(due)


def test_what_no_bet_pays_is_evidence_without_end():
    game = VARIANTS["pairs"]
    assert log_evidence_of(game, {"banker": {LOST: 3, OTHER: 1}}) == inf
    assert log_evidence_of(game, {"insurance": {LOST: 1}}) == inf
    assert log_evidence_of(game, {}) == 0


@pytest.mark.parametrize(
    ("stake", "payout", "result", "ending"),
    [
        (100, 195, "win", "19:20"),
        (101, 196, "win", "19:20"),  # 95.95 is rounded down
        (1, 1, "win", "19:20"),  # nothing is left of it
        (1, 1, "push", "0:1"),
        (100, 0, "lose", LOST),
        (100, 200, "win", OTHER),
        (100, 0, "win", OTHER),
        (100, 100, "lose", OTHER),
    ],
)
def test_how_a_bet_ended_is_read_from_what_it_paid(stake, payout, result, ending):
    assert ending_of(VARIANTS["baccarat"], "banker", stake=stake, payout=payout, result=result) == ending


def test_the_band_holds_the_actual_return_of_ninety_nine_lives_in_a_hundred():
    """The rounds have different stakes: a few large ones weigh as much as in the money."""
    game, chance = VARIANTS["baccarat"], np.random.default_rng(99)
    test, odds = bet_test(game, "banker"), exact(game)["banker"]
    stakes = np.where(np.arange(2_000) % 50 == 0, 10_000, 300)
    staked, squares = int(stakes.sum()), int((stakes**2).sum())
    gains = np.array([float(gain) for gain in test.gains.values()])
    drawn = chance.choice(gains, (LIVES, 2_000), p=[float(each) for each in test.chances.values()])
    off = np.abs(drawn @ stakes / staked - float(odds.rtp - 1))
    width = half_width(odds.variance, staked=staked, squares=squares)
    assert 980 <= (off <= width).sum() < LIVES
    assert half_width(odds.variance, staked=0, squares=0) == inf
