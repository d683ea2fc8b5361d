"""The stream of a Chemin de Fer table for API clients: every move, the player's own hand, and each finished coup."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from games.models import CheminCoup, LiveRound, LiveTable, Round
from games.shared.malfunction import cancel
from tests.api.at_live import client_of, state_at
from tests.api.listening import listening, rounds, values, wait_for_state
from tests.builders import a_player
from tests.chemin.at_table import (
    a_chemin_table,
    a_coup_without_a_natural,
    a_dealt_coup,
    a_staked_coup,
    answer,
    chemin_of,
    play_out,
    seated_players,
)
from tests.chemin.spelling import cards_in
from tests.harness import databases
from tests.harness.databases import Database
from tests.live.streaming import a_web_server

SLUGS = iter(f"guests-{number}" for number in range(1000))


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """One database for all tests here, with real commits: each has its own table and players."""
    with django_db_blocker.unblock(), databases.clone("guests") as made:
        yield made


@pytest.fixture(scope="module")
def url(database: Database) -> Iterator[str]:
    """The address of the house."""
    with a_web_server(database) as server:
        yield server.url


@pytest.fixture
def live_table(database: Database) -> LiveTable:
    return a_chemin_table(slug=next(SLUGS))


def test_every_move_is_streamed_and_private_data_only_to_its_player(url: str, live_table: LiveTable) -> None:
    banker, punter = seated_players(live_table, 2)
    listeners = [client_of(player) for player in (banker, punter, a_player(real=1_000))]
    with listening(url, *listeners, to=live_table) as watchers:
        for watcher in watchers:
            wait_for_state(watcher, phase="offer", asked_seat=1)
        answer(banker, live_table, "take_bank", 12_300)
        for watcher, api_client in zip(watchers, listeners, strict=True):
            shown = wait_for_state(watcher, phase="calls", asked_seat=2)
            of_the_moment = {"at": None, "seconds_left": None}
            assert shown | of_the_moment == state_at(api_client, live_table)["state"] | of_the_moment
            watcher.wait_for("own", f'"move":{chemin_of(live_table).move},')
            assert values(watcher.of("own")[-1]) == state_at(api_client, live_table)["own"]
        asked, others = values(watchers[1].of("own")[-1]), (watchers[0], watchers[2])
        assert {option["action"] for option in asked["options"]} == {"make_call", "pass"}
        assert all(values(watcher.of("own")[-1])["options"] == [] for watcher in others)
        assert b"9987700" in watchers[0].bytes  # the banker's balance
        assert all(b"9987700" not in watcher.bytes for watcher in watchers[1:])


def test_a_face_down_hand_is_sent_only_to_its_holder(url: str, live_table: LiveTable) -> None:
    banker, punter = seated_players(live_table, 2)
    listeners = [client_of(player) for player in (punter, banker, a_player(real=1_000))]
    holder = a_coup_without_a_natural(live_table)
    move = chemin_of(live_table).move
    with listening(url, *listeners, to=live_table) as watchers:
        for watcher in watchers:
            wait_for_state(watcher, phase="punter", move=move)
            watcher.wait_for("own", f'"move":{move},')
        seen = {watcher: values(watcher.of("own")[-1])["hand"] for watcher in watchers}
        (hand,) = [each for each in seen.values() if each]
        assert bool(seen[watchers[0]]) is (holder == punter)
        assert len(hand["cards"]) == 2
        for watcher in watchers:
            shown = b"".join(received.html.encode() for received in watcher.of("state")[-1:])
            assert b'"punter":{"cards":[null,null]' in shown
            if not seen[watcher]:
                assert not cards_in(watcher.bytes.rpartition(b"event: own")[2].decode())


@pytest.mark.sweep
def test_a_finished_coup_is_streamed_as_it_is_stored(url: str, live_table: LiveTable) -> None:
    first, _ = seated_players(live_table, 2)
    api_client = client_of(first)
    with listening(url, api_client, to=live_table) as (watcher,):
        wait_for_state(watcher, phase="offer")
        a_dealt_coup(live_table)
        play_out(live_table)
        over = LiveRound.objects.get(live_table=live_table)
        watcher.wait(lambda: rounds(watcher) == [str(over.pk)])
        shown, coup = values(watcher.of("round")[0]), CheminCoup.objects.get(round=over)
        kept = Round.objects.get(pk=over.pk).cards.split()
        assert (shown["outcome"], shown["cards"], shown["code"]) == (coup.outcome, kept, over.code)
        assert (shown["punter"]["total"], shown["banker"]["total"]) == (coup.punter_total, coup.banker_total)
        assert sorted(shown["punter"]["cards"] + shown["banker"]["cards"]) == sorted(shown["cards"])
        last = watcher.of("round")[0].number
    with listening(url, api_client, to=live_table, after="0-0") as (back,):
        back.wait_for("state")
        assert rounds(back) == [str(over.pk)]
    with listening(url, api_client, to=live_table, after=last) as (back,):
        back.wait_for("state")
        assert rounds(back) == []


@pytest.mark.sweep
def test_a_voided_coup_is_streamed_without_its_cards(url: str, live_table: LiveTable) -> None:
    first, _ = seated_players(live_table, 2)
    a_staked_coup(live_table)
    with listening(url, client_of(first), to=live_table, after="0-0") as (watcher,):
        wait_for_state(watcher, phase="cards")
        cancel(round_id=LiveRound.objects.get(live_table=live_table).pk, reason="for a test", by="staff:1")
        shown = values(watcher.wait_for("round"))
        assert (shown["is_void"], shown["outcome"], shown["cards"]) == (True, None, [])
        wait_for_state(watcher, results=["voided"])
