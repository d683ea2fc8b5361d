"""Players cut the shoe of a Chemin de Fer table, as at a shared table: see tests/live/test_cut_shoes.py."""

from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.test import Client

from audit.raw_rows import fetch_one
from audit.sealing import sealer
from audit.verification import house
from games.chemin import play, shoes, tick
from games.chemin.state import snapshots
from games.engine.chemin import Phase
from games.engine.chemin.state import there
from games.engine.commitments import entropy_of
from games.engine.shoe import shuffle
from games.models import LiveTable, Round, Shoe, ShoeChance, ShoeCut, ShoeEnding
from games.shared import moves
from games.shared.shoes import written
from games.shared.state import LATE
from games.verification.verification_task import publish_seeds
from ops import beat
from players.models import Player
from tests.chemin.at_table import (
    a_chemin_table,
    a_practice_table,
    a_seated_player,
    answer,
    asked_at,
    finish_cut,
    hurry,
    let_pass,
    play_out,
    seated_players,
    state_of,
    step_to,
    take_bank,
)
from tests.harness.owner import as_owner
from tests.people import a_visitor, events

pytestmark = pytest.mark.django_db
VALUES = ("ab" * 16, "cd" * 16)


def digest_of(value: str) -> str:
    return sha256(value.encode()).hexdigest()


@pytest.fixture
def live_table() -> LiveTable:
    return a_chemin_table()


@pytest.fixture
def players(live_table: LiveTable) -> list[Player]:
    return seated_players(live_table, 2)


@pytest.fixture
def cut(live_table: LiveTable, players: list[Player]) -> ShoeCut:
    take_bank(live_table)
    return ShoeCut.objects.get()


def bind(player: Player, cut: ShoeCut, value: str) -> bool:
    return moves.bind_chance(cut.live_table_id, cut.shoe_id, player.pk, digest_of(value))


def open_all(cut: ShoeCut, players: list[Player]) -> None:
    as_owner("UPDATE games_shoecut SET bound_until = clock_timestamp()")
    for player, value in zip(players, VALUES, strict=True):
        assert moves.open_chance(cut.live_table_id, cut.shoe_id, player.pk, value)


def test_what_each_seated_player_adds_goes_into_the_shuffle(cut, live_table, players):
    (committed,) = events("shoe.committed")
    assert (committed["data"]["commitment"], committed["data"]["purpose"]) == (cut.commitment, "chemin")
    assert state_of(live_table).phase is Phase.SHOE
    assert all(bind(player, cut, value) for player, value in zip(players, VALUES, strict=True))
    open_all(cut, players)
    finish_cut(live_table)
    assert state_of(live_table).phase is Phase.CALLS
    added = sorted(f"{digest_of(value)} {value}" for value in VALUES)
    (opened,) = events("shoe.opened")
    assert (opened["data"]["chances"], opened["data"]["unopened"]) == (added, [])
    shoe = Shoe.objects.get()
    assert (shoe.pk, shoe.commitment, shoe.entropy) == (cut.shoe_id, cut.commitment, entropy_of(added))
    let_pass(live_table)
    answer(asked_at(live_table), live_table, "lay_stake", 4_000)
    play_out(live_table)
    with transaction.atomic():
        assert shoes.end(shoe, ShoeEnding.RETIRED) == ()
    publish_seeds()
    shoe.refresh_from_db()
    played = Round.objects.get()
    dealt = shuffle(bytes(shoe.seed or b""), shoe.decks, shoe.entropy)[: len(played.cards.split())]
    assert written(dealt) == played.cards
    sealer.seal()
    assert house.run(is_whole=True, parts=["rounds"]) == []


class TestWhoCuts:
    def test_is_who_sits_at_the_table(self, cut, live_table, players):
        gone = players[0]
        play.leave(player=gone, live_table_id=live_table.pk)
        assert not bind(gone, cut, VALUES[0])
        assert bind(players[1], cut, VALUES[1])
        assert bind(a_seated_player(live_table, 5), cut, VALUES[0])

    def test_is_a_player_among_house_players_too(self):
        live_table = a_practice_table()
        player = a_seated_player(live_table)
        step_to(live_table, Phase.SHOE)
        assert bind(player, ShoeCut.objects.get(), VALUES[0])

    def test_is_nobody_where_house_players_play_on_alone_and_the_page_says_so(self):
        live_table = a_practice_table()
        player = a_seated_player(live_table)
        play.step_away(player=player, live_table_id=live_table.pk)
        step_to(live_table, Phase.CALLS)
        assert not events("shoe.committed")
        page = visitor_of(player).get("/en/table/chemin/free/").text
        assert "No player has added random numbers to this shoe" in page


class TestTheTable:
    def test_goes_on_when_the_cut_is_over_and_not_before(self, cut, live_table):
        assert tick.due() == []
        assert not tick.advance(live_table.pk)
        (seconds,) = there(fetch_one(beat.NEXT["games.tasks.tick_chemin"], []))
        assert 0 < seconds <= 8
        hurry(live_table)
        assert tick.due() == [live_table.pk]
        assert tick.advance(live_table.pk)
        assert state_of(live_table).phase is Phase.CALLS

    def test_keeps_the_shoe_for_the_next_banker_where_this_one_leaves(self, cut, live_table, players):
        play.leave(player=players[0], live_table_id=live_table.pk)
        a_seated_player(live_table, 4)
        as_owner("UPDATE games_shoecut SET open_until = clock_timestamp()")
        take_bank(live_table)
        assert state_of(live_table).phase is Phase.CALLS
        assert there(LiveTable.objects.get(pk=live_table.pk).shoe).commitment == cut.commitment

    def test_repeats_a_cut_that_was_forgotten_with_another_seed(self, cut, live_table):
        as_owner("UPDATE games_shoecut SET open_until = clock_timestamp() - interval '2 minutes'")
        assert tick.advance(live_table.pk)
        again = ShoeCut.objects.get()
        assert again.commitment != cut.commitment
        finish_cut(live_table)
        assert Shoe.objects.get().commitment == again.commitment

    def test_is_late_only_when_the_shoe_does_not_come_after_the_cut(self, cut, live_table):
        seen = snapshots.read_public(live_table.pk)
        assert seen.is_cutting
        assert not seen.is_late
        assert not seen.at(cut.open_until + LATE).is_late
        assert seen.at(cut.open_until + 2 * LATE).is_late


class TestThePage:
    def test_shows_that_the_shoe_is_cut_and_until_when(self, cut, players):
        text = page_of(players[0]).text
        assert f'data-shoe="{cut.shoe_id}"' in text
        assert cut.commitment in text
        assert "The new shoe is being cut" in text
        assert f'data-deadline="{int(cut.open_until.timestamp() * 1000)}"' in text

    def test_sends_digest_and_value_each_in_its_time(self, cut, players):
        visitor = visitor_of(players[0])
        assert send(visitor, cut, digest=digest_of(VALUES[0])) is True
        assert send(visitor, cut, value=VALUES[0]) is False
        as_owner("UPDATE games_shoecut SET bound_until = clock_timestamp()")
        assert send(visitor, cut, value=VALUES[0]) is True
        assert ShoeChance.objects.get().value == VALUES[0]

    def test_of_another_shoe_sends_nothing(self, cut, players):
        cut.shoe_id = uuid4()
        assert send(visitor_of(players[0]), cut, digest=digest_of(VALUES[0])) is False


def visitor_of(player: Player) -> Client:
    visitor = a_visitor()
    visitor.force_login(player.user)
    return visitor


def page_of(player: Player) -> Any:
    return visitor_of(player).get("/en/table/chemin/real/")


def send(visitor: Client, cut: ShoeCut, **sent: str) -> object:
    return visitor.post("/en/table/chemin/real/cut/", {"cut": cut.shoe_id, **sent}).json()["is_in_time"]
