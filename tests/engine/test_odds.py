"""Returns: the published figures, and the effect of rounding."""

from fractions import Fraction
from math import sqrt

import pytest

from games.engine.bets import Variant
from games.engine.odds import (
    LIVE_MINIMUM,
    BadDecks,
    BadStakes,
    exact,
    lowest_return,
    percent,
    return_at,
    square_root,
)
from games.engine.settle import UnknownBet
from games.variants import VARIANTS

BACCARAT, NO_COMMISSION, PAIRS = (VARIANTS[slug] for slug in ("baccarat", "no_commission", "pairs"))


def published(slug: str, positions: int) -> dict[str, str]:
    """Return the exact returns of a game, rounded as printed."""
    return {bet: percent(odds.rtp, positions) for bet, odds in exact(VARIANTS[slug]).items()}


@pytest.mark.parametrize("slug", ["baccarat", "golden"])
def test_gli19_4_6_baccarat_with_one_deck_returns_what_was_published(slug: str) -> None:
    assert published(slug, 2) == {"player": "98.71", "banker": "98.99", "tie": "84.25"}


def test_the_mean_over_the_bets_of_baccarat_is_shown_as_93_985() -> None:
    odds = exact(BACCARAT)
    mean = (odds["player"].rtp + odds["banker"].rtp + odds["tie"].rtp) / 3
    assert (percent(mean, 5), percent(mean, 3)) == ("93.98525", "93.985")


def test_gli19_4_6_no_commission_with_eight_decks_returns_what_was_published() -> None:
    assert published("no_commission", 2) == {
        "player": "98.76",
        "banker": "98.54",
        "tie": "85.64",
        "super_6": "86.18",
        "player_pair": "89.64",
        "banker_pair": "89.64",
        "either_pair": "86.29",
        "perfect_pair": "91.95",
        "player_bonus": "97.35",
        "banker_bonus": "90.63",
    }


def test_baccarat_with_pairs_with_eight_decks_returns_exactly_this() -> None:
    assert published("pairs", 4) == {
        "player": "98.7649",
        "banker": "98.9421",
        "tie": "95.1560",
        "player_pair": "89.6386",
        "banker_pair": "89.6386",
    }


@pytest.mark.parametrize("decks", [1, 2, 6, 8])
def test_a_pair_is_as_likely_as_a_second_card_of_the_first_one_s_rank(decks: int) -> None:
    chance = Fraction(4 * decks - 1, 52 * decks - 1)
    assert exact(PAIRS, decks)["player_pair"].win == chance
    assert exact(PAIRS, decks)["player_pair"].rtp == 12 * chance


def test_odds_are_those_of_the_decks_the_game_is_played_with_unless_others_are_asked_for() -> None:
    assert exact(BACCARAT) == exact(BACCARAT, 1) != exact(BACCARAT, 8)
    assert exact(BACCARAT, 8)["banker"].rtp == exact(PAIRS)["banker"].rtp


def test_more_decks_come_ever_nearer_to_a_deck_without_end() -> None:
    gaps = [abs(exact(BACCARAT, decks)["player"].rtp - exact(BACCARAT, 10_000)["player"].rtp) for decks in (1, 8, 100)]
    assert gaps == sorted(gaps, reverse=True)


def test_variance_is_the_mean_square_of_the_gain_about_its_mean() -> None:
    odds = exact(BACCARAT)["tie"]
    assert odds.variance == 81 * odds.win * (1 - odds.win)


def test_every_game_is_refused_with_less_than_one_deck() -> None:
    with pytest.raises(BadDecks):
        exact(BACCARAT, 0)


def test_one_unit_on_banker_returns_55_percent() -> None:
    assert percent(return_at(BACCARAT, "banker", 1), 1) == "55.3"


def test_a_stake_that_the_commission_divides_returns_the_exact_figure() -> None:
    assert return_at(BACCARAT, "banker", 20) == exact(BACCARAT)["banker"].rtp
    assert return_at(BACCARAT, "banker", 50) < exact(BACCARAT)["banker"].rtp


def test_even_money_loses_nothing_to_rounding() -> None:
    assert return_at(BACCARAT, "player", 1) == exact(BACCARAT)["player"].rtp


@pytest.mark.parametrize(
    ("variant", "bet", "minimum", "maximum", "step"),
    [
        (BACCARAT, "banker", 1, 500, 1),
        (BACCARAT, "banker", 7, 500, 1),
        (BACCARAT, "banker", 50, 5000, 25),
        (BACCARAT, "banker", 30, 30, 30),
        (BACCARAT, "banker", 10, 990, 7),
        (BACCARAT, "player", 3, 300, 3),
        (NO_COMMISSION, "banker", 1, 200, 1),
        (NO_COMMISSION, "banker", 3, 200, 3),
    ],
)
def test_gli19_4_7_1_the_lowest_return_is_the_least_over_every_stake_there_is(
    variant: Variant, bet: str, minimum: int, maximum: int, step: int
) -> None:
    stakes = [stake for stake in range(minimum, maximum + 1) if stake % step == 0]
    returns = [(return_at(variant, bet, stake), stake) for stake in stakes]
    assert lowest_return(variant, bet, minimum, maximum, step) == min(returns)


def test_the_smallest_stake_is_not_always_the_worst() -> None:
    assert lowest_return(BACCARAT, "banker", 20, 1000, 1)[1] == 21


def test_the_worst_stake_is_found_at_once_among_very_many() -> None:
    assert lowest_return(BACCARAT, "banker", 1, 10**15, 1) == (return_at(BACCARAT, "banker", 1), 1)


@pytest.mark.parametrize(("minimum", "maximum", "step"), [(0, 10, 1), (1, 0, 1), (1, 10, 0), (11, 19, 10), (-5, 5, 1)])
def test_limits_without_a_stake_between_them_are_refused(minimum: int, maximum: int, step: int) -> None:
    with pytest.raises(BadStakes):
        lowest_return(BACCARAT, "banker", minimum, maximum, step)


def test_a_bet_the_game_has_not_has_no_return() -> None:
    with pytest.raises(UnknownBet):
        return_at(BACCARAT, "super_6", 100)


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_every_bet_can_go_live_at_stakes_that_rounding_leaves_alone(variant: Variant) -> None:
    assert all(lowest_return(variant, bet.code, 100, 10_000, 100)[0] >= LIVE_MINIMUM for bet in variant.bets)


def test_banker_at_one_unit_cannot_go_live() -> None:
    assert lowest_return(BACCARAT, "banker", 1, 10_000, 1)[0] < LIVE_MINIMUM


def test_gli19_4_7_1_pair_bets_with_one_deck_cannot_go_live() -> None:
    assert lowest_return(PAIRS, "player_pair", 100, 10_000, 100, decks=1)[0] < LIVE_MINIMUM
    assert lowest_return(NO_COMMISSION, "perfect_pair", 100, 10_000, 100, decks=1)[0] < LIVE_MINIMUM


@pytest.mark.parametrize(
    ("share", "positions", "written"),
    [
        (Fraction(1), 2, "100.00"),
        (Fraction(0), 4, "0.0000"),
        (Fraction(1, 3), 4, "33.3333"),
        (Fraction(2, 3), 4, "66.6667"),
        (Fraction(98765, 10**7), 2, "0.99"),
        (Fraction(5, 10**5), 2, "0.01"),
        (Fraction(-1), 2, "-100.00"),
        (Fraction(-1, 3), 4, "-33.3333"),
        (Fraction(-12351, 10**6), 4, "-1.2351"),
        (Fraction(-1, 10**4), 2, "-0.01"),
        (Fraction(-5, 10**5), 2, "0.00"),
    ],
)
def test_percentages_are_rounded_half_up(share: Fraction, positions: int, written: str) -> None:
    assert percent(share, positions) == written


@pytest.mark.parametrize("number", [Fraction(2), Fraction(1, 3), Fraction(81, 16)])
def test_a_square_root_is_cut_off_after_its_digits(number: Fraction) -> None:
    assert square_root(number, 4) == f"{int(sqrt(number) * 10_000) / 10_000:.4f}"
