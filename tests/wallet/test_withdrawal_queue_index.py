"""The indexes of the queues of withdrawals and of deposits in doubt."""

from typing import Any

import psycopg
import pytest
from django.db import connection

from backoffice.money.deposits import Doubt, Exceptions
from backoffice.money.withdrawals import NEWEST_FIRST, OLDEST_FIRST, WAITING
from tests.harness.databases import Database
from tests.staff_lists import asked_for


@pytest.mark.sweep
@pytest.mark.parametrize("statement", [OLDEST_FIRST, NEWEST_FIRST])
def test_each_state_and_currency_is_one_range_of_one_index(
    cloned_db: Database, owner: psycopg.Connection, statement: str
):
    """For an empty table PostgreSQL might use the index of states alone."""
    owner.execute("DROP INDEX wallet_withdrawal_status")
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")  # for any size
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


INDEXES = {
    Doubt.OPEN: "wallet_payment_open",
    Doubt.AMOUNT: "wallet_payment_error",
    Doubt.HELD: "wallet_payment_to_return",
    Doubt.CONTRADICTED: "wallet_payment_notice_doubt",
}


@pytest.mark.sweep
@pytest.mark.parametrize("doubt", INDEXES)
def test_each_doubt_is_read_from_the_index_that_has_only_its_deposits(
    cloned_db: Database, owner: psycopg.Connection, doubt: Doubt
):
    """For an empty table PostgreSQL might use the index of all deposits."""
    owner.execute("DROP INDEX wallet_payment_begun, wallet_payment_state")
    listing = asked_for(Exceptions, doubt=str(doubt))
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    assert INDEXES[doubt] in listing.found().order_by(*listing.order.fields)[:3].explain()
