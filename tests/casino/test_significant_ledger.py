"""Errors and negative balances of GLI-19 v3.0, 2.8.8, caused behind the ledger's guards and found
by the hourly check.
"""

import pytest

from audit.models import Category, Significant, Weight
from audit.sealing import sealer
from audit.significant import detection
from tests.builders import a_player
from tests.wallet.money_moves import a_round
from wallet import tasks

STAKE = "(SELECT min(id) FROM wallet_journal WHERE kind = 'stake')"
CASH = "(SELECT min(id) FROM wallet_account WHERE owner_id IS NOT NULL AND mode = 'R')"


@pytest.fixture
def checked(cloned_db, owner):
    """Return a function that damages a ledger without guards, checks it, and returns the
    findings.
    """
    a_round(a_player(real=10_000), staked=100, paid=0)

    def damage(action: str) -> list[Significant]:
        tasks.verify_ledger()
        with owner.transaction():
            for table in ("wallet_entry", "wallet_account"):
                owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            owner.execute(action)
            for table in ("wallet_entry", "wallet_account"):
                owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        tasks.verify_ledger()
        sealer.seal()
        detection.find()
        return list(Significant.objects.filter(on="ledger").order_by("pk"))

    return damage


def test_gli19_2_8_8_errors_of_the_ledger(checked):
    (one,) = checked(f"UPDATE wallet_entry SET amount = 7 WHERE journal_id = {STAKE} AND line = 2")
    assert (one.category, one.weight) == (Category.ERROR, Weight.ALERT)
    assert one.event
    assert one.event.kind == "ledger.broken"
    (row,) = [row for row in one.rows if row["Failed check"] == "journals_sum_to_zero"]
    assert "SEK R sums to" in row["Row"]


def test_gli19_2_8_8_negative_balances(checked):
    (one,) = checked(
        "ALTER TABLE wallet_account DROP CONSTRAINT wallet_account_covered;"
        f" UPDATE wallet_account SET balance = -1 WHERE id = {CASH}"
    )
    assert (one.category, one.weight) == (Category.NEGATIVE, Weight.ALERT)
    assert one.title == "Balance below the held amount"
    (row,) = [row for row in one.rows if row["Failed check"] == "nothing_is_negative"]
    assert row["Row"].endswith("balance -1, held 0")
