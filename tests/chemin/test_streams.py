"""Streams of Chemin de Fer tables from a running web server: what each reader receives of a coup."""

import re
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from pytest_django import DjangoDbBlocker

from games import chat
from games.chemin import play
from games.errors import QuestionPassed
from games.models import ChatName, LiveTable, Shape
from games.shared.pages import stream_tokens
from games.shared.pages.stream_tokens import Ticket
from players.models import Player, Session
from players.notify import notify_table
from realtime.listener import NAME
from tests.builders import a_player
from tests.chemin.at_table import a_chemin_table, a_seated_player, answer, chemin_of, seated_players, state_of
from tests.harness import databases, web
from tests.harness.databases import Database
from tests.harness.folders import fresh_folder
from tests.live.streaming import CONNECTIONS, SPOILT_CLOCK, a_table_with_bets, an_address
from tests.live.test_streams import renders
from tests.live.watcher import Watcher, watching

WATCHERS = 50
SLUGS = iter(f"chemin-{number}" for number in range(1000))


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """One database for all tests of this module, with real commits; each has its own table."""
    with django_db_blocker.unblock(), databases.clone("chemin") as made:
        yield made


@pytest.fixture(scope="module")
def url(database: Database) -> Iterator[str]:
    """The URL of the web server."""
    log = fresh_folder("sabot-chemin-") / "web.log"
    server = web.start(database, log, application="casino.asgi:application", environment={"LIVE_STREAMS": "100"})
    yield server.url
    web.stop(server)


@pytest.fixture
def live_table(database: Database) -> LiveTable:
    return a_chemin_table(slug=next(SLUGS))


@pytest.fixture
def superuser(database: Database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        yield connection


def address_of(player: Player, live_table: LiveTable, language: str = "en") -> str:
    """Return the stream URL of a page of the table."""
    session = Session.objects.create(id=uuid4(), user=player.user, ip="", browser="")
    return stream_tokens.issue(Ticket(player.pk, live_table.pk, session.pk, language, shape=Shape.CHEMIN))


def version(html: str) -> int:
    """Return the move number of a player's own fragment."""
    (found,) = re.findall(r'data-version="(\d+)"', html)
    return int(found)


def wait_for_own(watcher: Watcher, live_table: LiveTable) -> str:
    """Wait until a client has the current own part; return it."""
    now = chemin_of(live_table).move
    watcher.wait(lambda: any(version(each.html) == now for each in watcher.of("own")), what=f"no own part of {now}")
    return watcher.of("own")[-1].html


def test_a_new_page_is_sent_the_table_at_once_and_every_move_after_it(url: str, live_table: LiveTable) -> None:
    first, second = seated_players(live_table, 2)
    with watching(url, address_of(first, live_table), address_of(a_player(), live_table)) as (seated_player, spectator):
        for watcher in (seated_player, spectator):
            watcher.wait_for("public", 'data-phase="offer"')
            watcher.wait_for("own", 'id="live-own"')
            watcher.wait_for("board", 'id="live-board"')
        assert 'name="action" value="take_bank"' in seated_player.of("own")[-1].html
        for player, click, phase in (
            (first, ("take_bank", 10_000), "calls"),
            (second, ("pass", None), "stakes"),
            (second, ("lay_stake", 4_000), "cards"),
            (first, ("deal_cards", None), None),
        ):
            answer(player, live_table, *click)
            for watcher in (seated_player, spectator):
                watcher.wait_for("public", f'data-phase="{phase}"' if phase else "card")
                wait_for_own(watcher, live_table)
        with watching(url, address_of(a_player(), live_table)) as (late,):
            late.wait_for("public", spectator.of("public")[-1].html.partition('data-deadline="')[0])


def test_what_is_a_players_own_goes_to_that_player_alone_on_each_of_their_pages(
    url: str, live_table: LiveTable
) -> None:
    banker, punter = seated_players(live_table, 2)
    addresses = [address_of(player, live_table) for player in (banker, punter, punter, a_player())]
    with watching(url, *addresses) as (at_the_bank, one, two, aside):
        answer(banker, live_table, "take_bank", 12_300)
        for watcher in (one, two):
            assert "decide--asked" in wait_for_own(watcher, live_table)
        for watcher in (at_the_bank, aside):
            assert "decide--asked" not in wait_for_own(watcher, live_table)
        funds = "99,877.00"  # 100,000 less the bank
        assert funds in at_the_bank.of("own")[-1].html
        for watcher in (one, two, aside):
            assert funds.encode() not in watcher.bytes


@pytest.mark.sweep
def test_a_table_is_rendered_once_for_each_language_however_many_watch(url: str, live_table: LiveTable) -> None:
    banker, *others = seated_players(live_table, 9)
    seated = [
        address_of(player, live_table, "ro" if seat_number % 2 else "en") for seat_number, player in enumerate(others)
    ]
    crowd = [address_of(a_player(), live_table, "ro" if number % 2 else "en") for number in range(WATCHERS)]
    with watching(url, *seated, *crowd) as watchers:
        for watcher in watchers:
            watcher.wait_for("public", 'data-phase="offer"')
        before = renders(watchers)
        assert before == 2
        answer(banker, live_table, "take_bank", 10_000)
        found = {watcher.wait_for("public", 'data-phase="calls"').html for watcher in watchers}
        assert len(found) == 2
        # taking the bank and bringing the shoe are two moves; a slow process may see only the
        # second
        assert before + 2 <= renders(watchers) <= before + 4


def test_the_countdown_is_that_of_the_houses_clock_in_milliseconds(url: str, live_table: LiveTable) -> None:
    (first, _) = seated_players(live_table, 2)
    with watching(url, address_of(first, live_table)) as (watcher,):
        html = watcher.wait_for("public", 'data-phase="offer"').html
        asked = chemin_of(live_table)
        assert asked.deadline
        assert asked.asked_at
        numbers = {name: int(number) for name, number in re.findall(r'data-(deadline|now|length)="(\d+)"', html)}
        assert numbers["deadline"] == int(asked.deadline.timestamp() * 1000)
        assert numbers["length"] == 600_000
        assert int(asked.asked_at.timestamp() * 1000) <= numbers["now"] < numbers["deadline"]


@pytest.mark.sweep
def test_an_answer_to_a_question_that_has_passed_changes_nothing_for_anybody(url: str, live_table: LiveTable) -> None:
    first, second = seated_players(live_table, 2)
    with watching(url, address_of(second, live_table)) as (watcher,):
        watcher.wait_for("public", 'data-phase="offer"')
        passed = chemin_of(live_table).question
        answer(first, live_table, "pass")
        asked = wait_for_own(watcher, live_table)
        assert f'data-asked="{passed + 1}"' in asked
        with pytest.raises(QuestionPassed):
            play.decide(player=second, live_table_id=live_table.pk, question=passed, action_name="pass")
        notify_table(live_table.pk)
        assert wait_for_own(watcher, live_table) == asked


@pytest.mark.sweep
def test_a_lost_connection_to_the_database_is_restored_and_missed_events_are_sent(
    url: str, live_table: LiveTable, superuser: psycopg.Connection
) -> None:
    first, _ = seated_players(live_table, 2)
    with watching(url, address_of(first, live_table)) as (watcher,):
        watcher.wait_for("own", "decide--asked")
        superuser.execute(f"SELECT pg_terminate_backend(pid) FROM ({CONNECTIONS}) AS streams", [NAME])
        answer(first, live_table, "take_bank", 10_000)
        watcher.wait_for("public", 'data-phase="calls"')
        wait_for_own(watcher, live_table)
        assert not watcher.is_over


def test_a_returning_page_shows_the_table_and_each_player_s_own_cards(url: str, live_table: LiveTable) -> None:
    banker, punter = seated_players(live_table, 2)
    with watching(url, address_of(punter, live_table)) as (watcher,):
        watcher.wait_for("own", 'id="live-own"')
    answer(banker, live_table, "take_bank", 10_000)
    answer(punter, live_table, "pass")
    answer(punter, live_table, "lay_stake", 4_000)
    answer(banker, live_table, "deal_cards")
    hand = "decide__hand"
    is_asked = state_of(live_table).phase == "punter"  # unless there was a natural
    with watching(url, address_of(punter, live_table), address_of(banker, live_table)) as (back, other):
        assert (hand in wait_for_own(back, live_table)) is is_asked
        assert hand not in wait_for_own(other, live_table)


@pytest.mark.sweep
def test_one_table_that_cannot_be_shown_holds_up_no_other_of_either_shape(
    url: str, live_table: LiveTable, superuser: psycopg.Connection
) -> None:
    broken, shared = a_chemin_table(slug=next(SLUGS)), a_table_with_bets()
    first, _ = seated_players(live_table, 2)
    lost, _ = seated_players(broken, 2)
    addresses = [address_of(first, live_table), address_of(lost, broken), an_address(shared)]
    with watching(url, *addresses) as (watcher, other, at_the_shared):
        for each in (watcher, other, at_the_shared):
            each.wait_for("own")
        superuser.execute(SPOILT_CLOCK, [broken.pk])
        notify_table(broken.pk)
        answer(first, live_table, "take_bank", 10_000)
        watcher.wait_for("public", 'data-phase="calls"')
        assert not other.is_over
        assert not at_the_shared.is_over


@pytest.mark.sweep
def test_chat_at_a_chemin_table_is_sent_there(url: str, live_table: LiveTable) -> None:
    first, second = seated_players(live_table, 2)
    ChatName.objects.create(player=second, name=f"Talker {live_table.pk}")
    with watching(url, address_of(first, live_table)) as (watcher,):
        watcher.wait_for("own")
        chat.say(player=second, live_table=live_table, text="Bonsoir", language="en")
        assert "Bonsoir" in watcher.wait_for("chat").html


def test_nobody_reads_what_somebody_else_has_to_play_with(url: str, live_table: LiveTable) -> None:
    rich = a_seated_player(live_table, 3, money=1_012_345)
    seated_players(live_table, 2)
    with watching(url, address_of(rich, live_table), address_of(a_player(), live_table)) as (theirs, other):
        assert "10,123.45" in wait_for_own(theirs, live_table)
        wait_for_own(other, live_table)
        other.wait_for("board")
        assert b"123.45" not in other.bytes
