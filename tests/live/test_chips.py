"""The chip tray: a player's selection, which applies at every table with these chips."""

from typing import Any

import pytest
from django.test import Client

from games.betting.limits import Limits
from games.errors import NoChipChosen, TooManyChips, UnknownChip
from games.models import ChipSet, LiveTable
from games.shared.pages import chips
from games.shared.seats import seat_at
from games.tables.checks import UnusableLimits, check_usable
from games.tables.default_tables import no_commission_limits, pairs_limits
from games.tables.status import close_table
from players.models import Player
from tests.builders import a_player
from tests.live.at_table import a_live_table
from tests.live.betting import chip

pytestmark = pytest.mark.django_db

HERE = Limits.of(no_commission_limits(), "RON")
THERE = Limits.of(pairs_limits(), "RON")


@pytest.fixture
def player() -> Player:
    return a_player("RO", real=1_000_00)


def pick(player: Player, *values: int, limits: Limits = HERE) -> None:
    chips.choose_chips(player=player, limits=limits, chips=[value * 100 for value in values])


def chosen(player: Player, limits: Limits = HERE) -> list[int]:
    return [each.value // 100 for each in chips.choice(player, limits).chips if each.chosen]


class TestChoosing:
    def test_a_player_without_a_choice_has_the_tray_of_the_table(self, player):
        assert chosen(player) == [5, 20, 100, 500, 5000, 25_000]
        assert not chips.choice(player, HERE).is_own

    def test_picked_chips_are_there_smallest_first(self, player):
        pick(player, 1000, 5, 50)
        assert chosen(player) == [5, 50, 1000]
        assert chips.choice(player, HERE).is_own

    def test_at_least_one_and_none_that_the_table_does_not_have(self, player):
        with pytest.raises(NoChipChosen):
            pick(player)
        with pytest.raises(UnknownChip):
            pick(player, 5, 7)
        assert not ChipSet.objects.exists()

    def test_no_more_than_a_tray_has_room_for(self, player):
        many = Limits("RON", 100, tuple(range(100, 1000, 100)), HERE.bets)
        with pytest.raises(TooManyChips):
            chips.choose_chips(player=player, limits=many, chips=many.chips)
        chips.choose_chips(player=player, limits=many, chips=many.chips[: chips.MOST])
        assert len(chips.tray(many, many.chips[: chips.MOST])) == chips.MOST

    def test_a_choice_holds_at_another_table_as_far_as_that_has_such_chips(self, player):
        pick(player, 5, 20, 1000)
        assert chosen(player, THERE) == [5, 1000]

    def test_a_table_that_has_none_of_them_shows_its_own_tray(self, player):
        pick(player, 20)
        assert chosen(player, THERE) == [5, 25, 50, 100, 500, 2500]

    def test_choosing_at_another_table_leaves_what_only_this_one_has(self, player):
        pick(player, 5, 20)
        pick(player, 25, 50, limits=THERE)
        assert (chosen(player), chosen(player, THERE)) == ([20, 50], [25, 50])

    def test_the_table_s_own_tray_comes_back(self, player):
        pick(player, 5, 20)
        chips.reset(player=player, limits=HERE)
        assert chosen(player) == [value // 100 for value in HERE.tray]
        assert not ChipSet.objects.exists()

    def test_the_chip_in_the_hand_is_one_of_the_tray(self):
        assert chips.in_hand(HERE, HERE.tray, None) == 20_00
        assert chips.in_hand(HERE, HERE.tray, 100_00) == 100_00
        assert chips.in_hand(HERE, (5_00, 50_00, 100_00), 20_00) == 50_00
        assert chips.in_hand(HERE, (5_00,), 20_00) == 5_00


@pytest.mark.parametrize("tray", [[], [700]])
def test_a_table_is_not_put_live_with_a_tray_of_other_chips(tray):
    limits = pairs_limits()
    limits["RON"]["tray"] = tray
    with pytest.raises(UnusableLimits):
        check_usable("pairs", limits)


# --- The panel --------------------------------------------------------------------------------------------------------


@pytest.fixture
def table() -> LiveTable:
    return a_live_table(slug="live")


@pytest.fixture
def visitor(table: LiveTable, player: Player) -> Client:
    visitor = Client()
    visitor.force_login(player.user)
    seat_at(player, table)
    return visitor


def send(visitor: Client, htmx: bool = True, **fields: Any) -> Any:
    return visitor.post("/en/table/live/real/chips/", fields, headers={"HX-Request": "true"} if htmx else {})


def tray_of(visitor: Client) -> list[str]:
    page = visitor.get("/en/table/live/real/").text
    return [part.split('"')[0] for part in page.split('<input type="radio" name="chip" id="chip-')[1:]]


@pytest.mark.sweep
def test_the_settings_offer_every_chip_of_the_table_and_tick_those_in_the_tray(visitor):
    panel = visitor.get("/en/table/live/real/panel/settings/").text
    assert panel.count('name="chips"') == len(HERE.chips)
    assert panel.count("checked") >= len(HERE.tray)
    assert 'name="reset"' not in panel


@pytest.mark.sweep
def test_the_tray_shows_what_was_picked_and_the_table_takes_every_chip_it_has(visitor, table, player):
    answer = send(visitor, chips=[50_00, 1000_00])
    assert answer.text.lstrip().startswith('<form class="chip-set" id="chip-set"')
    assert "The chips in your tray have been changed." in answer.text
    assert tray_of(visitor) == ["5000", "100000"]
    assert chip(player, table, "player", 20_00).stakes == {"player": 20_00}
    send(visitor, reset="1")
    assert tray_of(visitor) == [str(value) for value in HERE.tray]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Choose at least one chip of this table."),
        ({"chips": [5_00, 7_00]}, "This table does not have this chip."),
        ({"chips": ["x"]}, "This table does not have this chip."),
    ],
)
def test_what_is_refused_is_said_and_changes_nothing(visitor, fields, message):
    assert message in send(visitor, **fields).text
    assert not ChipSet.objects.exists()


@pytest.mark.sweep
def test_without_script_the_answer_is_the_table(visitor):
    answer = send(visitor, htmx=False, chips=[50_00])
    assert (answer.status_code, answer.url) == (302, "/en/table/live/real/")
    assert "The chips in your tray have been changed." in visitor.get("/en/table/live/real/").text


@pytest.mark.sweep
def test_chips_are_chosen_at_a_closed_table_too(visitor, table):
    close_table(table_id=table.table_id, reason="For a test.", by="staff:1")
    send(visitor, chips=[50_00])
    assert ChipSet.objects.get().chips == [50_00]
