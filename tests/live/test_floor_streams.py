"""The stream of the floor from a running web server: readers, content, cost and end."""

import re
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from pytest_django import DjangoDbBlocker

from games.models import LiveTable, Phase
from games.shared.pages import stream_tokens
from games.shared.pages.stream_tokens import Ticket
from games.shared.round_status import in_hands
from players.login import sessions
from players.models import Ended, Player, Session, Staff, User
from realtime.hub import MOST_OF_ONE_PLAYER
from realtime.overviews import NAME
from tests.builders import a_player
from tests.harness import databases
from tests.harness.databases import Database
from tests.harness.dealer import seed_of
from tests.harness.sweeps import sample
from tests.live.at_table import advance_to, bet, round_at
from tests.live.streaming import SPOILT_CLOCK, a_table_with_bets, a_web_server, until
from tests.live.watcher import Watcher, watching
from tests.people import a_member_of_staff

CARD = re.compile(rb"\b[2-9TJQKA][SHDC]\b")
CONNECTIONS = "SELECT pid FROM pg_stat_activity WHERE application_name = %s AND datname = current_database()"
AWAY = {
    "disabled": "UPDATE players_user SET is_active = false WHERE id = %s",
    "without a role": "DELETE FROM players_user_groups WHERE user_id = %s",
    "without a second factor": "DELETE FROM mfa_authenticator WHERE user_id = %s",
}


@pytest.fixture(scope="module")
def database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Database]:
    """One database for all tests of this module, with real commits."""
    with django_db_blocker.unblock(), databases.clone("floor") as made:
        yield made


@pytest.fixture(scope="module")
def url(database: Database) -> Iterator[str]:
    """The URL of the web server."""
    with a_web_server(database) as server:
        yield server.url


@pytest.fixture
def live_table(database: Database) -> LiveTable:
    """A shared table that takes bets, with one bet."""
    return a_table_with_bets()


@pytest.fixture
def superuser(database: Database) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        yield connection


def a_session(user: User) -> Session:
    return Session.objects.create(id=uuid4(), user=user, ip="", browser="")


def an_address(staff: Staff | None = None) -> str:
    """Return the stream URL of a staff member who has just logged in."""
    staff = staff or a_member_of_staff("operator")
    return stream_tokens.issue(stream_tokens.floor_ticket(staff.pk, a_session(staff.user).pk, "en"))


def rows_of(watcher: Watcher, live_table: LiveTable) -> list[str]:
    return [received.html for received in watcher.of("row") if f'id="live-{live_table.pk}"' in received.html]


def row_at(watcher: Watcher, live_table: LiveTable, containing: str = "") -> str:
    """Wait for a row of a table that contains this text."""

    def found() -> list[str]:
        return [html for html in rows_of(watcher, live_table) if containing in html]

    watcher.wait(found, what=f"nothing of the table with {containing!r}")
    return found()[-1]


def test_a_round_is_sent_as_it_goes_and_no_card_before_its_time(url: str, live_table: LiveTable) -> None:
    with watching(url, an_address()) as (watcher,):
        row_at(watcher, live_table, "1 player")
        bet(a_player(real=1000_00), live_table, player=250_00)
        row_at(watcher, live_table, "2 players")  # no notification was sent for this
        advance_to(live_table, Phase.CLOSED)
        row_at(watcher, live_table, "no more bets")
        cards_of_others = set(CARD.findall(watcher.bytes))
        dealt = [card.encode() for card in advance_to(live_table, Phase.DEALT).cards.split()]
        row_at(watcher, live_table, f"Player {dealt[0].decode()}")
        shown = "".join(rows_of(watcher, live_table)).encode()
        assert set(CARD.findall(shown)) == {dealt[0]}
        assert set(CARD.findall(watcher.bytes)) <= cards_of_others | {dealt[0]}
        advance_to(live_table, Phase.SETTLED)
        row_at(watcher, live_table, in_hands(" ".join(card.decode() for card in dealt)))
        shoe = round_at(live_table).shoe
        assert seed_of(shoe).hex().encode() not in watcher.bytes
        assert shoe.commitment.encode() not in watcher.bytes
        assert b"csrf" not in watcher.bytes
        assert b"player:" not in watcher.bytes


@pytest.mark.sweep
def test_a_row_is_rendered_once_however_many_watch(url: str, live_table: LiveTable) -> None:
    with watching(url, *(an_address() for _ in range(4))) as watchers:
        for watcher in watchers:
            row_at(watcher, live_table, "betting open")
        advance_to(live_table, Phase.CLOSED)
        for watcher in watchers:
            row_at(watcher, live_table, "no more bets")
        mine = f"live-{live_table.pk}-"
        numbers = [
            {received.number for received in each.of("row") if received.number.startswith(mine)} for each in watchers
        ]
        assert len(numbers[0]) == len(set(rows_of(watchers[0], live_table)))
        assert all(each == numbers[0] for each in numbers)


@pytest.mark.parametrize("why", sample(AWAY, 1))
def test_staff_who_lose_access_are_sent_no_more(
    url: str, live_table: LiveTable, superuser: psycopg.Connection, why: str
) -> None:
    staff = a_member_of_staff("operator")
    with watching(url, an_address(staff), an_address()) as (watcher, other):
        for each in (watcher, other):
            row_at(each, live_table)
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(AWAY[why], [staff.user_id])
        watcher.wait_for("over")
        watcher.wait_for_end()
        advance_to(live_table, Phase.CLOSED)
        row_at(other, live_table, "no more bets")
        assert not any("no more bets" in html for html in rows_of(watcher, live_table))


@pytest.mark.sweep
def test_a_session_that_is_ended_ends_the_stream(url: str, live_table: LiveTable) -> None:
    staff = a_member_of_staff("compliance")
    with watching(url, an_address(staff)) as (watcher,):
        row_at(watcher, live_table)
        sessions.end_all(user=staff.user, why=Ended.ELSEWHERE, by=str(staff))
        watcher.wait_for("over")
        watcher.wait_for_end()


@pytest.mark.parametrize("role", sample(["finance", "support", "administrator"], 1))
def test_staff_without_access_to_the_floor_are_sent_nothing(url: str, live_table: LiveTable, role: str) -> None:
    with watching(url, an_address(a_member_of_staff(role))) as (watcher,):
        watcher.wait_for("over")
        watcher.wait_for_end()
        assert watcher.of("row") == []


def test_a_player_who_brings_such_a_ticket_is_sent_nothing(url: str, live_table: LiveTable) -> None:
    player: Player = a_player()
    ticket = Ticket(player.pk, None, a_session(player.user).pk, "en", staff=player.pk)
    with watching(url, stream_tokens.issue(ticket)) as (watcher,):
        watcher.wait_for("over")
        assert watcher.of("row") == []


def test_a_ticket_is_for_one_browser_and_one_person_has_few_streams(url: str, live_table: LiveTable) -> None:
    staff = a_member_of_staff("operator")
    ticket = stream_tokens.floor_ticket(staff.pk, a_session(staff.user).pk, "en")
    with watching(url, stream_tokens.issue(ticket, "a-cookie")) as (watcher,):
        assert watcher.status == 403
    with watching(url, *(an_address(staff) for _ in range(MOST_OF_ONE_PLAYER + 1))) as watchers:
        assert sorted(watcher.status for watcher in watchers) == [200] * MOST_OF_ONE_PLAYER + [503]


def readers(superuser: psycopg.Connection) -> list[int]:
    """Return the PostgreSQL backends that read the floor."""
    return [pid for (pid,) in superuser.execute(CONNECTIONS, [NAME])]


@pytest.mark.sweep
def test_nothing_is_read_while_nobody_watches(url: str, live_table: LiveTable, superuser: psycopg.Connection) -> None:
    with watching(url, an_address(), an_address()) as (watcher, other):
        for each in (watcher, other):
            row_at(each, live_table)
        assert len(readers(superuser)) == 1
    until(lambda: not readers(superuser))
    with watching(url, an_address()) as (watcher,):
        row_at(watcher, live_table)


@pytest.mark.sweep
def test_a_table_that_cannot_be_read_and_a_connection_that_is_lost_hold_up_no_other(
    url: str, live_table: LiveTable, superuser: psycopg.Connection
) -> None:
    spoilt = a_table_with_bets()
    with watching(url, an_address()) as (watcher,):
        row_at(watcher, live_table)
        advance_to(spoilt, Phase.DEALT)
        superuser.execute(SPOILT_CLOCK, [spoilt.pk])
        advance_to(live_table, Phase.CLOSED)
        row_at(watcher, live_table, "no more bets")
        (lost,) = readers(superuser)
        superuser.execute("SELECT pg_terminate_backend(%s)", [lost])
        advance_to(live_table, Phase.SETTLED)
        row_at(watcher, live_table, "paid")
        assert not watcher.of("over")
