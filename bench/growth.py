"""Benchmark of pages with a million rounds in the database (or ROUNDS=) compared with a hundredth
of them.

Both houses have the same half-year and the same players, so only the number of rounds differs.
Played rounds are copied over that time and the players, with all their rows: journals and entries,
an event, its leaf, days, sessions, hourly totals. One player has the same number of rounds in both
houses, and one has the most. Copies are written without triggers. Their ids belong to their month,
and later rows have higher ids.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import psycopg

from audit import hours
from audit.models import Report, ReportState
from audit.reports import runner
from audit.reports.kinds import Kind, Period, all_kinds, interval_of
from bench.clicks import SOLO, Browser, solo_clicker
from bench.house import fresh_house, point_at, superuser_of, web
from bench.measuring import Pace, Result, Unavailable, compare, repeat, say
from bench.play import register
from games.models import Participation
from players.login import second_factor
from players.models import Player, Staff
from players.staff import create_first
from tests import old_months

ROUNDS: Final = int(os.environ.get("ROUNDS", "1000000"))
PLAYERS: Final = 1000
SPAN: Final = 180 * 24  # hours
TEMPLATE: Final = "begun"
NO_BROKER: Final = "redis+socket:///nowhere"  # the wait for workers is not measured
ROLES: Final = ("operator", "supervisor", "finance", "compliance", "support", "administrator")

SECONDS_PLAYED: Final = 5.0  # seconds of play whose rounds are copied
OF_THE_FIRST: Final = 400  # rounds of the player with the same number in both houses
AT_ONCE: Final = 250_000
MAKE_ROOM: Final = """
SET session_replication_role = replica;
DELETE FROM audit_pending;
DELETE FROM audit_personal;
DELETE FROM audit_event;
SELECT setval(name, nextval(name) + 1000000000)
FROM unnest('{wallet_journal_id_seq,audit_event_id_seq,games_participation_id_seq}'::regclass[]) AS name
"""
BEGIN: Final = """
SET session_replication_role = replica;
UPDATE wallet_account SET version = version + 1000000000 WHERE owner_id IS NOT NULL;
CREATE TEMP TABLE everybody AS
SELECT row_number() OVER (ORDER BY player.id) - 1 AS player_number, player.id AS player, cash.id AS account
FROM players_player AS player
JOIN wallet_account AS cash ON cash.owner_id = player.id AND cash.kind = 'cash' AND cash.mode = 'R';
CREATE TEMP TABLE sample AS SELECT row_number() OVER () - 1 AS number, id AS round FROM games_round
"""
COPIES: Final = """
CREATE TEMP TABLE copied AS
WITH thrown AS (
    SELECT n, md5('round' || n)::uuid AS id, abs(hashint8(n)::bigint) %% (SELECT count(*) FROM sample) AS number,
        %(until)s - (1 - (n - 0.5::float8) / %(rounds)s) * %(hours)s * interval '1 hour' AS at,
        CASE WHEN n %% %(every)s = 0 THEN 1 ELSE
            2 + floor((n * 2654435761 %% 4294967296 / 4294967296::float8) ^ 2 * (%(players)s - 2))
        END::bigint AS player_number
    FROM generate_series(%(first)s::bigint, %(last)s) AS n
)
SELECT thrown.*, round, player, account, audit_block(at) AS month,
    upper(substr(md5('round' || n), 1, 12)) AS code, md5(player || ' ' || at::date)::uuid AS session
FROM thrown JOIN everybody USING (player_number) JOIN sample USING (number) ORDER BY n
"""
LEAVES: Final = "INSERT INTO audit_leaf (leaf, event_id) SELECT n - 1, month + n FROM copied; DROP TABLE copied"
END: Final = """
INSERT INTO wallet_day (player_id, day, deposited, withdrawn, staked, paid)
SELECT player_id, at::date, 0, 0, sum(staked), sum(paid) FROM games_participation GROUP BY 1, 2
ON CONFLICT (player_id, day) DO UPDATE SET staked = excluded.staked, paid = excluded.paid;
INSERT INTO players_session (id, user_id, ip, browser, began_at, acted_at, ended_at, why)
SELECT session, user_id, '192.0.2.7', 'Mozilla/5.0', min(at), max(at), max(at), 'logged out'
FROM games_participation JOIN players_player AS player ON player.id = player_id GROUP BY 1, 2
ON CONFLICT DO NOTHING;
VACUUM ANALYZE
"""
COLUMNS: Final = """
SELECT attname FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
"""
JOURNAL: Final = "new.month + 2 * new.n + (old.kind = 'settle')::integer"
OF_JOURNALS: Final = """
SELECT journal.round_id AS round, journal.kind, old.* FROM wallet_entry AS old
JOIN wallet_journal AS journal ON journal.id = old.journal_id WHERE journal.round_id IS NOT NULL
"""
# The rows of a round by table: how they are found, and which columns differ in a copy.
LEFT: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "games_round": ("SELECT id AS round, * FROM games_round", {"id": "new.id", "code": "new.code", "at": "new.at"}),
    "games_participation": (
        "SELECT round_id AS round, * FROM games_participation",
        {"id": "new.n", "round_id": "new.id", "player_id": "new.player", "session": "new.session", "at": "new.at"},
    ),
    "wallet_journal": (
        "SELECT round_id AS round, * FROM wallet_journal WHERE round_id IS NOT NULL",
        {"id": JOURNAL, "round_id": "new.id", "at": "new.at"},
    ),
    "wallet_entry": (
        OF_JOURNALS,
        {
            "journal_id": JOURNAL,
            "account_id": "CASE WHEN old.version IS NULL THEN old.account_id ELSE new.account END",
            "version": "CASE WHEN old.version IS NOT NULL THEN 2 * new.n + (old.kind = 'settle')::integer END",
        },
    ),
    "audit_event": (
        """SELECT substr("on", 7)::uuid AS round, * FROM audit_event
        WHERE kind = 'round.settled'""",  # one for each round
        {"id": "new.month + new.n", "at": "new.at", "by": "'player:' || new.player", "on": "'round:' || new.id"},
    ),
}


def growth(pace: Pace) -> list[Result]:
    """For each page, the request that slows down most in the large house, in milliseconds."""
    large = pace.size(ROUNDS, least=2000)
    with ExitStack() as stack:
        stack.enter_context(fresh_house(TEMPLATE))
        with superuser_of(TEMPLATE) as superuser:
            superuser.execute(MAKE_ROOM)
        played, few, most, *_ = register(PLAYERS)
        with web(1, TEMPLATE) as port:
            repeat(solo_clicker(played, port))(SECONDS_PLAYED)
        staff = create_first(email="staff@bench.example", name="Somebody", roles=ROLES)
        second_factor.give(staff.user)
        asked = []
        for name, rounds in (("small", max(large // 100, 200)), ("large", large)):
            stack.enter_context(fresh_house(name, template=TEMPLATE))
            write_past(name, rounds, span=pace.size(SPAN, least=48))
            port = stack.enter_context(web(1, name, BROKER_URL=NO_BROKER))
            asked.append(list(questions(name, port, few, most, staff)))
        results: dict[str, list[Result]] = defaultdict(list)
        brief = Pace(pace.seconds / 10, pace.rounds)
        for (page, question, of_small), (_, _, of_large) in zip(*asked, strict=True):
            ours = {f"growth_{page}": milliseconds(of_large)}
            (result,) = compare(brief, "ms", milliseconds(of_small), ours, aim=1.5)
            say(f"  {page}, {question}: {result.ours:.1f} ms, {result.yardstick:.1f} in the small house")
            results[page].append(result)
    return [max(found, key=lambda each: each.ratio) for found in results.values()]


def milliseconds(question: Callable[[], object]) -> Callable[[float], float]:
    """Return a function that measures the milliseconds of a request."""
    rate = repeat(question)
    return lambda seconds: 1000 / rate(seconds)


def questions(
    name: str, port: int, few: Player, most: Player, staff: Staff
) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Yield each request as page, label and function.

    Requests are made for the player with equal rounds and for the one with the most.
    """
    back_office = Browser(staff.user, port)
    for who, player in (("few", few), ("most", most)):
        browser = Browser(player.user, port)
        browser.open(SOLO)
        browser.click(f"{SOLO}play/", "bet:player")
        browser.click(f"{SOLO}play/", "deal")
        rounds = Participation.objects.filter(player=player).order_by("at", "pk")
        middle = rounds[rounds.count() // 2]
        yield "lobby", who, partial(browser.open, "/en/")
        yield "deal", who, partial(browser.click, f"{SOLO}play/", "rebet_deal")
        yield "history", f"first page, {who}", partial(browser.open, "/en/history/")
        yield "history", f"far back, {who}", partial(browser.open, f"/en/history/?before={middle.pk}")
        yield "history", f"lost, {who}", partial(browser.open, "/en/history/?ending=lost")
        yield "history", f"a round, {who}", partial(browser.open, f"/en/history/{middle.round_id}/")
        if player == few:  # longer for a player with more rounds
            day = middle.at.date()
            yield "history", "a day", partial(browser.open, f"/en/history/?since={day}&until={day}")
            yield "history", "statement", partial(browser.open, "/en/cashier/statement/")
        yield "player_page", who, partial(back_office.open, f"/staff/players/{player.pk}/")
        yield "player_page", f"money, {who}", partial(back_office.open, f"/staff/players/{player.pk}/money/")
    for period in ("today", "yesterday", "this_month", "last_30_days"):
        yield "dashboard", period, partial(back_office.open, f"/staff/dashboard/now/?period={period}")
    for kind in all_kinds():
        for span in (Period.LAST_MONTH, Period.YESTERDAY):
            yield "reports", f"{kind.name}, {span}", partial(make_report, name, kind, span, few, staff)


def make_report(name: str, kind: Kind, period: Period, player: Player, staff: Staff) -> None:
    """Make a report as a worker does on request of staff."""
    point_at(name)
    interval = interval_of(period, now=datetime.now(UTC), zone="UTC")
    choices = {"zone": "UTC", "period": str(period)} | {each.name: "" for each in kind.choices}
    choices |= {"player": str(player.pk)} if "player" in choices else {}
    report = Report.objects.create(kind=kind.name, choices=choices, by=f"staff:{staff.pk}", **vars(interval))
    runner.make_open()
    report.refresh_from_db()
    if report.state != ReportState.READY:
        raise Unavailable(f"report {kind.name} is {report.state}: {report.failure}")


def write_past(name: str, rounds: int, *, span: int) -> None:
    """Copy rounds until the database has *rounds* in the last *span* hours, and compute all hourly
    totals.
    """
    until = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    values = {"rounds": rounds, "hours": span, "until": until, "players": PLAYERS}
    values |= {"every": max(rounds // min(OF_THE_FIRST, rounds // 10), 1)}
    with superuser_of(name) as superuser:
        old_months.make(superuser, until - timedelta(hours=span))
        superuser.execute(BEGIN)
        statements = [_copying(superuser, table) for table in LEFT]
        for first in range(1, rounds + 1, AT_ONCE):
            say(f"{name}: {first - 1:,} of {rounds:,} rounds are written …")
            superuser.execute(COPIES, values | {"first": first, "last": min(first + AT_ONCE - 1, rounds)})
            for statement in (*statements, LEAVES):
                superuser.execute(statement.encode())
        for statement in END.split(";"):
            superuser.execute(statement.encode())
    hours.write_watermark()
    while hours.roll_due():
        pass


def _copying(superuser: psycopg.Connection, table: str) -> str:
    """Store the rows of the played rounds in a table. Return the statement that copies them."""
    found, differs = LEFT[table]
    superuser.execute(f"CREATE TEMP TABLE sample_{table} AS {found}".encode())
    names = [name for (name,) in superuser.execute(COLUMNS, [table])]
    into = ", ".join(f'"{name}"' for name in names)
    values = ", ".join(differs.get(name, f'old."{name}"') for name in names)
    return f"INSERT INTO {table} ({into}) SELECT {values} FROM copied AS new JOIN sample_{table} AS old USING (round)"
