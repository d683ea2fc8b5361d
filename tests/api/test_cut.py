"""API clients cut a shoe: they add random bytes to the shuffle of the next shoe, as browsers do."""

from datetime import datetime
from hashlib import sha256
from typing import Any

import psycopg
import pytest

from games.engine.commitments import entropy_of
from games.models import LiveTable, ShoeChance, ShoeCut
from games.shared.seats import seat_at
from players.models import Player, Scope
from tests.api.at_live import at, client_of, refused, state_at
from tests.api.client import ApiClient
from tests.api.operations import component, held_to
from tests.builders import a_player
from tests.chemin.at_table import a_chemin_table, finish_cut, seated_players, take_bank
from tests.harness.owner import as_owner
from tests.live.at_table import round_at, step
from tests.live.test_cut_shoes import a_cut_shoe, all_bound

VALUE = "ab" * 16
DIGEST = sha256(VALUE.encode()).hexdigest()
LINE = f"{DIGEST} {VALUE}"


@pytest.fixture
def player(cloned_db) -> Player:
    return a_player(real=1_000_000)


@pytest.fixture
def cut(player: Player, owner: psycopg.Connection) -> ShoeCut:
    return a_cut_shoe(player, owner)


@pytest.fixture
def live_table(cut: ShoeCut) -> LiveTable:
    return LiveTable.objects.select_related("table").get(pk=cut.live_table_id)


def bind(api_client: ApiClient, live_table: LiveTable, cut: ShoeCut, digest: object = DIGEST) -> Any:
    return api_client.post(at(live_table, "cut/digest"), {"shoe": str(cut.shoe_id), "digest": digest})


def open_value(api_client: ApiClient, live_table: LiveTable, cut: ShoeCut, value: str = VALUE) -> Any:
    return api_client.post(at(live_table, "cut/value"), {"shoe": str(cut.shoe_id), "value": value})


def test_a_table_says_that_its_next_shoe_is_cut(cut, live_table, player):
    state = state_at(client_of(player), live_table)["state"]
    shown = state["cut"]
    assert (state["phase"], shown["shoe"], shown["commitment"]) == ("cutting", str(cut.shoe_id), cut.commitment)
    assert datetime.fromisoformat(shown["bound_until"]) == cut.bound_until
    assert state["deadline"] == shown["open_until"]
    assert 0 <= shown["seconds_to_bind"] <= 4
    assert shown["seconds_to_bind"] <= shown["seconds_to_open"] <= 8
    assert held_to(component("SharedStateSchema"), state) == ""


def test_what_a_program_adds_is_in_the_shoe_and_the_table_says_so(cut, live_table, player):
    api_client = client_of(player)
    bound = bind(api_client, live_table, cut)
    assert (bound.status_code, bound.json()["shoe"]) == (200, str(cut.shoe_id))
    all_bound(cut)
    assert open_value(api_client, live_table, cut).status_code == 200
    step(live_table)
    shoe, state = round_at(live_table).shoe, state_at(api_client, live_table)["state"]
    assert state["cut"] is None
    assert (state["shoe"]["id"], state["shoe"]["chances"]) == (str(cut.shoe_id), [LINE])
    assert state["shoe"]["entropy"] == shoe.entropy == entropy_of([LINE])


def test_the_same_at_chemin_de_fer(cloned_db):
    live_table = a_chemin_table()
    players = seated_players(live_table, 2)
    take_bank(live_table)
    cut, api_client = ShoeCut.objects.get(), client_of(players[1])
    state = state_at(api_client, live_table)["state"]
    assert (state["phase"], state["cut"]["commitment"]) == ("shoe", cut.commitment)
    assert held_to(component("CheminStateSchema"), state) == ""
    assert bind(api_client, live_table, cut).status_code == 200
    all_bound(cut)
    assert open_value(api_client, live_table, cut).status_code == 200
    finish_cut(live_table)
    assert state_at(api_client, live_table)["state"]["shoe"]["chances"] == [LINE]


class TestTheCutRefuses:
    def test_what_comes_too_early_too_late_or_twice(self, cut, live_table, player):
        api_client = client_of(player)
        assert bind(api_client, live_table, cut).status_code == 200
        refused(bind(api_client, live_table, cut, "0" * 64), 409, "cut-passed")
        refused(open_value(api_client, live_table, cut), 409, "cut-passed")
        all_bound(cut)
        refused(open_value(api_client, live_table, cut, "0" * 32), 409, "cut-passed")
        other = a_player(real=1_000)
        seat_at(other, live_table)
        refused(bind(client_of(other), live_table, cut), 409, "cut-passed")
        as_owner("UPDATE games_shoecut SET open_until = clock_timestamp()")
        refused(open_value(api_client, live_table, cut), 409, "cut-passed")
        assert ShoeChance.objects.get().value == ""

    def test_who_has_no_seat_and_whose_token_may_not_play(self, cut, live_table, player):
        refused(bind(client_of(a_player(real=1_000)), live_table, cut), 409, "cut-passed")
        refused(bind(ApiClient(player.user, Scope.READ), live_table, cut), 403, "forbidden")

    @pytest.mark.parametrize("digest", ["", "0" * 63, "0" * 65, "G" * 64, "AB" * 32, "0" * 63 + "\n", 7])
    def test_what_is_no_digest(self, cut, live_table, player, digest):
        refused(bind(client_of(player), live_table, cut, digest), 400, "invalid")
