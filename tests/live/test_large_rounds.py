"""The cost of a round grows linearly with the number of bettors, even with outdated statistics.

The tests do not measure time, which depends on the load. They count statements, rows that pass
through plans, and rows read from tables, including those read by triggers, functions and foreign
keys.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from games.models import LiveTable, Participation, Phase, VoidPart, VoidReason
from games.shared.malfunction import void_live_round
from players.models import Jurisdiction, Player, User
from tests.harness.databases import Database
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, round_at, step
from tests.voiding import agree_to_void, cancel
from tests.wallet.money_moves import write
from wallet import ledger
from wallet.invariants import verify
from wallet.ledger import accounts
from wallet.models import AccountKind, Hold, Mode

FEW, MANY = 60, 600
MOST = 1.5 * MANY / FEW  # the plan may change for many rows; quadratic cost would be a hundred times as much
MONEY = 1_000_00

OPEN_ACCOUNTS = "SELECT wallet_open_account(id, currency, 'R') FROM players_player WHERE id = ANY(%s)"
SIT = """
INSERT INTO players_playsession (session, player_id)
SELECT md5(id::text)::uuid, id FROM players_player WHERE id = ANY(%s)
"""
# Held bets as chips leave them, one to three for each player.
LAY = """
WITH seat AS (
    INSERT INTO games_liveseat AS seat (
        live_table_id, player_id, account_id, currency, round_id, stakes, version, undo, last_stakes, session
    )
    SELECT %(live_table)s, owner_id, id, currency, %(round)s,
        CASE id %% 3 WHEN 0 THEN '{"player": 2000}' WHEN 1 THEN '{"banker": 4000, "tie": 2000}'
            ELSE '{"player": 6000, "tie": 2000, "super_6": 2000}' END::jsonb,
        0, '[]', '{}', md5(owner_id::text)::uuid
    FROM wallet_account WHERE owner_id = ANY(%(players)s) AND kind = 'cash' AND mode = 'R'
    ON CONFLICT (live_table_id, player_id) DO UPDATE SET round_id = excluded.round_id, stakes = excluded.stakes
    RETURNING account_id, (SELECT sum(value::bigint)::bigint FROM jsonb_each_text(seat.stakes)) AS staked
)
SELECT wallet_set_hold(%(round)s::uuid, account_id, staked) FROM seat ORDER BY account_id
"""
READ = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_user_tables"
EXPLAIN = "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "
EXPLAINED = ("SELECT", "WITH", "INSERT", "UPDATE")


@dataclass
class Work:
    """The work PostgreSQL did for one operation."""

    statements: int = 0
    passed: float = 0  # rows through the nodes of plans, including filtered ones
    read: int = 0  # rows from tables

    def count(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
        """Run a statement, after a first run with EXPLAIN ANALYZE that is rolled back."""
        self.statements += 1
        if sql.lstrip().startswith(EXPLAINED):
            execute("SAVEPOINT explained", None, False, context)
            execute(EXPLAIN + sql, params, many, context)
            self.passed += passed(context["cursor"].fetchone()[0][0]["Plan"])
            execute("ROLLBACK TO SAVEPOINT explained", None, False, context)
        return execute(sql, params, many, context)


def passed(node: Mapping[str, Any]) -> float:
    """Return the rows through a node of a plan and all nodes below it."""
    removed = sum(rows for name, rows in node.items() if name.startswith("Rows Removed by"))
    own = (node["Actual Rows"] + removed) * node["Actual Loops"]
    return own + sum(passed(each) for each in node.get("Plans", ()))


@contextmanager
def counted() -> Iterator[Work]:
    """Count the work inside the block, including foreign key checks."""
    work = Work()
    with transaction.atomic(), connection.cursor() as cursor:
        before = read(cursor)  # may include earlier transactions
        with connection.execute_wrapper(work.count):
            yield work
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        work.read = read(cursor) - before


def read(cursor: CursorWrapper) -> int:
    """Return the number of rows read from tables so far."""
    cursor.execute(READ)
    (rows,) = cursor.fetchone()
    return int(rows)


@pytest.fixture
def crowd(cloned_db: Database) -> Sequence[int]:
    """Many players with money, inserted by a few statements."""
    where = Jurisdiction.objects.get(pk="SE")
    users = User.objects.bulk_create(User(email=f"crowd{each}@example.com") for each in range(MANY))
    players = Player.objects.bulk_create(
        Player(user=user, jurisdiction=where, currency="SEK", birth_date=date(1990, 1, 1)) for user in users
    )
    ids = [player.pk for player in players]
    with connection.cursor() as cursor:
        cursor.execute(OPEN_ACCOUNTS, [ids])
        cash = [account for (account,) in cursor.fetchall()]
    as_owner(SIT, [ids])
    till = accounts.house_account(AccountKind.CASHIER, "SEK", Mode.REAL)
    lines = [ledger.Line(account, "SEK", Mode.REAL, MONEY) for account in cash]
    lines.append(ledger.Line(till, "SEK", Mode.REAL, -MONEY * MANY))
    write(ledger.Journal(uuid4(), "deposit", tuple(lines)))
    return ids


@pytest.fixture
def live_table(cloned_db: Database) -> LiveTable:
    return a_live_table()


def bet(live_table: LiveTable, players: Sequence[int]) -> None:
    """Replace all bets of the open round by bets of these players."""
    if round_at(live_table).phase != Phase.BETTING:
        advance_to(live_table, Phase.BETTING)
    values: dict[str, Any] = {"live_table": live_table.pk, "round": round_at(live_table).pk, "players": list(players)}
    as_owner(LAY, values)


def assert_linear(few: Work, many: Work) -> None:
    assert many.statements == few.statements
    assert many.passed < MOST * few.passed
    assert many.read < MOST * few.read


@pytest.mark.parametrize("analysed_before", sample([None, FEW, MANY], 1))
def test_closing_and_paying_grow_with_the_bettors_and_not_with_their_square(owner, crowd, live_table, analysed_before):
    closing, paying = [], []
    for number in (FEW, MANY):
        if number == analysed_before:
            owner.execute("VACUUM ANALYZE")
        bet(live_table, crowd[:number])
        with counted() as work:
            assert step(live_table).phase == Phase.CLOSED
        closing.append(work)
        step(live_table)
        with counted() as work:
            live_round = step(live_table)
        assert live_round.phase == Phase.SETTLED
        paying.append(work)
        assert Participation.objects.filter(round_id=live_round.pk).count() == number
    assert_linear(*closing)
    assert_linear(*paying)
    assert not Hold.objects.exists()
    assert not [check.rows for check in verify.run() if check.rows]


@pytest.mark.sweep
def test_so_does_voiding_before_the_deal_and_after_it(owner, crowd, live_table):
    owner.execute("VACUUM ANALYZE")
    for phase, reason in ((Phase.BETTING, VoidReason.CANCELLED), (Phase.DEALT, VoidReason.DECIDED)):
        voiding = []
        for number in (FEW, MANY):
            bet(live_table, crowd[:number])
            live_round = round_at(live_table) if phase == Phase.BETTING else advance_to(live_table, phase)
            by = agree_to_void(live_round.pk)
            with counted() as work:
                if reason is VoidReason.CANCELLED:
                    cancel(round_id=live_round.pk, by=str(by))
                else:
                    void_live_round(round_id=live_round.pk, reason=reason, by=str(by))
            voiding.append(work)
            assert VoidPart.objects.filter(void_id=live_round.pk).count() == number
        assert_linear(*voiding)
    assert not [check.rows for check in verify.run() if check.rows]
