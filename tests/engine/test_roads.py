"""Roads, compared with drawings on paper."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise, product
from typing import Any

import pytest

from games.engine.coup import Outcome
from games.engine.roads import (
    BIG_EYE_BOY,
    COCKROACH_PIG,
    ROWS,
    SMALL_ROAD,
    Bead,
    GoodRoad,
    Regularity,
    RoadEntry,
    Roads,
    Win,
    bead_plate,
    big_road,
    derived_road,
    good_road,
    last_columns,
    next_marks,
    streaks,
)
from tests.engine.builders import coup

OUTCOMES = {outcome.name[0]: outcome for outcome in Outcome}

every_derived = pytest.mark.parametrize(
    "back", [BIG_EYE_BOY, SMALL_ROAD, COCKROACH_PIG], ids=["big eye boy", "small road", "cockroach pig"]
)


def beads(letters: str) -> list[Bead]:
    """Return the beads of "PPTB". Blanks are ignored."""
    return [Bead(OUTCOMES[letter]) for letter in letters if letter != " "]


def letter(what: Bead | Win | Regularity) -> str:
    """Return P, B or T, with a digit for ties on a win; R or B for red and blue."""
    if isinstance(what, Regularity):
        return what.name[0]
    if isinstance(what, Bead):
        return what.outcome.name[0]
    return str(what.ties) if what.ties else letter(what.bead) if what.bead else "?"


def place(entry: RoadEntry[Any]) -> tuple[int, int]:
    return entry.column, entry.row


def drawn(road: Sequence[RoadEntry[Any]]) -> list[str]:
    """Return the board row by row, down to its last row with a mark."""
    board = {place(entry): letter(entry.what) for entry in road}
    columns, rows = (max((each[way] for each in board), default=-1) + 1 for way in (0, 1))
    return ["".join(board.get((column, row), ".") for column in range(columns)).rstrip(".") for row in range(rows)]


def all_results(letters: str, length: int) -> Iterator[list[Bead]]:
    """Yield every sequence of these results up to a length."""
    for coups in range(length + 1):
        for outcomes in product(letters, repeat=coups):
            yield beads("".join(outcomes))


def streaky_results(seed: int) -> list[Bead]:
    """Return eighty coups with long streaks, so that tails meet each other."""
    chance = random.Random(seed)
    again = chance.choice((0.7, 0.85, 0.95))
    outcomes = ["P"]
    for _ in range(79):
        outcomes.append(outcomes[-1] if chance.random() < again else "PB"[outcomes[-1] == "P"])
    return beads("".join(outcomes))


STREAKY = [streaky_results(seed) for seed in range(300)]


# The bead plate


def test_the_bead_plate_fills_column_after_column() -> None:
    assert drawn(bead_plate(beads("PBTPPP BT"))) == ["PB", "BT", "T", "P", "P", "P"]


def test_a_bead_knows_the_winner_and_the_pairs_of_its_coup() -> None:
    assert Bead.of(coup("4C 9C 4D QC")) == Bead(Outcome.BANKER, player_pair=True, banker_pair=False)
    assert Bead.of(coup("9C 4C QC 4C")) == Bead(Outcome.PLAYER, player_pair=False, banker_pair=True)
    assert Bead.of(coup("4C 4C 4D 4S")) == Bead(Outcome.TIE, player_pair=True, banker_pair=True)
    assert Bead.of(coup("9C 8C KC KD")) == Bead(Outcome.PLAYER)


# The big road


@pytest.mark.parametrize(
    ("results", "board"),
    [
        ("", []),
        ("P", ["P"]),
        ("PBPB", ["PBPB"]),
        ("PPBPPP", ["PBP", "P.P", "..P"]),
        ("BBBBBB", ["B", "B", "B", "B", "B", "B"]),
    ],
)
def test_a_streak_goes_down_and_the_other_side_begins_the_next_column(results: str, board: list[str]) -> None:
    assert drawn(big_road(beads(results))) == board


def test_at_the_bottom_a_streak_turns_right() -> None:
    assert drawn(big_road(beads("PPPPPPPPP"))) == ["P", "P", "P", "P", "P", "PPPP"]


def test_the_next_streak_begins_next_to_the_head_of_the_previous_one_not_behind_its_tail() -> None:
    assert drawn(big_road(beads("PPPPPPPPP BB P"))) == ["PBP", "PB", "P", "P", "P", "PPPP"]


def test_a_streak_that_comes_down_on_a_tail_turns_right_above_it() -> None:
    assert drawn(big_road(beads("PPPPPPPP BBBBBBB"))) == ["PB", "PB", "PB", "PB", "PBBB", "PPP"]


def test_a_tail_of_the_same_side_is_no_less_in_the_way() -> None:
    assert drawn(big_road(beads("PPPPPPPP B PPPPPP"))) == ["PBP", "P.P", "P.P", "P.P", "P.PP", "PPP"]


def test_a_streak_that_has_turned_keeps_to_its_row_where_the_way_down_is_free_again() -> None:
    assert drawn(big_road(beads("PPPPPPP BBBBBBB"))) == ["PB", "PB", "PB", "PB", "PBBB", "PP"]


def test_where_tails_have_taken_the_head_of_a_column_the_next_free_one_is_begun() -> None:
    """Each streak turns one row higher than the previous one, until the sixth runs along the
    top.
    """
    results = "P" * 12 + "B" * 11 + "P" * 9 + "B" * 7 + "P" * 5 + "B" * 3 + "PP" + "B"
    assert drawn(big_road(beads(results))) == [
        "PBPBPBBBPB",
        "PBPBPPPPP",
        "PBPBBBBB",
        "PBPPPPPP",
        "PBBBBBBB",
        "PPPPPPP",
    ]


def test_ties_stand_on_the_win_before_them_and_break_no_streak() -> None:
    road = big_road(beads("P TT P B T B"))
    assert drawn(road) == ["21", "PB"]
    assert [(entry.what.bead and entry.what.bead.outcome, entry.what.ties) for entry in road] == [
        (Outcome.PLAYER, 2),
        (Outcome.PLAYER, 0),
        (Outcome.BANKER, 1),
        (Outcome.BANKER, 0),
    ]


def test_ties_before_any_win_wait_in_its_place_and_stay_on_it() -> None:
    assert big_road(beads("TT")) == (RoadEntry(0, 0, Win(None, 2)),)
    assert big_road(beads("TT B T")) == (RoadEntry(0, 0, Win(Bead(Outcome.BANKER), 3)),)


def test_the_pairs_of_a_win_are_kept() -> None:
    won = Bead(Outcome.PLAYER, player_pair=True)
    assert big_road([won, Bead(Outcome.TIE, banker_pair=True)]) == (RoadEntry(0, 0, Win(won, 1)),)


def test_no_two_signs_share_a_cell_and_none_is_off_the_board() -> None:
    for road in (road for results in STREAKY for road in Roads.of(results)):
        positions = list(map(place, road))
        assert len(set(positions)) == len(positions)
        assert all(column >= 0 and 0 <= row < ROWS for column, row in positions)


def test_every_streak_goes_down_as_far_as_it_can_and_then_right() -> None:
    for results in STREAKY:
        taken: set[tuple[int, int]] = set()
        head = -1
        for _, streak in groupby(big_road(results), lambda entry: entry.what.bead):
            positions = list(map(place, streak))
            head = next(column for column in range(head + 1, 200) if (column, 0) not in taken)
            assert positions[0] == (head, 0)
            steps = [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(positions)]
            down = steps.count((0, 1))
            assert steps == [(0, 1)] * down + [(1, 0)] * (len(steps) - down)
            if down < len(steps):
                assert down + 1 == ROWS or (head, down + 1) in taken
            taken.update(positions)


# The derived roads


def said_by_the_book(results: list[Bead], back: int) -> list[Regularity]:
    """Yield the derived road by its textbook definition.

    Down a column: look *back* columns before, at this row and the one above it; red if both or
    neither have a mark. At the head of a column: the opposite of the mark that the previous streak
    would have had if it had continued.
    """
    lengths = streaks(results)

    def is_red(column: int, row: int) -> bool:
        return (lengths[column - back] > row) == (lengths[column - back] > row - 1)

    said = []
    for column, length in enumerate(lengths):
        for row in range(length):
            if row > 0 and column >= back:
                said.append(Regularity.RED if is_red(column, row) else Regularity.BLUE)
            if row == 0 and column - 1 >= back:
                said.append(Regularity.BLUE if is_red(column - 1, lengths[column - 1]) else Regularity.RED)
    return said


@every_derived
def test_a_derived_road_says_what_the_book_says_for_every_sequence_of_wins(back: int) -> None:
    for results in all_results("PB", 11):
        assert [entry.what for entry in derived_road(results, back)] == said_by_the_book(results, back)


@every_derived
def test_a_derived_road_begins_with_the_second_win_of_its_first_column_or_else_the_head_of_the_next(back: int) -> None:
    columns = "".join("PB"[number % 2] for number in range(back))
    this, other = ("P", "B") if back % 2 == 0 else ("B", "P")
    assert derived_road(beads(columns + this), back) == ()
    assert len(derived_road(beads(columns + this + this), back)) == 1
    assert len(derived_road(beads(columns + this + other), back)) == 1


def test_big_eye_boy_by_hand() -> None:
    results = beads("PP BBB P BB PP")
    assert streaks(results) == (2, 3, 1, 2, 2)
    # Second column: as deep as the first, then one deeper. Heads of the third and fourth: three
    # against two, one against three. Fourth: one deeper than one. Fifth: two against one; then as
    # deep as two.
    assert [letter(entry.what) for entry in derived_road(results, BIG_EYE_BOY)] == list("RBBBBBR")
    assert drawn(derived_road(results, BIG_EYE_BOY)) == ["RBR", ".B", ".B", ".B", ".B"]


def test_a_derived_road_is_drawn_as_the_big_road_is_tails_and_all() -> None:
    results = beads("PB" * 10)
    assert drawn(derived_road(results, BIG_EYE_BOY)) == ["R"] * 5 + ["R" * 13]


@every_derived
def test_swapping_the_sides_leaves_no_trace_in_a_derived_road(back: int) -> None:
    other = {Outcome.PLAYER: Outcome.BANKER, Outcome.BANKER: Outcome.PLAYER}
    for results in STREAKY:
        mirrored = [Bead(other[bead.outcome]) for bead in results]
        assert derived_road(mirrored, back) == derived_road(results, back)


# An independent reference: boards with cells, as a player draws them with a pencil. It shares no
# code with the engine: it knows letters only, and looks at cells of a big road without a bottom.


def colours_on_paper(letters: str, back: int) -> str:
    """Return the derived road of "PPB" as R and B, drawn by the casino's card of instructions.

    Under a circle: look at the neighbour *back* columns to the left. If there is a circle, red. If
    there is none, but one in the cell above it, blue. If there is none above it either, red. In a
    new column: red if the column before it and the one *back* to the left of that one end in the
    same row, else blue. There is no mark where the column to look at does not exist.
    """
    paper: set[tuple[int, int]] = set()
    column, row, side, marks = -1, 0, "", ""
    for letter in letters:
        if letter == "T":
            continue
        column, row = (column, row + 1) if letter == side else (column + 1, 0)
        side = letter
        paper.add((column, row))
        if row and column >= back:
            here, above = (column - back, row) in paper, (column - back, row - 1) in paper
            marks += "B" if above and not here else "R"
        elif not row and column - 1 >= back:
            ends = [max(y for x, y in paper if x == each) for each in (column - 1, column - 1 - back)]
            marks += "R" if ends[0] == ends[1] else "B"
    return marks


def colours(letters: str, back: int) -> str:
    return "".join(letter(entry.what) for entry in derived_road(beads(letters), back))


@pytest.mark.parametrize(
    ("results", "big_eye_boy"),
    [("BBPP", "R"), ("BPPB", "BB"), ("BBPTP", "R"), ("TBTTPPTB", "BB"), ("BBBBBBBPPPPPPPP", "RRRRRRB")],
)
def test_big_eye_boy_of_the_published_examples(results: str, big_eye_boy: str) -> None:
    assert colours(results, BIG_EYE_BOY) == colours_on_paper(results, BIG_EYE_BOY) == big_eye_boy


@every_derived
def test_a_derived_road_is_the_one_drawn_on_paper_for_every_sequence(back: int) -> None:
    for length in range(13):
        for results in map("".join, product("PBT", repeat=length)):
            if "T" not in results or length < 8:
                assert colours(results, back) == colours_on_paper(results, back), results


@every_derived
def test_a_streak_of_seven_or_more_is_one_column_for_the_derived_roads(back: int) -> None:
    for streak in range(7, 14):
        results = "PB" * 3 + "P" * streak + "BBPBB"
        assert len(streaks(beads(results))) == 10
        assert colours(results, back) == colours_on_paper(results, back)


@every_derived
def test_the_next_road_ask_says_what_the_next_coup_then_draws(back: int) -> None:
    for results in all_results("PB", 10):
        before = derived_road(results, back)
        for outcome, asked in zip((Outcome.PLAYER, Outcome.BANKER), next_marks(results, back), strict=True):
            after = derived_road([*results, Bead(outcome)], back)
            assert [entry.what for entry in after[len(before) :]] == ([asked] if asked else [])
        assert next_marks([*results, Bead(Outcome.TIE)], back) == next_marks(results, back)


# Good roads


@pytest.mark.parametrize(
    ("results", "name"),
    [
        ("", None),
        ("TT", None),
        ("PPP", None),
        ("PPPP", GoodRoad.LONG_PLAYER),
        ("PBBTBTB", GoodRoad.LONG_BANKER),
        ("BBBBBB", GoodRoad.LONG_BANKER),
        ("BBBBBBB", GoodRoad.DRAGON_TAIL),
        ("PBBBBBBBP", None),
        ("PBP", None),
        ("PBPB", GoodRoad.PING_PONG),
        ("PBPTBP", GoodRoad.PING_PONG),
        ("PBPBB", None),
        ("PPBBP", None),
        ("PPBBPP", GoodRoad.TWO_TWO),
        ("PPBBPPB", GoodRoad.TWO_TWO),
        ("PPBBPPBBB", GoodRoad.PAIRS),
        ("PPBBPPBBBP", GoodRoad.PAIRS),
        ("PBBPBB", GoodRoad.ONE_TWO),
        ("PPBPPB", GoodRoad.ONE_TWO),
        ("PPBPPBP", GoodRoad.ONE_TWO),
        ("PPBPPBPPP", None),
        ("PPBBBPPBBB", GoodRoad.PAIRS),
        ("PPBBBPPBBBP", GoodRoad.PAIRS),
        ("PPBBBPBBB", None),
    ],
)
def test_a_good_road_is_the_shape_of_the_latest_streaks(results: str, name: GoodRoad | None) -> None:
    assert good_road(beads(results)) == name


def test_sides_and_ties_do_not_change_a_shape() -> None:
    other = {Outcome.PLAYER: Outcome.BANKER, Outcome.BANKER: Outcome.PLAYER}
    long = {GoodRoad.LONG_PLAYER: GoodRoad.LONG_BANKER, GoodRoad.LONG_BANKER: GoodRoad.LONG_PLAYER}
    for results in all_results("PB", 9):
        name = good_road(results)
        assert good_road([each for bead in results for each in (bead, Bead(Outcome.TIE))]) == name
        assert good_road([Bead(other[bead.outcome]) for bead in results]) == (long.get(name, name) if name else None)


# All roads


def test_ties_change_nothing_but_beads_and_signs_on_wins() -> None:
    for results in all_results("PBT", 7):
        wins = [bead for bead in results if bead.outcome is not Outcome.TIE]
        with_ties, without = Roads.of(results), Roads.of(wins)
        assert with_ties[2:] == without[2:]
        assert sum(entry.what.ties for entry in with_ties.big_road) == len(results) - len(wins)
        if wins:
            assert [(place(entry), entry.what.bead) for entry in with_ties.big_road] == [
                (place(entry), entry.what.bead) for entry in without.big_road
            ]


def test_the_next_coup_adds_at_most_one_sign_to_each_road_and_moves_none() -> None:
    for results in [*all_results("PBT", 6), *STREAKY[:40]]:
        before, after = Roads.of(results[:-1]), Roads.of(results)
        for way in range(len(after)):
            earlier, later = list(map(place, before[way])), list(map(place, after[way]))
            assert len(later) - len(earlier) in (0, 1)
            assert later[: len(earlier)] == earlier


@pytest.mark.parametrize("draw", [bead_plate, big_road, lambda results: derived_road(results, BIG_EYE_BOY)])
def test_a_narrow_board_shows_the_last_columns(draw: Callable[[list[Bead]], tuple[RoadEntry[Any], ...]]) -> None:
    road = draw(beads("PPPPPPP B PP BB P B PPP BBBBBBB"))
    whole = drawn(road)
    columns = max(entry.column for entry in road) + 1
    for shown in range(1, columns + 3):
        assert drawn(last_columns(road, shown)) == drawn_end(whole, columns, shown)
    assert last_columns((), 4) == ()


def drawn_end(board: list[str], columns: int, shown: int) -> list[str]:
    """Return the last columns of a drawn board, without empty rows at the bottom."""
    rows = [row.ljust(columns, ".")[max(0, columns - shown) :].rstrip(".") for row in board]
    while rows and not rows[-1]:
        rows.pop()
    return rows
