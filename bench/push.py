"""Benchmark of pushing a change of a shared table to all its viewers, on one web process.

The table has eighty rounds. A change gives the last round another result, so that the scoreboard is
rendered again. The guards against changes of rounds are off in this database.
"""

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from selectors import EVENT_READ, DefaultSelector
from statistics import quantiles
from typing import Final
from uuid import uuid4

from django.db import connections, transaction

from bench.house import fresh_house, seconds_of_web, web
from bench.measuring import Pace, Result, Unavailable
from bench.play import register
from games.engine.cards import FULL_DECK
from games.engine.chemin.state import there
from games.engine.coup import deal
from games.models import LiveRound, LiveTable, Phase
from games.shared.pages import stream_tokens
from games.shared.pages.stream_tokens import Ticket
from games.shared.rounds import open_next
from ops.launcher import ADDRESS
from players.models import Session
from players.notify import CHANNEL
from wallet.models import Mode

WATCHERS, ROUNDS = 500, 80
BOARD = b"event: board\n"  # the last of the two events that a change sends
LIMIT: Final = 40.0  # milliseconds
BETWEEN, PATIENCE = 0.2, 60.0  # seconds between two changes; seconds to wait for a change
CHANGE: Final = """
WITH changed AS (
    UPDATE games_liveround SET cards = %s WHERE id = (
        SELECT id FROM games_liveround WHERE live_table_id = %s AND phase = 'settled' ORDER BY number DESC LIMIT 1)
    RETURNING live_table_id
)
SELECT pg_notify(%s::text, live_table_id::text) FROM changed
"""


def push(pace: Pace) -> list[Result]:
    """Milliseconds until viewers have a change, and the share of a processor that web takes at five changes a second,
    compared with limits.
    """
    with fresh_house(), web(1) as port:
        table, addresses = seat(WATCHERS)
        requests = [f"GET {each} HTTP/1.1\r\nHost: {ADDRESS}\r\n\r\n".encode() for each in addresses]
        measure = watch(port, requests, change_of(table))
        measure(min(pace.seconds, 1.0))
        used = seconds_of_web()
        delays = measure(pace.seconds * pace.rounds)
        percentiles = quantiles(delays, n=100)
        share = (seconds_of_web() - used) / (len(delays) / WATCHERS) / BETWEEN  # a busy machine makes fewer changes
    return [
        Result(f"push_{WATCHERS}_p50", percentiles[49], LIMIT, "ms, limit"),
        Result(f"push_{WATCHERS}_p99", percentiles[98], LIMIT, "ms, limit", aim=1),
        Result(f"push_{WATCHERS}_processor", 100 * share, 10, "%, limit", aim=1),
    ]


def seat(number: int) -> tuple[int, list[str]]:
    """Log *number* players in at a table with a history.

    Return the table and the URLs of their streams.
    """
    players = register(number)
    table = LiveTable.objects.select_related("table__version").get(table__slug="pairs", mode=Mode.FREE)
    with transaction.atomic():
        now = there(open_next(table))
    sessions = Session.objects.bulk_create(Session(id=uuid4(), user=each.user, ip="", browser="") for each in players)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE games_liveround DISABLE TRIGGER USER")
    LiveRound.objects.using("owner").bulk_create(
        LiveRound(
            id=uuid4(),
            live_table=table,
            version=now.version,
            shoe=now.shoe,
            number=now.number + number,
            is_last=False,
            code=f"B{number}",
            phase=Phase.SETTLED,
            deadline=now.deadline,
            cards=cards,
        )
        for number, cards in zip(range(1, ROUNDS + 1), coups(), strict=False)
    )
    seats = zip(players, sessions, strict=True)
    return table.pk, [stream_tokens.issue(Ticket(player.pk, table.pk, session.pk, "en")) for player, session in seats]


def coups() -> Iterator[str]:
    """Yield the cards of coup after coup, always the same ones."""
    chance = Random(1)
    while True:
        yield " ".join(card.code for card in deal(chance.sample(FULL_DECK, 6)).cards)


def change_of(table: int) -> Callable[[], object]:
    """Return a function that changes the table."""
    results = coups()

    def change() -> None:
        with connections["owner"].cursor() as cursor:
            cursor.execute(CHANGE, [next(results), table, CHANNEL])

    return change


def watch(port: int, requests: Sequence[bytes], change: Callable[[], object]) -> Callable[[float], list[float]]:
    """Open a stream for each request.

    Return a function that makes changes for some seconds and returns the milliseconds until each was read.
    """
    streams = [socket.create_connection((ADDRESS, port), timeout=PATIENCE) for _ in requests]
    selector = DefaultSelector()
    for stream, request in zip(streams, requests, strict=True):
        stream.sendall(request)
        selector.register(stream, EVENT_READ, stream)

    def delays() -> list[float]:
        """Read until the last event of a change has arrived everywhere, then read the rest."""
        begun, came, ends = time.perf_counter(), dict[int, float](), dict.fromkeys(selector.get_map(), b"")
        while len(came) < len(streams) or time.perf_counter() < begun + BETWEEN:
            if time.perf_counter() > begun + PATIENCE:
                raise Unavailable("a change has not come")
            for key, _ in selector.select(BETWEEN):
                read = ends[key.fd] + key.data.recv(65536)
                if BOARD in read:
                    came.setdefault(key.fd, 1000 * (time.perf_counter() - begun))
                ends[key.fd] = read[1 - len(BOARD) :]  # an event may arrive in parts
        return list(came.values())

    def measure(seconds: float) -> list[float]:
        measured: list[float] = []
        until = time.perf_counter() + seconds
        while not measured or time.perf_counter() < until:
            change()
            measured += delays()
        return measured

    delays()
    return measure
