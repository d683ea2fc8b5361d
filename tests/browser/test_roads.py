"""The roads next to those of the npm package baccarat-engine: where they differ, and why.

The package is a stranger's work, as published (`tests/vendor`), and runs here in Chromium. It agrees with ours on the
bead plate, on streaks and on ties. It draws otherwise in four cases, each a habit that is written down below; with
these habits every board and every road of it comes out to the last mark.

`make roads` compares ten thousand shoes, other ones each time.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from games.engine.coup import Outcome
from games.engine.dealing import coups
from games.engine.roads import ROWS, Bead, Roads, streaks
from games.engine.shoe import shuffle

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

VENDOR = Path(__file__).resolve().parents[1] / "vendor"
HARNESS = Path(__file__).with_name("roads_of_npm.js")

SHOES = int(os.environ.get("SABOT_ROADS", "0")) or 400
STREAKY_SHOES = 100
SHOES_AT_ONCE = 100
OUTCOMES = {outcome.name[0]: outcome for outcome in Outcome}


class Habit(Enum):
    """The differences of the package's big road from ours."""

    FALLS_AGAIN = auto()
    """A streak that has turned above a tail goes down again where that tail ends. Ours keeps to its row: it is read as
    one line down and one to the right.
    """
    JOINS_ITS_SIDE = auto()
    """A streak goes down through a tail of its own side, and then behind that tail's end. Ours turns above it as above
    any other: two streaks would look like one.
    """
    BEGINS_UNDER_A_TAIL = auto()
    """A streak looks for its first place in the column that its number names, and where a tail along the top has taken
    that, below or behind it. Ours begins the next column whose head is free.
    """


@dataclass(frozen=True)
class Compared:
    """A shoe, as a text of P, B and T too, and its roads drawn by both."""

    letters: str
    beads: list[Bead]
    ours: Roads
    theirs: dict[str, Any]


def random_shoes() -> Iterator[str]:
    """Shoes of eight decks, dealt through: the same in every run of the suite, others in a long run."""
    salt = os.urandom(16) if "SABOT_ROADS" in os.environ else b"roads"
    for number in range(SHOES):
        shoe = shuffle(sha256(salt + b"%d" % number).digest(), 8)
        yield "".join(coup.outcome.name[0] for coup in coups(shoe))


def streaky_shoes() -> Iterator[str]:
    """Very rare shoes: long streaks, and ties before them and among them."""
    chance = random.Random(1913)
    for _ in range(STREAKY_SHOES):
        again, tie = chance.choice((0.7, 0.85, 0.93)), chance.choice((0.0, 0.1, 0.5))
        side, shoe = "P", ""
        while len(shoe) < 80:
            side = side if chance.random() < again else "PB"[side == "P"]
            shoe += "T" if chance.random() < tie else side
        yield shoe


@pytest.fixture(scope="module")
def compared(browser: Browser) -> Iterator[list[Compared]]:
    """All shoes, and a few that are hardly begun."""
    shoes = ["", "T", "TT", "P", "TTPT", *random_shoes(), *streaky_shoes()]
    page = browser.new_page()
    page.add_script_tag(path=VENDOR / "lodash.min.js")
    sources = {path.name: path.read_text() for path in (VENDOR / "baccarat_engine").glob("*.js")}
    page.evaluate(HARNESS.read_text(), sources)
    both = []
    for first in range(0, len(shoes), SHOES_AT_ONCE):
        some = shoes[first : first + SHOES_AT_ONCE]
        for shoe, theirs in zip(
            some, json.loads(page.evaluate("shoes => JSON.stringify(shoes.map(roadsOf))", some)), strict=True
        ):
            beads = [Bead(OUTCOMES[letter]) for letter in shoe]
            both.append(Compared(shoe, beads, Roads.of(beads), theirs))
    yield both
    page.close()


def our_seats(shoe: Compared) -> list[tuple[int, int]]:
    return [(entry.column, entry.row) for entry in shoe.ours.big_road]


def their_seats(shoe: Compared) -> list[tuple[int, int]]:
    return [(column, row) for column, row, *_ in shoe.theirs["big_road"]]


def seats_with(habits: set[Habit], shoe: Compared) -> list[tuple[int, int]]:
    """Return the places of a big road that is drawn with these habits."""
    owners: dict[tuple[int, int], int] = {}
    positions = []
    head = -1
    for streak, length in enumerate(streaks(shoe.beads)):
        head = streak if Habit.BEGINS_UNDER_A_TAIL in habits else head + 1
        while Habit.BEGINS_UNDER_A_TAIL not in habits and (head, 0) in owners:
            head += 1
        for _ in range(length):
            place = _walk(owners, head, streak, habits)
            owners[place] = streak
            positions.append(place)
    return positions


def _walk(owners: dict[tuple[int, int], int], head: int, streak: int, habits: set[Habit]) -> tuple[int, int]:
    """Return the first free place on the way of a streak, down and right from the head of its column."""
    column, row, turned = head, 0, False
    while (column, row) in owners:
        below = owners.get((column, row + 1), streak)
        same_side = Habit.JOINS_ITS_SIDE in habits and (below - streak) % 2 == 0
        free_to_fall = not turned or Habit.FALLS_AGAIN in habits
        if row + 1 < ROWS and free_to_fall and (below == streak or same_side):
            row += 1
        else:
            column, turned = column + 1, True
    return column, row


def test_the_bead_plate_is_the_packages(compared: list[Compared]) -> None:
    for shoe in compared:
        ours = [[entry.column, entry.row, entry.what.outcome.name[0]] for entry in shoe.ours.bead_plate]
        assert ours == shoe.theirs["bead_plate"], shoe.letters


def test_wins_ties_and_streaks_are_the_packages(compared: list[Compared]) -> None:
    for shoe in compared:
        streak_of_win = [number for number, length in enumerate(streaks(shoe.beads)) for _ in range(length)]
        ours = [
            [entry.what.bead.outcome.name[0] if entry.what.bead else "", entry.what.ties, streak]
            for entry, streak in zip(shoe.ours.big_road, streak_of_win or [0], strict=bool(streak_of_win))
        ]
        assert ours == [rest for _, _, *rest in shoe.theirs["big_road"]], shoe.letters


def test_the_big_road_is_the_packages_but_for_three_habits(compared: list[Compared]) -> None:
    causes: Counter[Habit] = Counter()
    for shoe in compared:
        if not streaks(shoe.beads):
            assert our_seats(shoe) == their_seats(shoe), shoe.letters
            continue
        assert seats_with(set(), shoe) == our_seats(shoe), shoe.letters
        assert seats_with(set(Habit), shoe) == their_seats(shoe), shoe.letters
        if our_seats(shoe) != their_seats(shoe):
            causes.update(habit for habit in Habit if seats_with({habit}, shoe) != our_seats(shoe))
    assert set(causes) == set(Habit)


def test_a_random_shoe_hardly_ever_shows_them(compared: list[Compared]) -> None:
    """It takes a streak of seven or more, and another that comes down on its tail."""
    shoes = compared[-STREAKY_SHOES - SHOES : -STREAKY_SHOES]
    different = [shoe for shoe in shoes if our_seats(shoe) != their_seats(shoe)]
    assert 0 < len(different) < len(shoes) / 10
    for shoe in different:
        assert max(streaks(shoe.beads)) > ROWS, shoe.letters


def test_derived_roads_are_those_of_the_packages_which_omit_the_first_comparable_column(
    compared: list[Compared],
) -> None:
    """It counts columns from nothing and looks for one above nothing, so that the first column is never looked at from
    below another's head. Every description of the trade has big eye boy begin with the second win of the second column.
    """
    for shoe in compared:
        lengths = streaks(shoe.beads)
        ours = (shoe.ours.big_eye_boy, shoe.ours.small_road, shoe.ours.cockroach_pig)
        for back, (road, theirs) in enumerate(zip(ours, shoe.theirs["derived"], strict=True), start=1):
            left_out = lengths[back] - 1 if len(lengths) > back else 0
            assert [entry.what.value for entry in road[left_out:]] == theirs, shoe.letters
