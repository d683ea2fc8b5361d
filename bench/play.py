"""Benchmarks of play without HTTP, in an empty house: postings, solo rounds, rounds of a shared table."""

import time
from collections.abc import Callable
from datetime import date
from functools import partial
from itertools import count
from typing import Final
from uuid import UUID, uuid4

from django.db import connection, connections, transaction

from bench.house import CLIENTS, fresh_house, pgbench, team
from bench.measuring import Pace, Rate, Result, Unavailable, compare, repeat
from games import solo
from games.models import LiveTable, Phase, Table
from games.shared import phases
from games.tables.default_tables import load_tables
from players.account import terms
from players.models import Agreement, Jurisdiction, Player, PlaySession, User
from players.protection import limits
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import Account, AccountKind, Mode

BORN: Final = date(1990, 1, 1)
STAKE, MONEY = 1000, 10**12  # minor units
HISTORY: Final = 100  # rounds before those that count
AT_ONCE: Final = 1000  # players per statement or journal of deposits; each waits for their limits
OPEN: Final = "SELECT wallet_open_account(id, currency, mode) FROM players_player, unnest('{R,F}'::text[]) AS mode"
# All players have a session, so their play is counted, and a confirmed identity.
SIT: Final = """
INSERT INTO players_playsession (session, player_id) SELECT md5(id::text)::uuid, id FROM players_player;
INSERT INTO players_identity (player_id, by) SELECT id, 'register:bench' FROM players_player;
"""
SHARED: Final = "live-baccarat-2-nc"
BETTORS: Final = (100, 1_000, 10_000)
DEADLINE: Final = "UPDATE games_liveround SET deadline = clock_timestamp() + make_interval(secs => %s) WHERE id = %s"
CUT: Final = "UPDATE games_shoecut SET bound_until = begun_at, open_until = begun_at WHERE live_table_id = %s"
PLAIN_INSERT: Final = """
INSERT INTO bench_plain (journal_id, line, account_id, currency, mode, amount, balance_after, version)
SELECT %(journal)s, row_number() OVER (ORDER BY id), id, currency, mode, -2000, balance, version
FROM wallet_account WHERE kind = 'cash' AND mode = 'R' ORDER BY id LIMIT %(number)s
"""
# Bets as chips create them, one to three for each player, written by the owner of the tables.
BETS: Final = """
INSERT INTO games_liveseat AS seat (
    live_table_id, player_id, account_id, currency, round_id, stakes, version, undo, last_stakes, session
)
SELECT %(table)s, owner_id, id, currency, %(round)s,
    CASE id %% 3 WHEN 0 THEN '{"player": 2000}' WHEN 1 THEN '{"banker": 4000, "tie": 2000}'
        ELSE '{"player": 6000, "tie": 2000, "super_6": 2000}' END::jsonb,
    0, '[]', '{}', md5(owner_id::text)::uuid
FROM wallet_account WHERE kind = 'cash' AND mode = 'R' ORDER BY id LIMIT %(number)s
ON CONFLICT (live_table_id, player_id) DO UPDATE SET round_id = excluded.round_id, stakes = excluded.stakes
"""
HOLDS: Final = """
INSERT INTO wallet_hold (round_id, account_id, amount)
SELECT seat.round_id, seat.account_id, (SELECT sum(value::bigint) FROM jsonb_each_text(seat.stakes))
FROM games_liveseat AS seat WHERE seat.round_id = %(round)s ORDER BY seat.account_id
"""


POST: Final = "SELECT * FROM wallet_write(%s::jsonb, false)"


def register(number: int) -> list[Player]:
    """Open the tables and return *number* players with money; the first few have set their limits."""
    load_tables()
    with transaction.atomic(), connection.cursor() as cursor:
        users = [User(email=f"player{each}@bench.example") for each in range(number)]
        User.objects.bulk_create(users, AT_ONCE)
        sweden = Jurisdiction.objects.get(pk="SE")
        players = [Player(user=each, jurisdiction=sweden, currency="SEK", birth_date=BORN) for each in users]
        Player.objects.bulk_create(players, AT_ONCE)
        agreed = (Agreement(player=each, terms_version=terms.VERSION) for each in players)
        Agreement.objects.bulk_create(agreed, AT_ONCE)
        cursor.execute(OPEN)
    with connections["owner"].cursor() as cursor:
        cursor.execute(SIT)
    _deposit("SEK")
    for player in players[:CLIENTS]:
        for kind, period in limits.required(player):
            limits.set_limit(player=player, kind=kind, period=period, amount=MONEY, by=str(player))
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return players


def _deposit(currency: str) -> None:
    """Give money to all accounts in a currency."""
    cash = Account.objects.filter(kind=AccountKind.CASH, mode=Mode.REAL, currency=currency).order_by("pk")
    deposits = [ledger.Line(account, currency, Mode.REAL, MONEY) for account in cash.values_list("pk", flat=True)]
    till = accounts.house_account(AccountKind.CASHIER, currency, Mode.REAL)
    for first in range(0, len(deposits), AT_ONCE):
        lines = deposits[first : first + AT_ONCE]
        taken = ledger.Line(till, currency, Mode.REAL, -MONEY * len(lines))
        deposit = ledger.request(ledger.Journal(uuid4(), "deposit", (*lines, taken)))
        with connections["owner"].cursor() as cursor:
            cursor.execute("SELECT count(*) FROM wallet_write(%s::jsonb, false)", [deposit])


def posting(pace: Pace) -> list[Result]:
    """Journals of two lines from four concurrent clients, compared with pgbench's TPC-B and four
    clients.
    """
    return _against_pgbench(pace, "posting", "postings", poster, aim=0.5)


def poster(player: Player) -> Rate:
    """Return the rate at which a player's stakes are posted: by the owner, since only functions of games post them."""
    money = player.currency, Mode.REAL
    cash, escrow = accounts.player_account(player.pk, Mode.REAL), accounts.house_account(AccountKind.ESCROW, *money)
    lines = ledger.Line(cash, *money, -STAKE), ledger.Line(escrow, *money, STAKE)

    def post() -> None:
        with connections["owner"].cursor() as cursor:
            cursor.execute(POST, [ledger.request(ledger.Journal(uuid4(), "stake", lines))])
            cursor.fetchall()

    return repeat(post)


def solo_service(pace: Pace) -> list[Result]:
    """Solo rounds from four concurrent players without HTTP, compared with pgbench's TPC-B and four
    clients.
    """
    return _against_pgbench(pace, "solo_service", "rounds", dealer, aim=0.3)


def dealer(player: Player) -> Rate:
    """Return the rate at which rounds are played with the same bet."""
    table = Table.objects.get(slug="baccarat")
    seat = solo.solo_seat_at(player=player, table_id=table.pk, mode=Mode.REAL)
    session = PlaySession.objects.get(player=player).session

    def play() -> None:
        nonlocal seat
        click = solo.Click(
            player=player,
            table_id=table.pk,
            mode=Mode.REAL,
            round_id=seat.round_id,
            slip_version=None,
            bets={"player": STAKE},
            session=session,
        )
        seat = solo.play(click).seat

    for _ in range(HISTORY):
        play()
    collect_statistics()
    return repeat(play)


def collect_statistics() -> None:
    """Count rows as autovacuum does in the first minutes of a house. Plans that were made before read wrong indexes."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE")


def _against_pgbench(
    pace: Pace, name: str, units: str, client: Callable[[Player], Rate], *, aim: float
) -> list[Result]:
    """Compare the clients of four players with pgbench's TPC-B and four clients."""
    with fresh_house():
        players = register(CLIENTS)
        with pgbench() as yardstick, team(*(partial(client, each) for each in players)) as ours:
            return compare(pace, f"{units}/s, transactions/s", yardstick, {name: ours}, aim=aim)


def shared_table() -> LiveTable:
    """Return the shared table for the bets."""
    tables = LiveTable.objects.select_related("table__version", "round")
    return tables.get(table__slug=SHARED, mode=Mode.REAL)


def pay_all(pace: Pace) -> list[Result]:
    """Bettors paid per second, from the last card to the last payout, compared with a plain INSERT
    … SELECT of one row each.
    """
    numbers = [number for number in BETTORS if number <= pace.size(max(BETTORS), BETTORS[0])]
    with fresh_house():
        register(max(numbers))
        results = []
        for number in numbers:
            with team(partial(plain_inserter, number)) as yardstick, team(partial(croupier, number)) as ours:
                results += compare(pace, "bettors/s, rows/s", yardstick, {f"pay_all_{number}": ours}, aim=1 / 12)
        return results


def plain_inserter(number: int) -> Rate:
    """Return the rate of inserting entries with a primary key only: no trigger, no other index."""
    journals = count()
    with connections["owner"].cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_plain")
        cursor.execute("CREATE TABLE bench_plain (LIKE wallet_entry, PRIMARY KEY (journal_id, line))")

    def insert() -> None:
        with connections["owner"].cursor() as cursor:
            cursor.execute(PLAIN_INSERT, {"journal": next(journals), "number": number})

    return repeat(insert, units=number)


def croupier(number: int) -> Rate:
    """Return the rate of bettors paid. The product plays whole rounds, and their last step is timed."""
    table = shared_table().pk

    def step() -> float:
        """Make the next phase of the table due, or end the cut of its next shoe, and execute it. Return the seconds."""
        with connections["owner"].cursor() as cursor:
            cursor.execute(CUT, [table])
            if live_round := shared_table().round:
                cursor.execute(DEADLINE, [0, live_round.pk])
        begun = time.perf_counter()
        if not phases.advance(table):
            raise Unavailable("the table does not move on")
        return time.perf_counter() - begun

    def play() -> float:
        while (live_round := shared_table().round) is None or live_round.phase != Phase.BETTING:
            step()
        values: dict[str, int | UUID] = {"table": table, "round": live_round.pk, "number": number}
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute(BETS, values)
            cursor.execute(HOLDS, values)
        step()
        step()
        return step()

    def rate(seconds: float) -> float:
        took: list[float] = []
        while not took or sum(took) < seconds:
            took.append(play())
        return len(took) * number / sum(took)

    return rate
