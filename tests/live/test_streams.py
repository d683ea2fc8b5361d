"""Streams of live tables from a running web server: readers, content, cost and end."""

import re
import signal
import time
from collections.abc import Iterator
from functools import partial

import psycopg
import pytest
import time_machine
from django.core import signing
from django.utils.translation import override
from pytest_django import DjangoDbBlocker

from games.engine.cards import Card
from games.engine.chemin.state import there
from games.labels import card_name
from games.models import LiveTable, Phase
from games.shared.pages import stream_tokens
from games.tables.clock import Clock
from ops import beat
from players.login import locks, sessions
from players.models import Ended, Player, Session
from players.notify import CHANNEL, notify_table
from players.protection import exclusions
from realtime.hub import CHECKED_AT_ONCE, MOST_OF_ONE_PLAYER
from tests.builders import a_player
from tests.harness import databases
from tests.harness.databases import Database
from tests.live.at_table import advance_to, bet, step
from tests.live.streaming import (
    MOST_STREAMS,
    SPOILT_CLOCK,
    a_table_with_bets,
    a_ticket,
    a_web_server,
    an_address,
    backends,
    little_room,
    until,
)
from tests.live.watcher import PATIENCE, Watcher, watching
from tests.people import a_member_of_staff

LANGUAGES = ("sv", "da", "ro", "de", "en")
MORE_THAN_FITS = 900  # events of half a KB, more than fit between a server and a client that does not read


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """One database for all tests of this module, with real commits; each has its own table."""
    with django_db_blocker.unblock(), databases.clone("streams") as made:
        yield made


@pytest.fixture(scope="module")
def url(database: Database) -> Iterator[str]:
    """The URL of the web server."""
    with little_room(), a_web_server(database) as server:
        yield server.url


@pytest.fixture
def live_table(database: Database) -> LiveTable:
    """A shared table that takes bets, with one bet."""
    return a_table_with_bets()


@pytest.fixture
def superuser(database: Database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        yield connection


def renders(watchers: list[Watcher]) -> int:
    """Return how many public fragments were rendered; each has a running number."""
    return max(int(received.number.rpartition("-")[2]) for watcher in watchers for received in watcher.of("public"))


@pytest.mark.sweep
def test_its_answer_has_an_id_as_every_request_has(url, live_table):
    with watching(url, an_address(live_table), an_address(live_table)) as watchers:
        assert [watcher.status for watcher in watchers] == [200, 200]
        numbers = [re.findall(rb"x-request-id: (\w{32})\r\n", watcher.bytes) for watcher in watchers]
    assert [len(each) for each in numbers] == [1, 1]
    assert numbers[0] != numbers[1]


def test_postgresql_knows_whether_anybody_watches(
    url: str, live_table: LiveTable, superuser: psycopg.Connection
) -> None:
    def is_watched() -> bool:
        return superuser.execute(f"SELECT {beat.SOMEBODY_WATCHES}").fetchone() == (True,)

    with watching(url, an_address(live_table)) as watchers:
        watchers[0].wait_for("public", 'data-phase="betting"')
        assert is_watched()
    until(lambda: not is_watched())


def test_everybody_is_sent_a_round_as_it_goes_and_only_their_own_money(
    url: str, live_table: LiveTable, superuser: psycopg.Connection
) -> None:
    swede, dane = a_player(real=777_00), a_player("DK", real=888_00)
    addresses = [stream_tokens.issue(a_ticket(each, live_table)) for each in (swede, swede, dane)]
    with watching(url, *addresses) as watchers:
        first, second, other = watchers
        for watcher in watchers:
            watcher.wait_for("public", 'data-phase="betting"')
        for watcher, balance in ((first, "777.00"), (second, "777.00"), (other, "888.00")):
            watcher.wait_for("own", balance)

        bet(swede, live_table, player=250_00, tie=50_00)
        bet(dane, live_table, banker=250_00)
        advance_to(live_table, Phase.CLOSED)
        for watcher, balance in ((first, "477.00"), (second, "477.00"), (other, "638.00")):
            watcher.wait_for("public", 'data-phase="closed"')
            watcher.wait_for("own", balance)
        advance_to(live_table, Phase.SETTLED)
        for watcher in watchers:
            watcher.wait_for("public", 'data-phase="settled"')
            watcher.wait_for("own", "live-mine__last")

        assert len(backends(superuser)) == 1
        swedish, danish = own_events(first) + own_events(second), own_events(other)
        for private in ("SEK", "777.00", "477.00"):
            assert private in swedish
            assert private not in danish
        for private in ("DKK", "888.00", "638.00"):
            assert private in danish
            assert private not in swedish
        assert {"SEK\xa0300", "DKK\xa0250"} <= set(re.findall(r"[A-Z]{3}\xa0\d+", other.of("bettors")[-1].html))


def own_events(watcher: Watcher) -> str:
    """Return what the stream has sent, but for who has bet how much, which is the same for everybody."""
    return "".join(received.html for received in watcher.received if received.kind != "bettors")


@pytest.mark.sweep
def test_a_table_is_rendered_once_for_each_language_however_many_watch(url: str, live_table: LiveTable) -> None:
    addresses = [an_address(live_table, language) for language in ("en", "en", "en", "en", "ro", "ro")]
    with watching(url, *addresses) as watchers:
        for watcher in watchers:
            watcher.wait_for("public", 'data-phase="betting"')
        before = renders(watchers)
        assert before == 2
        advance_to(live_table, Phase.CLOSED)
        found = [watcher.wait_for("public", 'data-phase="closed"') for watcher in watchers]
        assert len(set(found[:4])) == len(set(found[4:])) == 1
        assert found[0] != found[4]
        assert renders(watchers) == before + 2
        assert [len(watcher.of("public")) for watcher in watchers] == [2] * 6


def test_no_card_is_sent_before_its_time_to_anybody_in_any_language(url: str, live_table: LiveTable) -> None:
    addresses = {language: an_address(live_table, language) for language in LANGUAGES}
    with watching(url, *addresses.values()) as watchers:
        for watcher in watchers:
            watcher.wait_for("public", 'data-phase="betting"')
        drawn = [Card.parse(code) for code in advance_to(live_table, Phase.DEALT).cards.split()]
        for watcher in watchers:
            watcher.wait_for("public", 'data-phase="dealt"')
        with watching(url, an_address(live_table)) as (late,):
            late.wait_for("public", 'data-phase="dealt"')
            for language, watcher in (*zip(LANGUAGES, watchers, strict=True), ("en", late)):
                with override(language):
                    shown, *hidden = map(card_name, drawn)
                assert shown.encode() in watcher.bytes
                assert [name for name in set(hidden) - {shown} if name.encode() in watcher.bytes] == []
                assert len(re.findall("card__face", watcher.of("public")[-1].html)) == 1
                assert b"data-deadline" not in watcher.bytes.rpartition(b'data-phase="dealt"')[2]


@pytest.mark.sweep
def test_cards_come_one_by_one_without_anybody_telling_the_server(url: str, database: Database) -> None:
    quick = Clock(betting=600_000, call=600_000, card=300, pause=600_000)
    live_table = a_table_with_bets(clock=quick)
    with watching(url, an_address(live_table)) as (watcher,):
        watcher.wait_for("public", 'data-phase="betting"')
        cards = advance_to(live_table, Phase.DEALT).cards.split()
        watcher.wait(lambda: faces(watcher)[-1:] == [len(cards)])
        shown = [number for number in faces(watcher) if number]
        assert shown == sorted(set(shown))


def faces(watcher: Watcher) -> list[int]:
    """Return the number of face-up cards on the table after each event, which brings the hands that have changed."""
    hands: dict[str, int] = {}
    shown = []
    for notification in watcher.of("public"):
        _, *changed = re.split(r'id="live-hand-(\w+)"', notification.html)
        hands |= {side: html.count("card__face") for side, html in zip(changed[::2], changed[1::2], strict=True)}
        shown.append(sum(hands.values()))
    return shown


def test_a_stream_is_opened_by_a_fresh_ticket_of_the_house_and_by_nothing_else(url: str, live_table: LiveTable) -> None:
    mine = a_ticket(a_player(), live_table)
    with time_machine.travel(time.time() - stream_tokens.MAX_AGE.total_seconds() - 5):
        late = stream_tokens.issue(mine)
    good = stream_tokens.issue(mine)
    named = [mine.player, mine.live_table, str(mine.session), mine.language]
    head, body = good.removeprefix("/live/").removesuffix("/").split(":", 1)
    other = stream_tokens.issue(a_ticket(a_player(), live_table)).removeprefix("/live/").split(":", 1)[0]
    refused = [
        late,
        "/live/",
        "/live//",
        "/live/nothing/",
        f"/live/{signing.dumps(named)}/",  # signed for another purpose
        f"/live/{signing.dumps(named, key='another house', salt='games.shared.pages.stream_tokens')}/",
        f"/live/{other}:{body}/",  # another player's name with my signature
        f"/live/{head}:{body[:-2]}/",
        good.removesuffix("/"),
        f"{good}../",
    ]
    with watching(url, *refused, good) as watchers:
        assert [watcher.status for watcher in watchers] == [403] * len(refused) + [200]
        for watcher in watchers[:-1]:
            assert b"live-public" not in watcher.bytes


def test_a_ticket_of_a_session_that_ended_in_the_meantime_shows_nothing(url: str, live_table: LiveTable) -> None:
    ticket = a_ticket(a_player(), live_table)
    sessions.end(session_id=there(ticket.session), why=Ended.LOGGED_OUT, by="player:1")
    with watching(url, stream_tokens.issue(ticket)) as (watcher,):
        watcher.wait_for_end()
        assert [received.kind for received in watcher.received] == ["over"]


@pytest.mark.sweep
def test_gli19_2_4_1_streams_end_when_staff_lock_the_account_whichever_session_opened_them(
    url: str, live_table: LiveTable
) -> None:
    player, stays = a_player(), a_ticket(a_player(), live_table)
    before = a_ticket(player, live_table)
    with watching(url, *map(stream_tokens.issue, (stays, before))) as watchers:
        for watcher in watchers:
            watcher.wait_for("own")
        locks.lock(player=player, reason="for a test", by=a_member_of_staff("support"))
        watchers[1].wait_for("over")
        watchers[1].wait_for_end()
        with watching(url, stream_tokens.issue(a_ticket(player, live_table))) as (
            also,
        ):  # a session that bypasses the lock
            also.wait_for_end()
            assert [received.kind for received in also.received] == ["over"]
        advance_to(live_table, Phase.CLOSED)
        watchers[0].wait_for("public", 'data-phase="closed"')


def test_streams_end_with_their_session_and_with_an_exclusion_and_lengthen_neither(
    url: str, live_table: LiveTable
) -> None:
    stays, leaves, idles, pauses = (a_ticket(a_player(), live_table) for _ in range(4))
    acted_at = Session.objects.get(pk=there(stays.session)).acted_at
    with watching(url, *map(stream_tokens.issue, (stays, leaves, idles, pauses))) as watchers:
        for watcher in watchers:
            watcher.wait_for("own")
        sessions.end(session_id=there(leaves.session), why=Ended.LOGGED_OUT, by="player:1")
        Session.objects.filter(pk=there(idles.session)).update(acted_at="2020-01-01T00:00:00Z")
        exclusions.pause(player=Player.objects.get(pk=pauses.player), by=f"player:{pauses.player}")
        for watcher in watchers[1:]:
            watcher.wait_for("over")
            watcher.wait_for_end()
        advance_to(live_table, Phase.CLOSED)
        watchers[0].wait_for("public", 'data-phase="closed"')
        assert b'data-phase="closed"' not in b"".join(watcher.bytes for watcher in watchers[1:])
        assert watchers[0].of("over") == []
    assert Session.objects.get(pk=there(stays.session)).acted_at == acted_at


def test_more_streams_than_are_checked_at_once_all_end_with_their_sessions(
    database: Database, live_table: LiveTable
) -> None:
    tickets = [a_ticket(a_player(), live_table) for _ in range(CHECKED_AT_ONCE // MOST_OF_ONE_PLAYER + 1)]
    addresses = [stream_tokens.issue(ticket) for ticket in tickets for _ in range(MOST_OF_ONE_PLAYER)]
    with a_web_server(database, len(addresses)) as server, watching(server.url, *addresses) as watchers:
        for watcher in watchers:
            watcher.wait_for("own")
        for ticket in tickets[1:]:
            sessions.end(session_id=there(ticket.session), why=Ended.LOGGED_OUT, by="player:1")
        for watcher in watchers[MOST_OF_ONE_PLAYER:]:
            watcher.wait_for("over")
        assert not any(watcher.of("over") for watcher in watchers[:MOST_OF_ONE_PLAYER])


@pytest.mark.sweep
def test_one_player_has_so_many_streams_and_a_process_so_many_and_each_more_is_refused(
    url: str, live_table: LiveTable
) -> None:
    greedy = stream_tokens.issue(a_ticket(a_player(), live_table))
    with watching(url, *[greedy] * MOST_OF_ONE_PLAYER) as watchers:
        assert {watcher.status for watcher in watchers} == {200}
        with watching(url, greedy) as (more,):
            assert more.status == 503
        others = [an_address(live_table) for _ in range(MOST_STREAMS - MOST_OF_ONE_PLAYER)]
        with watching(url, *others) as full:
            assert {watcher.status for watcher in full} == {200}
            last = an_address(live_table)
            with watching(url, last) as (more,):
                assert more.status == 503
            full[0].close()
            until(lambda: opens(url, last))  # a closed stream makes room


def opens(url: str, address: str) -> bool:
    with watching(url, address) as (watcher,):
        return watcher.status == 200


def test_a_client_that_does_not_read_is_dropped_and_delays_nobody(url: str, live_table: LiveTable) -> None:
    with watching(url, an_address(live_table)) as (reader,):
        sleeper = Watcher(url, an_address(live_table), reads=False)
        reader.wait_for("public")
        for number in range(1, MORE_THAN_FITS):
            pass_a_millisecond()
            notify_table(live_table.pk)
            reader.wait(partial(has_more_than, reader, number))
        sleeper.read()
        sleeper.wait(lambda: sleeper.is_over, what="not dropped")
        assert 0 < len(sleeper.of("public")) < len(reader.of("public"))
        assert not reader.is_over


def pass_a_millisecond() -> None:
    """Advance the clock of the countdown: a second rendering in the same millisecond is no change."""
    now = time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 == now:
        pass


def has_more_than(watcher: Watcher, number: int) -> bool:
    return watcher.bytes.count(b"event: public\n") > number


def test_a_lost_connection_to_the_database_keeps_the_streams_and_sends_what_was_missed(
    url: str, live_table: LiveTable, superuser: psycopg.Connection
) -> None:
    with watching(url, an_address(live_table)) as (watcher,):
        watcher.wait_for("public", 'data-phase="betting"')
        before = backends(superuser)
        assert before
        superuser.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid", [before])
        step(live_table)
        watcher.wait_for("public", 'data-phase="closed"')
        assert set(backends(superuser)).isdisjoint(before)
        step(live_table)
        watcher.wait_for("public", 'data-phase="dealt"')
        assert not watcher.is_over


@pytest.mark.sweep
def test_an_invalid_notification_and_an_unreadable_table_delay_no_other(
    url: str, live_table: LiveTable, superuser: psycopg.Connection
) -> None:
    broken = a_table_with_bets()
    with watching(url, an_address(live_table), an_address(broken)) as (watcher, other):
        for each in (watcher, other):
            each.wait_for("own")
        before = backends(superuser)
        superuser.execute(SPOILT_CLOCK, [broken.pk])
        for said in ("", "nonsense", "-1", "\N{SUPERSCRIPT TWO}", "9" * 30):
            superuser.execute("SELECT pg_notify(%s, %s)", [CHANNEL, said])
        notify_table(broken.pk)
        step(live_table)
        watcher.wait_for("public", 'data-phase="closed"')
        assert backends(superuser) == before  # no connection was dropped and reopened
        assert not other.is_over


@pytest.mark.sweep
def test_streams_end_when_the_server_is_signalled_to_stop_and_do_not_delay_it(
    database: Database, live_table: LiveTable
) -> None:
    with a_web_server(database) as server, watching(server.url, an_address(live_table)) as (watcher,):
        watcher.wait_for("own")
        server.process.send_signal(signal.SIGTERM)
        watcher.wait_for_end()
        assert server.process.wait(PATIENCE) in (0, -signal.SIGTERM)
        assert "timeout graceful shutdown exceeded" not in server.printed()
        assert "Exception" not in server.printed()
