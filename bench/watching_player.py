"""Many who watch: `python -m bench.watching_player PERSON AT PORT SAMPLE`, where PERSON says their `number`.

AT `house`, each is a player with a session and a seat at one shared table, and news of it goes through PostgreSQL; AT
`bare` (`bench.fan_out`) they are sockets, and news is a line to the server. All the while somebody talks. Says after
how many milliseconds 99 of 100 had what everybody is shown; the board, which is long, comes after it. SAMPLE is a file
that keeps one event of each kind, so that the other side sends the same bytes.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import quantiles
from typing import Protocol
from uuid import uuid4

import django
import uvloop

django.setup()

from django.db import connections, transaction  # noqa: E402  (models need the set-up)

from bench.contest import say  # noqa: E402
from bench.fan_out import TALK, TELL, WATCH  # noqa: E402
from bench.furnished import News, furnish  # noqa: E402
from bench.people import BORN  # noqa: E402
from games.models import LiveSeat, LiveTable  # noqa: E402
from games.shared import stream_tokens  # noqa: E402
from games.shared.rounds import open_next  # noqa: E402
from games.shared.stream_tokens import Ticket  # noqa: E402
from players.models import Jurisdiction, Player, Session, User  # noqa: E402
from wallet.ledger import accounts  # noqa: E402
from wallet.models import Mode  # noqa: E402

ADDRESS = "127.0.0.1"
EVENT, BOARD, SAID = (b"event: %b\n" % kind for kind in (b"public", b"board", b"chat"))
BETWEEN = 0.2  # seconds from one event to the next
SILENCE = 1.0  # seconds from one thing that is said to the next
PATIENCE = 60.0


class Teller(Protocol):
    """Has everybody told."""

    async def prepare(self) -> None:
        """Have something to tell."""

    async def tell(self) -> None:
        """Have everybody told what the table shows."""

    async def talk(self) -> None:
        """Say something in the chat."""


class Watcher(asyncio.Protocol):
    """Notes when each event comes."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.boards: list[float] = []
        self.read = b""  # what came while it is kept, and the end of it afterwards: an event may come in parts
        self.keeps = True

    def data_received(self, data: bytes) -> None:
        """Note the time."""
        tail = self.read[1 - len(EVENT) :]
        self.times += [time.perf_counter()] * (tail + data).count(EVENT)
        self.boards += [time.perf_counter()] * (self.read[1 - len(BOARD) :] + data).count(BOARD)
        self.read = (self.read if self.keeps else tail) + data


def the_table() -> LiveTable:
    """Where everybody sits."""
    return LiveTable.objects.select_related("table__version").get(table__slug="pairs", mode=Mode.FREE)


def seated(live_table: LiveTable, number: int) -> Iterator[Ticket]:
    """Make so many players, each logged in and at the same table, which has a history."""
    where = Jurisdiction.objects.get(pk="SE")
    currency = where.currencies[0]
    with transaction.atomic():
        open_next(live_table)
        users = User.objects.bulk_create([User(email=f"{uuid4().hex}@bench.example") for _ in range(number)])
        players = Player.objects.bulk_create(
            [Player(user=user, jurisdiction=where, currency=currency, birth_date=BORN) for user in users]
        )
        sessions = Session.objects.bulk_create([Session(id=uuid4(), user=user, ip="", browser="") for user in users])
        for player in players:
            accounts.open_accounts(player)
        LiveSeat.objects.bulk_create(
            LiveSeat(
                live_table=live_table,
                player=player,
                account_id=accounts.player_account(player.pk, Mode.FREE),
                currency=currency,
            )
            for player in players
        )
    furnish(live_table, players)
    for player, session in zip(players, sessions, strict=True):
        yield Ticket(player.pk, live_table.pk, session.pk, "en")


async def at_the_house(port: int, seats: Sequence[Ticket], news: News, sample: Path) -> Sequence[Watcher]:
    """Open a stream for each player, and keep an event of each kind."""
    watchers = []
    loop = asyncio.get_running_loop()
    for ticket in seats:
        transport, watcher = await loop.create_connection(Watcher, ADDRESS, port)
        transport.write(f"GET {stream_tokens.issue(ticket)} HTTP/1.1\r\nHost: {ADDRESS}\r\n\r\n".encode())
        watchers.append(watcher)
    await have_come(watchers, EVENT, BOARD)
    await news.connect()
    await news.talk()
    await have_come(watchers[:1], SAID)
    read = watchers[0].read
    sample.write_bytes(b"".join(_first(kind, read) for kind in (EVENT, BOARD, SAID)))
    return watchers


def _first(kind: bytes, read: bytes) -> bytes:
    """Return the first event of a kind."""
    begun = read[read.index(kind) :]
    return begun[: begun.index(b"\n\n") + 2]


class Bare:
    """Tells the bare server."""

    def __init__(self, line: asyncio.WriteTransport) -> None:
        self._line = line

    async def prepare(self) -> None:
        """Have the same as before."""

    async def tell(self) -> None:
        """Have the events sent."""
        self._line.write(TELL)

    async def talk(self) -> None:
        """Have the line of the chat sent."""
        self._line.write(TALK)


async def at_the_bare_server(port: int, number: int) -> tuple[Sequence[Watcher], Teller]:
    """Open a socket for each; return how to have the sample sent to all."""
    watchers = []
    loop = asyncio.get_running_loop()
    for _ in range(number):
        transport, watcher = await loop.create_connection(Watcher, ADDRESS, port)
        transport.write(WATCH)
        watchers.append(watcher)
    await have_come(watchers, EVENT, BOARD)
    teller, _ = await loop.create_connection(asyncio.Protocol, ADDRESS, port)
    return watchers, Bare(teller)


async def have_come(watchers: Sequence[Watcher], *kinds: bytes) -> None:
    """Wait until such events have, to everybody, and to their end."""
    async with asyncio.timeout(PATIENCE):
        while not all(b"\n\n" in watcher.read.partition(kind)[2] for watcher in watchers for kind in kinds):
            await asyncio.sleep(0.05)


async def measure(watchers: Sequence[Watcher], teller: Teller, seconds: float) -> float:
    """Tell everybody again and again for so long; return the 99th of 100 delays, in milliseconds."""
    delays: list[float] = []
    of_boards: list[float] = []
    until = time.perf_counter() + seconds
    while not delays or time.perf_counter() < until:
        await teller.prepare()
        for watcher in watchers:
            watcher.times.clear()
            watcher.boards.clear()
        begun = time.perf_counter()
        await teller.tell()
        async with asyncio.timeout(PATIENCE):
            while not all(watcher.times and watcher.boards for watcher in watchers):
                await asyncio.sleep(0.005)
        delays += [watcher.times[0] - begun for watcher in watchers]
        of_boards += [watcher.boards[0] - begun for watcher in watchers]
        await asyncio.sleep(max(0.0, begun + BETWEEN - time.perf_counter()))
    percentiles, boards = ([1000 * delay for delay in quantiles(each, n=100)] for each in (delays, of_boards))
    say(
        f"    to {len(watchers)}: p50 {percentiles[49]:.1f} ms, p99 {percentiles[98]:.1f} ms; "
        f"their boards: p50 {boards[49]:.1f} ms, p99 {boards[98]:.1f} ms"
    )
    return percentiles[98]


async def chatter(teller: Teller, is_over: asyncio.Event) -> None:
    """Say something every second."""
    while not is_over.is_set():
        await teller.talk()
        with suppress(TimeoutError):
            await asyncio.wait_for(is_over.wait(), SILENCE)


async def watch(seats: Sequence[Ticket], news: News | None, number: int) -> None:
    """Come, and watch for so many seconds whenever told to."""
    port = int(sys.argv[3])
    teller: Teller
    if news:
        watchers, teller = await at_the_house(port, seats, news, Path(sys.argv[4])), news
    else:
        watchers, teller = await at_the_bare_server(port, number)
    for watcher in watchers:
        watcher.keeps = False
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        is_over = asyncio.Event()
        talking = asyncio.create_task(chatter(teller, is_over))
        print(await measure(watchers, teller, float(line)), flush=True)
        is_over.set()
        await talking


def main() -> None:
    """Take seats where there are any, and watch."""
    number = json.loads(sys.argv[1])["number"]
    seats, news = [], None
    if sys.argv[2] == "house":
        seats = list(seated(the_table(), number))
        news = News(the_table())
    connections.close_all()
    uvloop.run(watch(seats, news, number))


if __name__ == "__main__":
    main()
