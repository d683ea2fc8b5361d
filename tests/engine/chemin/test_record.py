"""A coup is recomputed from its record, and an impossible record is refused.

`test_any_evening` shows that every settled coup gives the same result.
"""

import pytest

from games.engine.cards import Card
from games.engine.chemin import Outcome
from games.engine.chemin.events import SettledStake
from games.engine.chemin.record import Played, RecordError, possible_outcomes, recompute_coup
from games.engine.chemin.state import Chips

ALONE = (Chips(2, 1000),)
SEVERAL = (Chips(2, 630), Chips(3, 309))


def recomputed(
    cards: str,
    punter_draws: bool | None = None,
    banker_draws: bool | None = None,
    *,
    stakes: tuple[Chips, ...] = ALONE,
    bank: int = 1000,
) -> Played:
    dealt = [Card.parse(code) for code in cards.split()]
    return recompute_coup(dealt, stakes=stakes, bank=bank, punter_draws=punter_draws, banker_draws=banker_draws)


def codes(played: Played) -> str:
    return " ".join(card.code for card in played.cards)


def test_the_banker_wins_the_stakes_less_the_tax_on_them_all() -> None:
    played = recomputed("TC TD 6C 7D", False, False, stakes=SEVERAL)
    assert played.outcome is Outcome.BANKER
    assert played.stakes == (SettledStake(2, 630, 0), SettledStake(3, 309, 0))
    assert played.tax == 46
    assert played.bank == 1000 + 939 - 46


def test_punters_win_as_much_as_they_staked() -> None:
    played = recomputed("TC TD 7C 6D", False, False, stakes=SEVERAL)
    assert played.outcome is Outcome.PUNTER
    assert played.stakes == (SettledStake(2, 630, 1260), SettledStake(3, 309, 618))
    assert (played.tax, played.bank) == (0, 61)


def test_a_draw_returns_every_stake() -> None:
    played = recomputed("TC TD 7C 7D", False, False)
    assert played.outcome is Outcome.DRAW
    assert played.stakes == (SettledStake(2, 1000, 1000),)
    assert (played.tax, played.bank) == (0, 1000)


def test_third_cards_come_after_the_first_four_the_punters_first() -> None:
    played = recomputed("TC TD 4C 3D 2H 9S AC", punter_draws=True, banker_draws=True)
    assert codes(played) == "TC TD 4C 3D 2H 9S"
    assert (played.punter.total, played.banker.total) == (6, 2)


def test_no_more_cards_are_taken_than_the_coup_needs() -> None:
    assert codes(recomputed("TC TD 6C 5D 2H 9S", False, True)) == "TC TD 6C 5D 2H"
    assert codes(recomputed("TC TD 9C 5D 2H 9S")) == "TC TD 9C 5D"


def test_against_a_natural_no_card_is_drawn() -> None:
    played = recomputed("TC TD 4C 9D 2H", punter_draws=True)
    assert codes(played) == "TC TD 4C 9D"
    assert not played.punter_departs


@pytest.mark.parametrize(
    ("cards", "punter_draws", "banker_draws", "departs"),
    [
        ("TC TD 4C 7D", False, False, (True, False)),
        ("TC TD 6C 7D 2H", True, False, (True, False)),
        ("TC TD 5C 7D 2H", True, False, (False, False)),
        ("TC TD 5C 7D", False, False, (False, False)),
        ("TC TD 6C 6D 2H", False, True, (False, True)),
        ("TC TD 4C 3D 9H", True, False, (False, False)),
        ("TC TD 4C 3D 8H 2S", True, True, (False, True)),
        ("TC TD 4C 9D", False, None, (True, False)),
    ],
)
def test_it_names_who_departed_from_the_rule(
    cards: str, punter_draws: bool, banker_draws: bool | None, departs: tuple[bool, bool]
) -> None:
    played = recomputed(cards, punter_draws, banker_draws)
    assert (played.punter_departs, played.banker_departs) == departs
    if any(departs):
        with pytest.raises(RecordError, match="several players"):
            recomputed(cards, punter_draws, banker_draws, stakes=SEVERAL)


@pytest.mark.parametrize(
    ("cards", "punter_draws", "banker_draws", "why"),
    [
        ("TC TD 9C 5D 2H", True, None, "punter declared although"),
        ("TC TD 9C 5D 2H", None, True, "banker declared although"),
        ("TC TD 4C 9D 2H", True, False, "banker declared although"),
        ("TC TD 4C 5D 2H", None, False, "punter declared nothing"),
        ("TC TD 4C 5D 2H", True, None, "banker declared nothing"),
        ("TC TD 4C", None, None, "ran out"),
        ("TC TD 4C 5D", True, False, "ran out"),
        ("TC TD 4C 5D 5H", True, True, "ran out"),
    ],
)
def test_declarations_that_cannot_have_been_are_refused(
    cards: str, punter_draws: bool | None, banker_draws: bool | None, why: str
) -> None:
    with pytest.raises(RecordError, match=why):
        recomputed(cards, punter_draws, banker_draws)


@pytest.mark.parametrize(
    ("stakes", "why"),
    [
        ((), "without stakes"),
        ((Chips(2, 0),), "above zero"),
        ((Chips(2, 10), Chips(2, 20)), "twice"),
        ((Chips(2, 600), Chips(3, 401)), "1001 against a bank of 1000"),
    ],
)
def test_stakes_that_cannot_have_been_are_refused(stakes: tuple[Chips, ...], why: str) -> None:
    with pytest.raises(RecordError, match=why):
        recomputed("TC TD 9C 5D", stakes=stakes)


@pytest.mark.parametrize(
    ("cards", "outcomes"),
    [
        ("TC TD 9C 5D", {"punter"}),
        ("TC TD 6C 7D", {"banker"}),
        ("TC TD 5C 5D", {"draw"}),
        ("TC TD 5C 5D 3H", {"punter", "banker"}),
        ("TC TD 5C 5D 3H 4H", {"banker"}),
        ("TC TD 9C 5D 3H", set()),
        ("TC TD 4C", set()),
        ("TC TD 4C 5D 3H 4H 2S", set()),
    ],
)
def test_what_cards_alone_can_have_come_to(cards: str, outcomes: set[str]) -> None:
    assert possible_outcomes([Card.parse(code) for code in cards.split()]) == outcomes
