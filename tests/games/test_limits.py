"""Table limits for each currency, and the chips that make up a stake."""

import pytest

from games.betting.limits import Limits
from games.errors import OverMaximum, StakeOffStep, UnderMinimum, UnknownCurrency
from games.tables.board import stack
from games.tables.default_tables import baccarat_limits, golden_limits, no_commission_limits, pairs_limits

LIMITS = Limits.of(baccarat_limits(), "SEK")


def test_a_table_is_played_only_in_its_currencies():
    with pytest.raises(UnknownCurrency):
        Limits.of(baccarat_limits(), "USD")


def test_the_minimum_and_the_maximum_themselves_are_allowed():
    for bet, allowed in LIMITS.bets.items():
        LIMITS.check({bet: allowed.minimum})
        LIMITS.check({bet: allowed.maximum})


@pytest.mark.parametrize(("change", "error"), [(-1000, UnderMinimum), (1, StakeOffStep)])
def test_less_than_the_minimum_and_a_broken_step_are_refused(change, error):
    with pytest.raises(error) as refused:
        LIMITS.check({"player": LIMITS.bets["player"].minimum + change})
    assert (refused.value.bet, refused.value.currency) == ("player", "SEK")


def test_a_krona_more_than_the_maximum_is_refused():
    with pytest.raises(OverMaximum) as refused:
        LIMITS.check_maximum({"tie": LIMITS.bets["tie"].maximum + 100})
    assert refused.value.amount == LIMITS.bets["tie"].maximum


@pytest.mark.parametrize("currency", ["SEK", "DKK", "RON", "EUR", "GBP"])
def test_every_chip_is_a_multiple_of_the_step_and_the_smallest_makes_the_minimum(currency):
    limits = Limits.of(baccarat_limits(), currency)
    assert all(chip % limits.step == 0 for chip in limits.chips)
    assert limits.chips[0] <= limits.lowest


@pytest.mark.parametrize("currency", ["SEK", "DKK", "RON", "EUR", "GBP"])
@pytest.mark.parametrize("limits_of", [baccarat_limits, golden_limits, no_commission_limits, pairs_limits])
def test_the_chip_in_the_hand_at_first_is_a_stake_on_player_and_on_banker(limits_of, currency):
    limits = Limits.of(limits_of(), currency)
    limits.check({"player": limits.first_chip, "banker": limits.first_chip})
    assert not any(limits.bets["player"].minimum <= chip < limits.first_chip for chip in limits.chips)


def test_the_range_a_table_is_known_by_is_that_of_player_and_banker():
    limits = Limits.of(no_commission_limits(), "RON")
    assert (limits.main.minimum, limits.main.maximum) == (2_000, 10_000_000)
    assert limits.lowest == 500


@pytest.mark.parametrize("amount", [1000, 8000, 999_000, 2_000_000])
def test_a_stack_of_chips_comes_to_the_stake(amount):
    assert sum(chip.value for chip in stack(amount, LIMITS.chips)) == amount
