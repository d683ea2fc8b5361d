"""The index of the queue of withdrawals."""

from typing import Any

import psycopg
import pytest
from django.db import connection

from backoffice.money.withdrawals import NEWEST_FIRST, OLDEST_FIRST, WAITING
from tests.harness.databases import Database


@pytest.mark.sweep
@pytest.mark.parametrize("statement", [OLDEST_FIRST, NEWEST_FIRST])
def test_each_state_and_currency_is_one_range_of_one_index(
    cloned_db: Database, owner: psycopg.Connection, statement: str
):
    """For an empty table PostgreSQL might use the index of states alone."""
    owner.execute("DROP INDEX wallet_withdrawal_status")
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")  # whatever the size
        asked: dict[str, Any] = {
            "statuses": list(WAITING),
            "currencies": ["SEK"],
            "position": 1,
            "above": None,
            "since": None,
            "limit": 3,
        }
        cursor.execute(f"EXPLAIN {statement}", asked)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    inner = plan[plan.index("wallet_withdrawal_queue") :]
    assert "Index Cond" in inner
    assert "Sort" not in inner
