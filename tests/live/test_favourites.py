"""Favourite bets: saved by name for each game, and added to the current bets in full or not at all."""

from copy import deepcopy
from typing import Any

import pytest
from django.test import Client

from games.betting.rules import Change
from games.engine.bets import MissingMainBet
from games.errors import (
    BetTooLate,
    NameMissing,
    NameTaken,
    NameTooLong,
    NameUnreadable,
    NotEnoughBalance,
    NothingToSave,
    NotOffered,
    OverLiability,
    OverMaximum,
    StalePage,
    TooManyFavourites,
)
from games.models import FavouriteBet, LiveSeat, LiveTable, Phase
from games.shared import favourites
from games.shared.bets import place_favourite
from games.shared.seats import seat_at
from games.tables.default_tables import no_commission_limits
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_player
from tests.harness.owner import update_as_owner
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.live.betting import chip, held, press, stakes_of
from tests.people import events

pytestmark = pytest.mark.django_db

MONEY = 1_000_00
NO_COMMISSION = VARIANTS["no_commission"]
BETS = {"player": 20_00, "player_pair": 10_00}


@pytest.fixture
def table() -> LiveTable:
    """A `no_commission` table that takes bets."""
    return a_live_table(slug="live")


@pytest.fixture
def player(table: LiveTable) -> Player:
    """A player from Romania at that table with a thousand lei."""
    player = a_player("RO", real=MONEY)
    seat_at(player, table)
    return player


def a_favourite(
    whose: Player, name: str = "Mine", variant: str = "no_commission", /, stakes: dict[str, int] = BETS
) -> FavouriteBet:
    return FavouriteBet.objects.create(player=whose, variant=variant, name=name, stakes=stakes)


def place(player: Player, table: LiveTable, favourite: FavouriteBet, **options: Any) -> LiveSeat:
    asked = {"round_id": round_at(table).pk, **options}
    return place_favourite(player=player, live_table_id=table.pk, favourite_id=favourite.pk, **asked)


def save(player: Player, table: LiveTable, name: str) -> FavouriteBet:
    return favourites.save(player=player, live_table=LiveTable.objects.get(pk=table.pk), name=name)


class TestSaving:
    def test_keeps_the_bets_on_the_table(self, table, player):
        bet(player, table, player=20_00, player_pair=20_00)
        assert save(player, table, "  Pairs   too ").stakes == {"player": 20_00, "player_pair": 20_00}
        assert [each.name for each in favourites.of(player, NO_COMMISSION)] == ["Pairs too"]
        assert held(player) == 40_00

    @pytest.mark.sweep
    def test_keeps_what_rebet_would_place_where_no_bet_is(self, table, player):
        bet(player, table, banker=20_00)
        advance_to(table, Phase.SETTLED)
        advance_to(table, Phase.BETTING)
        assert save(player, table, "Last time").stakes == {"banker": 20_00}

    @pytest.mark.sweep
    def test_keeps_the_bets_of_a_round_that_is_being_dealt(self, table, player):
        bet(player, table, banker=20_00)
        advance_to(table, Phase.CLOSED)
        bets = save(player, table, "These").stakes
        assert bets == {"banker": 20_00}

    @pytest.mark.sweep
    def test_keeps_nothing_where_there_never_was_a_bet(self, table, player):
        with pytest.raises(NothingToSave):
            save(player, table, "Nothing")

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("name", "error"),
        sample(
            [
                ("", NameMissing),
                (" \n ", NameMissing),
                ("x" * 41, NameTooLong),
                ("a\u200bb", NameUnreadable),
                ("a\u202eb", NameUnreadable),
                ("a\x00b", NameUnreadable),
                ("\u3164", NameUnreadable),
                ("MINE", NameTaken),
                ("M\u0130NE", NameTaken),  # the database treats it as equal
                ("mi\u0301ne", None),
                ("x" * 40, None),
                ("<b>Mine</b>", None),
            ],
            5,
        ),
    )
    def test_takes_names_that_can_be_read_and_distinguished(self, table, player, name, error):
        a_favourite(player, "Mine")
        bet(player, table, tie=20_00)
        if error:
            with pytest.raises(error):
                save(player, table, name)
        else:
            save(player, table, name)
        assert FavouriteBet.objects.filter(player=player).count() == (1 if error else 2)

    @pytest.mark.sweep
    def test_a_name_may_be_used_again_at_another_game_and_by_others(self, table, player):
        a_favourite(player, "Mine", "pairs")
        a_favourite(a_player("RO"), "Mine")
        bet(player, table, tie=20_00)
        assert save(player, table, "mine").name == "mine"

    @pytest.mark.sweep
    def test_there_is_room_for_twelve(self, table, player):
        bet(player, table, tie=20_00)
        for number in range(favourites.MOST):
            save(player, table, f"No {number}")
        with pytest.raises(TooManyFavourites):
            save(player, table, "One more")
        assert len(favourites.of(player, NO_COMMISSION)) == favourites.MOST

    def test_bets_that_the_rules_do_not_allow_together_are_not_kept(self, table, player):
        update_as_owner(LiveSeat.objects.filter(player=player), last_stakes={"player_pair": 10_00})
        with pytest.raises(MissingMainBet):
            save(player, table, "Old rules")


class TestNaming:
    def test_a_favourite_gets_another_name(self, player):
        favourite = a_favourite(player, "Old")
        favourites.rename(player=player, variant=NO_COMMISSION, favourite_id=favourite.pk, name="OLD")
        assert favourites.of(player, NO_COMMISSION)[0].name == "OLD"

    def test_no_two_have_the_same_name(self, player):
        a_favourite(player, "One")
        other = a_favourite(player, "Two")
        with pytest.raises(NameTaken):
            favourites.rename(player=player, variant=NO_COMMISSION, favourite_id=other.pk, name="one")

    @pytest.mark.sweep
    def test_what_is_removed_can_be_brought_back(self, player):
        favourite = a_favourite(player)
        removed = favourites.remove(player=player, variant=NO_COMMISSION, favourite_id=favourite.pk)
        assert favourites.of(player, NO_COMMISSION) == []
        again = favourites.bring_back(player=player, removed=removed)
        assert (again.name, again.stakes) == (favourite.name, favourite.stakes)

    def test_nobody_else_s_is_renamed_removed_or_placed(self, table, player):
        others = a_favourite(a_player("RO"))
        with pytest.raises(StalePage):
            favourites.rename(player=player, variant=NO_COMMISSION, favourite_id=others.pk, name="Mine now")
        with pytest.raises(StalePage):
            favourites.remove(player=player, variant=NO_COMMISSION, favourite_id=others.pk)
        with pytest.raises(StalePage):
            place(player, table, others)
        assert FavouriteBet.objects.get(pk=others.pk).name == "Mine"

    @pytest.mark.sweep
    def test_the_next_name_is_one_that_is_free(self, player):
        kept = [a_favourite(player, "favourite 1"), a_favourite(player, "Favourite 3")]
        assert favourites.free_name("Favourite", kept) == "Favourite 2"


class TestPlacing:
    def test_adds_its_bets_to_those_on_the_table_and_holds_them(self, table, player):
        chip(player, table, "player", 20_00)
        chip(player, table, "tie", 20_00)
        place(player, table, a_favourite(player))
        assert stakes_of(player, table) == {"player": 40_00, "tie": 20_00, "player_pair": 10_00}
        assert held(player) == 70_00

    def test_undo_takes_it_back_as_one(self, table, player):
        chip(player, table, "tie", 20_00)
        place(player, table, a_favourite(player))
        press(player, table, Change.UNDO)
        assert stakes_of(player, table) == {"tie": 20_00}
        assert held(player) == 20_00

    def test_a_favourite_of_which_one_bet_breaks_a_limit_holds_nothing(self, table, player):
        favourite = a_favourite(player, stakes=BETS | {"perfect_pair": 505_00})
        with pytest.raises(OverMaximum) as refused:
            place(player, table, favourite)
        assert refused.value.bet == "perfect_pair"
        assert (stakes_of(player, table), held(player)) == ({}, 0)
        assert events("bet.refused")[-1]["data"]["reason"] == "OverMaximum"

    def test_the_bets_on_the_table_count_towards_the_limit(self, table, player):
        limits = no_commission_limits()["RON"]["bets"]["perfect_pair"][1]
        rich = a_player("RO", real=100 * MONEY)
        seat_at(rich, table)
        favourite = a_favourite(rich, stakes={"player": 20_00, "perfect_pair": limits})
        place(rich, table, favourite)
        with pytest.raises(OverMaximum):
            place(rich, table, favourite)
        assert held(rich) == 20_00 + limits

    def test_more_than_the_balance_is_refused_as_a_whole(self, table, player):
        chip(player, table, "tie", 20_00)
        with pytest.raises(NotEnoughBalance):
            place(player, table, a_favourite(player, stakes={"player": 500_00, "banker": 500_00}))
        assert (stakes_of(player, table), held(player)) == ({"tie": 20_00}, 20_00)

    def test_more_than_the_house_puts_up_is_refused_as_a_whole(self):
        limits = deepcopy(no_commission_limits())
        limits["RON"]["liability"] = 100_000_00
        table = a_live_table(slug="live", limits=limits)
        one, other = a_player("RO", real=100_000_00), a_player("RO", real=MONEY)
        seat_at(one, table), seat_at(other, table)
        place(one, table, a_favourite(one, stakes={"player": 99_990_00}))
        with pytest.raises(OverLiability):
            place(other, table, a_favourite(other))
        assert held(other) == 0

    def test_after_the_call_it_is_too_late(self, table, player):
        favourite, betting = a_favourite(player), round_at(table).pk
        chip(player, table, "tie", 20_00)
        advance_to(table, Phase.BETTING)
        with pytest.raises(BetTooLate):
            place(player, table, favourite, round_id=betting)

    @pytest.mark.sweep
    def test_is_not_placed_at_another_game(self, player):
        pairs = a_live_table("pairs", slug="pairs")
        seat_at(player, pairs)
        with pytest.raises(NotOffered):
            place(player, pairs, a_favourite(player, "Mine", "pairs", stakes={"player": 20_00}))
        assert held(player) == 0

    def test_a_favourite_of_another_game_is_not_placed_here(self, table, player):
        with pytest.raises(StalePage):
            place(player, table, a_favourite(player, "Mine", "pairs", stakes={"player": 20_00}))


# --- The panel --------------------------------------------------------------------------------------------------------


@pytest.fixture
def visitor(player: Player, table: LiveTable) -> Client:
    """The player's browser at the table."""
    visitor = Client()
    visitor.force_login(player.user)
    assert visitor.get("/en/table/live/real/").status_code == 200
    return visitor


def do(visitor: Client, action: str, *, htmx: bool = True, **fields: object) -> Any:
    headers = {"HX-Request": "true"} if htmx else {}
    return visitor.post("/en/table/live/real/favourites/", {"action": action, **fields}, headers=headers)


@pytest.mark.sweep
def test_the_panel_says_what_favourites_are_for_and_suggests_a_name(visitor):
    page = visitor.get("/en/table/live/real/").text
    assert "Save bets you place often" in page
    assert 'value="Favourite 1"' in page


@pytest.mark.sweep
def test_saving_answers_with_the_panel_and_the_next_name(visitor, table, player):
    bet(player, table, player=20_00)
    answer = do(visitor, "save", name="<i>Bold</i>")
    assert answer.text.lstrip().startswith('<div class="favourites" id="favourites">')
    assert "“&lt;i&gt;Bold&lt;/i&gt;” is saved." in answer.text
    assert 'value="Favourite 1"' in answer.text
    favourite = FavouriteBet.objects.get(player=player)
    assert f'form="slip" id="favourite-{favourite.pk}" name="action" value="favourite:{favourite.pk}"' in answer.text


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "message"),
    sample(
        [
            ("", "Enter a name for this favourite."),
            ("x" * 41, "A name can have at most 40 characters."),
            ("a\u200bb", "This name contains invisible characters. Enter it again."),
            ("\u200bab", "This name contains invisible characters. Enter it again."),
            ("mine", "You already have a favourite with this name."),
            ("fine", "There are no bets to save yet. Place some first."),
        ],
        3,
    ),
)
def test_what_is_refused_is_said(visitor, table, player, name, message):
    a_favourite(player, "Mine")
    if name == "mine":
        bet(player, table, tie=20_00)
    answer = do(visitor, "save", name=name)
    assert message in answer.text
    assert 'role="alert"' in answer.text


@pytest.mark.sweep
def test_without_script_a_button_leads_back_to_the_panel_which_says_what_happened(visitor, player):
    favourite = a_favourite(player, "Mine")
    answer = do(visitor, "rename", htmx=False, favourite=favourite.pk, name="Ours")
    assert (answer.status_code, answer.url) == (302, "/en/table/live/real/#panel-favourites")
    page = visitor.get("/en/table/live/real/").text
    assert "“Ours” is saved." in page
    assert "is saved." not in visitor.get("/en/table/live/real/").text


@pytest.mark.sweep
@pytest.mark.parametrize("htmx", sample([True, False], 1))
def test_what_is_removed_is_brought_back_by_the_button_that_the_answer_offers(visitor, player, htmx):
    favourite = a_favourite(player, "Mine")
    answer = do(visitor, "remove", htmx=htmx, favourite=favourite.pk)
    page = answer.text if htmx else visitor.get("/en/table/live/real/").text
    assert "Restore “Mine”" in page
    assert not FavouriteBet.objects.exists()
    answer = do(visitor, "bring_back", htmx=htmx)
    page = answer.text if htmx else visitor.get("/en/table/live/real/").text
    assert "Restore “Mine”" not in page
    assert FavouriteBet.objects.get(player=player).stakes == BETS


@pytest.mark.sweep
def test_a_favourite_that_the_limits_do_not_allow_any_more_says_so_before_it_is_tried(visitor, player):
    a_favourite(player, stakes={"player": 20_00, "perfect_pair": 505_00})
    assert "The maximum bet on Perfect Pair is" in visitor.get("/en/table/live/real/").text


@pytest.mark.sweep
def test_outside_the_time_for_bets_nothing_can_be_placed(visitor, table, player):
    a_favourite(player)
    bet(player, table, tie=20_00)
    bet_button = 'value="favourite:'
    assert 'aria-disabled="true"' not in _button(visitor.get("/en/table/live/real/").text, bet_button)
    advance_to(table, Phase.CLOSED)
    assert 'aria-disabled="true"' in _button(visitor.get("/en/table/live/real/").text, bet_button)


@pytest.mark.sweep
def test_a_press_answers_what_is_the_player_s_own_like_any_bet(visitor, table, player):
    favourite = a_favourite(player)
    form = {"round_id": round_at(table).pk, "table_version": 1, "action": f"favourite:{favourite.pk}"}
    answer = visitor.post("/en/table/live/real/bet/", form, headers={"HX-Request": "true"})
    assert answer.text.lstrip().startswith('<div class="live-own"')
    assert held(player) == 30_00
    form["action"] = "favourite:999999"
    answer = visitor.post("/en/table/live/real/bet/", form, headers={"HX-Request": "true"})
    assert "This page was out of date and has been updated." in answer.text
    assert held(player) == 30_00


@pytest.mark.sweep
@pytest.mark.parametrize("action", sample(["favourite:", "favourite:-1", "favourite:x", f"favourite:{2**63}"], 1))
def test_what_no_page_sends_places_nothing(visitor, table, player, action):
    form = {"round_id": round_at(table).pk, "table_version": 1, "action": action}
    answer = visitor.post("/en/table/live/real/bet/", form, headers={"HX-Request": "true"})
    assert "This page was out of date and has been updated." in answer.text


@pytest.mark.sweep
def test_a_game_without_favourites_has_no_panel_and_keeps_none(player):
    pairs = a_live_table("pairs", slug="pairs")
    visitor = Client()
    visitor.force_login(player.user)
    page = visitor.get("/en/table/pairs/real/").text
    assert 'id="favourites"' not in page
    bet(player, pairs, player=25_00)
    visitor.post("/en/table/pairs/real/favourites/", {"action": "save", "name": "Mine"})
    assert not FavouriteBet.objects.exists()


def _button(html: str, idempotency_key: str) -> str:
    begin = html.rindex("<button", 0, html.index(idempotency_key))
    return html[begin : html.index("</button>", begin)]
