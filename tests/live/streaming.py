"""Helpers for tests of streams: a web server with small buffers, tickets and URLs."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from games.models import LiveTable
from games.shared.pages import stream_tokens
from games.shared.pages.stream_tokens import Ticket
from games.shared.seats import seat_at
from ops.launcher import listening_socket
from players.models import Player, Session
from realtime.listener import NAME
from tests.builders import a_player
from tests.harness import web
from tests.harness.databases import Database
from tests.harness.folders import fresh_folder
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, bet
from tests.live.watcher import PATIENCE

MOST_STREAMS = 20
CONNECTIONS = "SELECT pid FROM pg_stat_activity WHERE application_name = %s AND datname = current_database()"
SPOILT_CLOCK = """
UPDATE games_tableversion SET clock = '{}' WHERE id = (SELECT version_id FROM games_livetable AS live
    JOIN games_table AS seat ON seat.id = live.table_id WHERE live.id = %s)
"""
_slugs = (f"live-{number}" for number in count(1))


@contextmanager
def a_web_server(database: Database, streams: int = MOST_STREAMS) -> Iterator[WebServer]:
    log = fresh_folder("sabot-streams-") / "web.log"
    most = {"LIVE_STREAMS": str(streams)}
    server = web.start(database, log, application="casino.asgi:application", environment=most)
    try:
        yield server
    finally:
        web.stop(server)


@contextmanager
def little_room() -> Iterator[None]:
    """Give web servers that start inside the block small buffers for unsent data."""

    def small(port: int) -> socket.socket:
        listening = listening_socket(port)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return listening

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(web, "listening_socket", small)
        yield


def a_table_with_bets(**options: Any) -> LiveTable:
    made = a_live_table(slug=next(_slugs), **options)
    bet(a_player(real=100_00), made, banker=50_00)
    return made


def a_ticket(player: Player, live_table: LiveTable, language: str = "en") -> Ticket:
    """Return the ticket of a player who has just logged in and taken a seat."""
    seat_at(player, live_table)
    session = Session.objects.create(id=uuid4(), user=player.user, ip="", browser="")
    return Ticket(player.pk, live_table.pk, session.pk, language)


def an_address(live_table: LiveTable, language: str = "en") -> str:
    """Return the stream URL of a player who has just arrived."""
    return stream_tokens.issue(a_ticket(a_player(real=100_000_00), live_table, language))


def backends(superuser: psycopg.Connection) -> list[int]:
    """Return the PostgreSQL backends that serve streams."""
    return [pid for (pid,) in superuser.execute(CONNECTIONS, [NAME])]


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
