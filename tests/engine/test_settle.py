"""Payouts, bet by bet."""

from hashlib import sha256

import pytest

from games.engine.bets import LARGEST_STAKE, Variant
from games.engine.conditions import CoupClass
from games.engine.counting import count_coups
from games.engine.coup import deal
from games.engine.settle import (
    BadStake,
    ExcludedBets,
    Line,
    MissingMainBet,
    NoStake,
    Result,
    SettlementError,
    UnknownBet,
    settle,
)
from games.engine.shoe import shuffle
from games.variants import VARIANTS
from tests.engine.builders import coup

BACCARAT, GOLDEN, NO_COMMISSION, PAIRS = (VARIANTS[slug] for slug in ("baccarat", "golden", "no_commission", "pairs"))

PLAYER_WINS = "9C KC KD 2D"
BANKER_WINS = "KC 9C 2D KD"
TIE = "6C 6D KC KD"
SIX_WINS = "5C 2C KC KD 9H 4H"
SIX_TIE = "2C 6D KC KD 4H"


def payouts(variant: Variant, codes: str, stakes: dict[str, int]) -> dict[str, int]:
    return {line.bet: line.payout for line in settle(variant, coup(codes), stakes).lines}


def payout(variant: Variant, codes: str, bet: str, also: str = "") -> int:
    """Return the payout of a stake of 100."""
    return payouts(variant, codes, {bet: 100} | ({also: 100} if also else {}))[bet]


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (PLAYER_WINS, {"player": 200, "banker": 0, "tie": 0}),
        (BANKER_WINS, {"player": 0, "banker": 195, "tie": 0}),
        (TIE, {"player": 100, "banker": 100, "tie": 900}),
    ],
)
def test_baccarat_pays_even_money_nineteen_to_twenty_and_eight_to_one(codes: str, expected: dict[str, int]) -> None:
    assert payouts(BACCARAT, codes, {"player": 100, "banker": 100, "tie": 100}) == expected


def test_a_settlement_lists_every_bet_in_the_order_of_the_table_with_its_sums() -> None:
    settled = settle(BACCARAT, coup(BANKER_WINS), {"tie": 10, "banker": 200, "player": 30})
    assert settled.lines == (
        Line("player", 30, 0, 0, Result.LOSE),
        Line("banker", 200, 390, 10, Result.WIN),
        Line("tie", 10, 0, 0, Result.LOSE),
    )
    assert (settled.staked, settled.paid) == (240, 390)


def test_a_push_is_distinguished_from_a_win_and_bears_no_commission() -> None:
    (line,) = settle(BACCARAT, coup(TIE), {"banker": 100}).lines
    assert line == Line("banker", 100, 100, 0, Result.PUSH)


def test_fifty_on_banker_returns_ninety_seven_not_ninety_seven_and_a_half() -> None:
    assert payouts(BACCARAT, BANKER_WINS, {"banker": 50}) == {"banker": 97}


def test_what_the_commission_leaves_is_rounded_down_to_the_minor_unit() -> None:
    for stake in range(1, 61):
        (line,) = settle(BACCARAT, coup(BANKER_WINS), {"banker": stake}).lines
        assert line.payout == stake * 195 // 100, stake
        assert line.payout + line.commission == 2 * stake, stake


def test_each_bet_is_rounded_by_itself() -> None:
    assert payouts(NO_COMMISSION, SIX_WINS, {"banker": 1, "super_6": 1}) == {"banker": 1, "super_6": 16}


@pytest.mark.parametrize(("codes", "paid"), [(BANKER_WINS, 200), (SIX_WINS, 150), (SIX_TIE, 100), (PLAYER_WINS, 0)])
def test_without_commission_banker_pays_even_money_but_half_with_six(codes: str, paid: int) -> None:
    (line,) = settle(NO_COMMISSION, coup(codes), {"banker": 100}).lines
    assert (line.payout, line.commission) == (paid, 0)


@pytest.mark.parametrize(("codes", "paid"), [(SIX_WINS, 1600), (SIX_TIE, 0), (BANKER_WINS, 0)])
def test_super_six_wins_only_where_banker_wins_with_six(codes: str, paid: int) -> None:
    assert payout(NO_COMMISSION, codes, "super_6", also="banker") == paid


@pytest.mark.parametrize(
    ("codes", "player_pair", "banker_pair", "either_pair", "perfect_pair"),
    [
        ("4C 9C KC QC", 0, 0, 0, 0),
        ("4C 9C 4D QC", 1200, 0, 600, 0),
        ("4C QC 4D QD", 1200, 1200, 600, 0),
        ("9C 4C QC 4C", 0, 1200, 600, 2600),
        ("4C QC 4C QC", 1200, 1200, 600, 20100),
        ("4C QC 4C QD", 1200, 1200, 600, 2600),
        ("KC 2C QC 3C 4D 2C", 0, 0, 0, 0),
    ],
)
def test_pairs_pay_by_rank_perfect_pairs_by_rank_and_suit(
    codes: str, player_pair: int, banker_pair: int, either_pair: int, perfect_pair: int
) -> None:
    bets = ("player_pair", "banker_pair", "either_pair", "perfect_pair")
    paid = payouts(NO_COMMISSION, codes, {"tie": 100, **dict.fromkeys(bets, 100)})
    assert tuple(paid[bet] for bet in bets) == (player_pair, banker_pair, either_pair, perfect_pair)


@pytest.mark.parametrize(
    ("codes", "paid"),
    [
        ("9C 8C KC KD", 200),
        ("8C KC KC KD", 200),
        ("9C 9D KC KD", 100),
        ("2C KC KC KD 7H TD", 3100),
        ("2C KC KC AD 7H KD", 1100),
        ("KC KC KC KD 7H KD", 700),
        ("7C KC KC KD AH", 500),
        ("KC KC KC KD 5H TC", 300),
        ("KC KC KC KD 4H TC", 200),
        ("KC KC KC KD 3H TC", 0),
        ("KC KC KC KD AH TC", 0),
        ("6C 6D KC KD", 0),
        ("KC 9D KC KD", 0),
    ],
    ids=[
        "natural nine over natural eight",
        "a natural by eight points is a natural all the same",
        "natural tie",
        *(f"by {points}" for points in (9, 8, 7, 6, 5, 4, 3, 1)),
        "tie",
        "the other side's natural",
    ],
)
def test_player_bonus_pays_by_margin(codes: str, paid: int) -> None:
    assert payout(NO_COMMISSION, codes, "player_bonus", also="tie") == paid


@pytest.mark.parametrize(
    ("codes", "paid"),
    [
        ("8C 9C KC KD", 200),
        ("8C 8D KC KD", 100),
        ("KC 2C KC KD TH 7D", 3100),
        ("KC 2C KC KD TH 6D", 1100),
        ("KC 7C KC KD TH", 700),
        ("KC 7C KC KD AH", 500),
        ("KC 7C KC KD 2H", 300),
        ("KC 7C KC KD 3H", 200),
        ("KC 7C KC KD 4H", 0),
        ("6C 6D KC KD", 0),
        ("9C KC KC KD", 0),
    ],
    ids=["natural", "natural tie", *(f"by {points}" for points in (9, 8, 7, 6, 5, 4, 3)), "tie", "the other side's"],
)
def test_banker_bonus_pays_by_margin(codes: str, paid: int) -> None:
    assert payout(NO_COMMISSION, codes, "banker_bonus", also="tie") == paid


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (PLAYER_WINS, {"player": 200, "tie": 0, "player_pair": 0, "banker_pair": 0}),
        ("6C 6D KC KD", {"player": 100, "tie": 1000, "player_pair": 0, "banker_pair": 0}),
        ("3C 8D 3D 8S", {"player": 100, "tie": 1000, "player_pair": 1200, "banker_pair": 1200}),
    ],
)
def test_baccarat_with_pairs_pays_nine_to_one_on_tie_and_eleven_on_pairs(codes: str, expected: dict[str, int]) -> None:
    assert payouts(PAIRS, codes, dict.fromkeys(expected, 100)) == expected


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_bets_are_settled_by_the_very_facts_that_coups_are_counted_by(variant: Variant) -> None:
    counted = count_coups(variant.decks)
    for number in range(2_000):
        dealt = deal(shuffle(sha256(b"%d" % number).digest(), variant.decks))
        alike = CoupClass(*(getattr(dealt, fact) for fact in CoupClass._fields))
        assert counted[alike] > 0
        assert [bet.pays(dealt) for bet in variant.bets] == [bet.pays(alike) for bet in variant.bets]


def test_any_combination_goes_at_baccarat() -> None:
    BACCARAT.check({"player": 1, "banker": 1})
    BACCARAT.check({"tie": 1})


@pytest.mark.parametrize("variant", [GOLDEN, PAIRS], ids=lambda variant: variant.slug)
def test_player_and_banker_exclude_each_other(variant: Variant) -> None:
    with pytest.raises(ExcludedBets) as refused:
        variant.check({"player": 1, "tie": 1, "banker": 1})
    assert set(refused.value.bets) == {"player", "banker"}


def test_tie_is_allowed_alone_at_golden_baccarat_but_not_at_baccarat_with_pairs() -> None:
    GOLDEN.check({"tie": 1})
    with pytest.raises(MissingMainBet):
        PAIRS.check({"tie": 1})


@pytest.mark.parametrize("main", ["player", "banker"])
def test_every_other_bet_is_allowed_with_player_or_banker_at_baccarat_with_pairs(main: str) -> None:
    PAIRS.check({main: 1, "tie": 1, "player_pair": 1, "banker_pair": 1})


@pytest.mark.parametrize("side", [bet.code for bet in NO_COMMISSION.bets if bet.needs])
def test_a_side_bet_needs_a_main_bet(side: str) -> None:
    for main in ("player", "banker", "tie"):
        NO_COMMISSION.check({side: 1, main: 1})
    with pytest.raises(MissingMainBet) as refused:
        NO_COMMISSION.check({side: 1})
    assert refused.value.bets == (side,)


def test_there_are_seven_side_bets_without_commission() -> None:
    assert len([bet for bet in NO_COMMISSION.bets if bet.needs]) == 7


def test_nothing_staked_is_refused() -> None:
    with pytest.raises(NoStake):
        settle(BACCARAT, coup(TIE), {})


@pytest.mark.parametrize("stake", [0, -1, 1.0, "1", None, True, LARGEST_STAKE + 1])
def test_a_stake_is_a_positive_whole_number(stake: int) -> None:
    with pytest.raises(BadStake) as refused:
        settle(BACCARAT, coup(TIE), {"player": 1, "banker": stake})
    assert refused.value.bets == ("banker",)


def test_a_bet_the_game_has_not_is_refused() -> None:
    with pytest.raises(UnknownBet) as refused:
        settle(BACCARAT, coup(TIE), {"player": 1, "super_6": 1})
    assert refused.value.bets == ("super_6",)
    with pytest.raises(UnknownBet):
        BACCARAT.bet("super_6")


def test_every_refusal_has_a_code_of_its_own() -> None:
    codes = [refusal.code for refusal in SettlementError.__subclasses__()]
    assert sorted(codes) == ["bad_stake", "excluded_bets", "missing_main_bet", "no_stake", "unknown_bet"]
