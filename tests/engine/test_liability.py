"""The largest possible loss of the house in a round."""

import random
from collections import Counter

import pytest

from games.engine import settle
from games.engine.bets import LARGEST_STAKE, UnknownBet, Variant
from games.engine.conditions import EVERY_COUP
from games.engine.counting import count_coups
from games.engine.settle import largest_loss, largest_win
from games.variants import VARIANTS
from tests.engine.builders import coup
from tests.harness.sweeps import sample

NO_COMMISSION, PAIRS = VARIANTS["no_commission"], VARIANTS["pairs"]

every_variant = pytest.mark.parametrize("variant", sample(VARIANTS.values(), 1), ids=VARIANTS)


def some_stakes(variant: Variant, chance: random.Random) -> dict[str, int]:
    """Return random bets from one minor unit to the largest stake, sometimes zero."""
    some = chance.sample(variant.bets, chance.randint(1, len(variant.bets)))
    return {bet.code: chance.choice((0, 1, 3, 19, 10 ** chance.randint(0, 15), LARGEST_STAKE)) for bet in some}


def loss_by_hand(variant: Variant, facts: object, stakes: dict[str, int]) -> int:
    """Return the house's loss on one coup."""
    paid = 0
    for code, stake in stakes.items():
        pays = variant.bet(code).pays(facts)  # type: ignore[arg-type]
        paid += 0 if pays is None else stake + stake * pays.win // pays.per
    return paid - sum(stakes.values())


@pytest.mark.parametrize(
    ("variant", "stakes", "loss"),
    [
        (NO_COMMISSION, {}, 0),
        (NO_COMMISSION, {"player": 0}, 0),
        (NO_COMMISSION, {"player": 100}, 100),
        (NO_COMMISSION, {"banker": 100}, 100),
        (NO_COMMISSION, {"player": 100, "banker": 100}, 0),
        (NO_COMMISSION, {"player": 1000, "banker": 400}, 600),
        (NO_COMMISSION, {"tie": 100}, 800),
        (NO_COMMISSION, {"player": 500, "tie": 100}, 800),
        (NO_COMMISSION, {"player": 1000, "tie": 100}, 900),
        (NO_COMMISSION, {"banker": 100, "super_6": 100}, 50 + 1500),
        (NO_COMMISSION, {"banker": 101, "super_6": 1}, 100),
        (NO_COMMISSION, {"player": 100, "player_bonus": 100}, 100 + 3000),
        (NO_COMMISSION, {"player_bonus": 100, "banker_bonus": 100}, 3000 - 100),
        (NO_COMMISSION, {"banker_bonus": 10, "super_6": 100}, 1500 + 40),
        (NO_COMMISSION, {"player": 10, "player_pair": 10, "either_pair": 10, "perfect_pair": 10}, 10 + 110 + 50 + 2000),
        (PAIRS, {"banker": 50}, 47),
        (PAIRS, {"banker": 1}, 0),
        (PAIRS, {"tie": 100, "banker": 100}, 900),
        (PAIRS, {"player": 100, "tie": 10, "player_pair": 10, "banker_pair": 10}, 110 + 110 + 90),
    ],
)
def test_the_largest_loss_is_what_the_worst_coup_costs(variant: Variant, stakes: dict[str, int], loss: int) -> None:
    assert largest_loss(variant, stakes) == loss


@every_variant
def test_no_coup_costs_more_and_one_costs_as_much(variant: Variant) -> None:
    chance = random.Random(1906)
    for _ in range(60):
        stakes = some_stakes(variant, chance)
        assert largest_loss(variant, stakes) == max(0, *(loss_by_hand(variant, each, stakes) for each in EVERY_COUP))


@every_variant
def test_the_worst_coup_is_always_one_that_the_shoe_can_deal(variant: Variant) -> None:
    """Some classes of coups are impossible: a pair has an even total, so it is never a natural
    nine.

    None of them costs more than all possible ones, so the loss is exact and not only a bound.
    """
    possible = [coup for coup, ways in count_coups(variant.decks).items() if ways]
    assert len(possible) < len(EVERY_COUP)
    chance = random.Random(1907)
    for _ in range(60):
        stakes = some_stakes(variant, chance)
        assert largest_loss(variant, stakes) == max(0, *(loss_by_hand(variant, each, stakes) for each in possible))


@every_variant
def test_what_many_players_win_together_is_never_more_and_hardly_less(variant: Variant) -> None:
    """Each player's win is rounded down separately."""
    chance = random.Random(1908)
    for _ in range(20):
        everybody = [some_stakes(variant, chance) for _ in range(chance.randint(1, 12))]
        together: Counter[str] = Counter()
        for stakes in everybody:
            together.update(stakes)
        real = max(0, *(sum(loss_by_hand(variant, each, stakes) for stakes in everybody) for each in EVERY_COUP))
        assert real <= largest_loss(variant, together) <= real + sum(map(len, everybody))


@every_variant
def test_a_chip_adds_to_the_loss_at_most_what_it_can_win(variant: Variant) -> None:
    chance = random.Random(1909)
    for _ in range(60):
        stakes = some_stakes(variant, chance)
        bet = chance.choice(variant.bets)
        chip = 10 ** chance.randint(0, 9)
        more = {**stakes, bet.code: stakes.get(bet.code, 0) + chip}
        most = max(prize.pays.payout(chip) - chip for prize in bet.prizes)
        assert -chip <= largest_loss(variant, more) - largest_loss(variant, stakes) <= most + 1


@every_variant
def test_twice_the_stakes_lose_at_least_twice_as_much(variant: Variant) -> None:
    chance = random.Random(1910)
    for _ in range(60):
        stakes = some_stakes(variant, chance)
        once, twice = largest_loss(variant, stakes), largest_loss(variant, {bet: 2 * stakes[bet] for bet in stakes})
        assert 2 * once <= twice <= 2 * once + len(stakes)


@every_variant
def test_whatever_is_taken_back_the_house_loses_no_more_than_the_bets_that_win_bring(variant: Variant) -> None:
    chance = random.Random(1911)
    for _ in range(60):
        stakes = some_stakes(variant, chance)
        left = {bet: chance.choice((0, stake // 2, stake)) for bet, stake in stakes.items()}
        assert largest_loss(variant, left) <= largest_win(variant, left) <= largest_win(variant, stakes)


@every_variant
def test_the_house_loses_as_much_as_the_winning_bets_bring_once_the_losing_ones_are_taken_back(
    variant: Variant,
) -> None:
    chance = random.Random(1912)
    for _ in range(20):
        stakes = some_stakes(variant, chance)
        winning = [{bet: stake for bet, stake in stakes.items() if variant.bet(bet).pays(each)} for each in EVERY_COUP]
        assert largest_win(variant, stakes) == max(largest_loss(variant, left) for left in winning)


@every_variant
def test_a_bet_by_itself_loses_its_best_prize(variant: Variant) -> None:
    for bet in variant.bets:
        assert largest_loss(variant, {bet.code: 20}) == max(prize.pays.payout(20) - 20 for prize in bet.prizes)


def test_stakes_on_both_sides_that_the_rules_refuse_to_one_player_are_counted_for_all_of_them() -> None:
    assert largest_loss(PAIRS, {"player": 300, "banker": 100}) == 200


def test_a_bet_the_game_has_not_is_refused() -> None:
    with pytest.raises(UnknownBet):
        largest_loss(PAIRS, {"player": 1, "super_6": 1})


def test_four_ways_to_pay_decide_about_ten_bets_however_many_coups_there_are() -> None:
    """The loss is recomputed with every chip, so it must not evaluate a thousand coups each
    time.
    """
    assert len(settle.worst_rows(NO_COMMISSION.bets)) == 4


def test_the_loss_named_can_really_happen() -> None:
    """All ten bets of one table, on the most expensive coup."""
    stakes = dict.fromkeys((bet.code for bet in NO_COMMISSION.bets), 100)
    dealt = coup("KC KD KC KD 9H TC")
    assert loss_by_hand(NO_COMMISSION, dealt, stakes) == largest_loss(NO_COMMISSION, stakes)
