"""Many who watch: `python -m bench.watching_player PERSON AT PORT SAMPLE`, where PERSON says their `number`.

AT `house`, each is a player with a session and a seat at one shared table, and news of it goes through PostgreSQL; AT
`bare` (`bench.fan_out`) they are sockets, and news is a line to the server. Says after how many milliseconds 99 of 100
had what was told. SAMPLE is a file that keeps one event, so that the other side sends the same bytes.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from statistics import quantiles
from uuid import uuid4

import django
import uvloop

django.setup()

from django.conf import settings  # noqa: E402  (models need the set-up)
from django.db import connections, transaction  # noqa: E402
from psycopg import AsyncConnection  # noqa: E402

from bench.contest import say  # noqa: E402
from bench.fan_out import TELL, WATCH  # noqa: E402
from bench.people import BORN  # noqa: E402
from games.live import tickets  # noqa: E402
from games.live.news import CHANNEL  # noqa: E402
from games.live.rounds import open_next  # noqa: E402
from games.live.tickets import Ticket  # noqa: E402
from games.models import LiveSeat, LiveTable  # noqa: E402
from players.models import Jurisdiction, Player, Session, User  # noqa: E402
from wallet import accounts  # noqa: E402
from wallet.models import Mode  # noqa: E402

ADDRESS = "127.0.0.1"
EVENT = b"event: public\n"
OWN = b"event: own\n"
BETWEEN = 0.2  # seconds from one event to the next
PATIENCE = 60.0

Tell = Callable[[], Awaitable[object]]


class Watcher(asyncio.Protocol):
    """Notes when each event comes."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.read = b""  # what came before the first time it was asked for an event
        self.is_open = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        """Note the time; keep the beginning, which may come in parts."""
        self.times += [time.perf_counter()] * data.count(EVENT)
        if not self.is_open.done():
            self.read += data
            if EVENT in self.read and (OWN in self.read or b"HTTP" not in self.read):
                self.is_open.set_result(None)


def seated(number: int) -> Iterator[Ticket]:
    """Make so many players, each logged in and at the same table."""
    where = Jurisdiction.objects.get(pk="SE")
    currency = where.currencies[0]
    live_table = LiveTable.objects.select_related("table__version").get(table__slug="pairs", mode=Mode.FREE)
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
    for player, session in zip(players, sessions, strict=True):
        yield Ticket(player.pk, live_table.pk, session.pk, "en")


async def at_the_house(port: int, seats: Sequence[Ticket], sample: Path) -> tuple[Sequence[Watcher], Tell]:
    """Open a stream for each player; return how to have the table's news told."""
    watchers = []
    loop = asyncio.get_running_loop()
    for ticket in seats:
        transport, watcher = await loop.create_connection(Watcher, ADDRESS, port)
        transport.write(f"GET {tickets.issue(ticket)} HTTP/1.1\r\nHost: {ADDRESS}\r\n\r\n".encode())
        watchers.append(watcher)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(watcher.is_open for watcher in watchers))
    begun = watchers[0].read.partition(EVENT)[2]
    sample.write_bytes(EVENT + begun[: begun.index(b"\n\n") + 2])
    line = await AsyncConnection.connect(settings.DATABASE_URL, autocommit=True)

    async def tell() -> None:
        await line.execute("SELECT pg_notify(%s::text, %s::text)", [CHANNEL, str(seats[0].live_table)])

    return watchers, tell


async def at_the_bare_server(port: int, number: int) -> tuple[Sequence[Watcher], Tell]:
    """Open a socket for each; return how to have the sample sent to all."""
    watchers = []
    loop = asyncio.get_running_loop()
    for _ in range(number):
        transport, watcher = await loop.create_connection(Watcher, ADDRESS, port)
        transport.write(WATCH)
        watchers.append(watcher)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(watcher.is_open for watcher in watchers))
    teller, _ = await loop.create_connection(asyncio.Protocol, ADDRESS, port)

    async def tell() -> None:
        teller.write(TELL)

    return watchers, tell


async def measure(watchers: Sequence[Watcher], tell: Tell, seconds: float) -> float:
    """Tell everybody again and again for so long; return the 99th of 100 delays, in milliseconds."""
    delays: list[float] = []
    until = time.perf_counter() + seconds
    while not delays or time.perf_counter() < until:
        for watcher in watchers:
            watcher.times.clear()
        begun = time.perf_counter()
        await tell()
        async with asyncio.timeout(PATIENCE):
            while not all(watcher.times for watcher in watchers):
                await asyncio.sleep(0.005)
        delays += [watcher.times[0] - begun for watcher in watchers]
        await asyncio.sleep(max(0.0, begun + BETWEEN - time.perf_counter()))
    percentiles = [1000 * delay for delay in quantiles(delays, n=100)]
    say(f"    to {len(watchers)}: p50 {percentiles[49]:.1f} ms, p99 {percentiles[98]:.1f} ms")
    return percentiles[98]


async def watch(seats: Sequence[Ticket], number: int) -> None:
    """Come, and watch for so many seconds whenever told to."""
    port = int(sys.argv[3])
    come = at_the_house(port, seats, Path(sys.argv[4])) if seats else at_the_bare_server(port, number)
    watchers, tell = await come
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(await measure(watchers, tell, float(line)), flush=True)


def main() -> None:
    """Take seats where there are any, and watch."""
    number = json.loads(sys.argv[1])["number"]
    seats = list(seated(number)) if sys.argv[2] == "house" else []
    connections.close_all()
    uvloop.run(watch(seats, number))


if __name__ == "__main__":
    main()
