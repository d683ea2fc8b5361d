"""The felt of a variant: each bet is in every layout once."""

import dataclasses

import pytest

from games.engine.felt import FeltError, Height, Tone, grid, row
from games.variants import VARIANTS
from games.variants.common import THREE_BETS

MAIN = row(Height.MAIN, player=1, banker=1)
BETS = ("player", "banker", "tie")


@pytest.mark.parametrize("layout", ["wide", "narrow", "low"])
@pytest.mark.parametrize(
    "rows",
    [(MAIN,), (MAIN, row(Height.SLIM, tie=1, player=1)), (MAIN, row(Height.SLIM, tie=1, other=1))],
    ids=["left out", "twice", "unknown"],
)
def test_a_layout_without_each_bet_once_is_refused(layout, rows):
    with pytest.raises(FeltError):
        dataclasses.replace(THREE_BETS, **{layout: rows}).check(BETS)


def test_a_tone_of_an_unknown_bet_is_refused():
    with pytest.raises(FeltError):
        dataclasses.replace(THREE_BETS, tones={"other": Tone.TIE}).check(BETS)


def test_a_variant_without_a_spot_for_a_bet_is_refused():
    variant = next(iter(VARIANTS.values()))
    with pytest.raises(FeltError):
        dataclasses.replace(variant, bets=variant.bets[:-1])


def test_rows_share_equal_columns():
    layout = (row(Height.MAIN, player=3, tie=2, banker=3), row(Height.SIDE, twins=1, calm=1))
    assert grid(layout) == (
        ("player player player tie tie banker banker banker", "twins twins twins twins calm calm calm calm"),
        (1,) * 8,
    )


def test_a_single_row_has_the_columns_it_declares():
    assert grid((row(Height.MAIN, player=23, tie=16, banker=23),)) == (("player tie banker",), (23, 16, 23))
