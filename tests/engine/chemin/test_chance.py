"""Mean and variance at the table, compared with the gains in the odds."""

from fractions import Fraction

from games.engine.chemin import Side
from games.engine.chemin.odds import PolicyOdds, chemin_odds, usual_chance, worst_chance
from games.engine.chemin.rules import Advice

USUAL = (Advice.STAND, Advice.DRAW, Advice.DRAW)


def usual_odds() -> PolicyOdds:
    return next(odds for odds in chemin_odds() if (odds.punter_on_5, odds.banker_3_9, odds.banker_5_4) == USUAL)


def variance(results: dict[Fraction | int, Fraction]) -> Fraction:
    mean = sum((result * chance for result, chance in results.items()), Fraction())
    return sum(((result - mean) ** 2 * chance for result, chance in results.items()), Fraction())


def test_the_mean_is_what_each_side_gains_as_the_croupier_plays() -> None:
    assert usual_chance(Side.PUNTER).mean == usual_odds().punter
    assert usual_chance(Side.BANKER).mean == usual_odds().banker_after_tax


def test_the_variance_is_the_mean_square_of_what_differs_from_the_mean() -> None:
    odds = usual_odds()
    assert usual_chance(Side.PUNTER).variance == variance({1: odds.punter_win, 0: odds.draw, -1: odds.banker_win})
    banker = {Fraction(19, 20): odds.banker_win, Fraction(0): odds.draw, Fraction(-1): odds.punter_win}
    assert usual_chance(Side.BANKER).variance == variance(banker)  # type: ignore[arg-type]


def test_a_punter_loses_one_and_a_half_of_a_hundred_the_banker_half_of_that_to_the_tax() -> None:
    assert round(float(usual_chance(Side.PUNTER).mean), 4) == -0.0151
    assert round(float(usual_chance(Side.BANKER).mean), 4) == -0.0079
    assert round(float(usual_chance(Side.PUNTER).variance), 4) == 0.9077


def test_no_free_choice_within_the_rule_does_worse_than_the_worst() -> None:
    for odds in chemin_odds():
        assert worst_chance(Side.PUNTER).mean <= odds.punter
        assert worst_chance(Side.BANKER).mean <= odds.banker_after_tax
    assert worst_chance(Side.PUNTER).mean in {odds.punter for odds in chemin_odds()}
    assert worst_chance(Side.BANKER).mean in {odds.banker_after_tax for odds in chemin_odds()}
