"""Errors and negative balances of GLI-19 v3.0, 2.8.8, caused behind the ledger's guards and found
by the hourly check.
"""

import pytest

from audit import tasks
from audit.models import Category, Significant, Weight
from audit.sealing import sealer
from audit.significant import detection
from casino.celery import app
from ops.beat import QUESTIONS
from players import mail as alerts
from players.models import Mail
from tests.builders import a_player, a_round, a_table
from tests.people import a_member_of_staff
from wallet.invariants import verify

STAKE = "(SELECT min(id) FROM wallet_journal WHERE kind = 'stake')"
CASH = "(SELECT min(id) FROM wallet_account WHERE owner_id IS NOT NULL AND mode = 'R')"


@pytest.fixture
def checked(cloned_db, owner):
    """Return a function that damages a ledger without guards, checks it, and returns the
    findings.
    """
    a_round(a_player(real=10_000), a_table(), player=1_000)

    def damage(action: str) -> list[Significant]:
        verify.run(is_whole=False)
        with owner.transaction():
            for table in ("wallet_entry", "wallet_account"):
                owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            owner.execute(action)
            for table in ("wallet_entry", "wallet_account"):
                owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        verify.run(is_whole=False)
        sealer.seal()
        detection.find()
        return list(Significant.objects.filter(on="ledger").order_by("pk"))

    return damage


def test_gli19_2_8_8_errors_of_the_ledger(checked):
    (one, *_later) = checked(f"UPDATE wallet_entry SET amount = 7 WHERE journal_id = {STAKE} AND line = 2")
    assert (one.category, one.weight) == (Category.ERROR, Weight.ALERT)
    assert one.event
    assert one.event.kind == "ledger.broken"
    (row,) = [row for row in one.rows if row["Failed check"] == "journals_sum_to_zero"]
    assert "SEK R sums to" in row["Row"]


def test_gli19_2_8_8_negative_balances(checked):
    *_others, one = checked(
        "ALTER TABLE wallet_account DROP CONSTRAINT wallet_account_covered;"
        f" UPDATE wallet_account SET balance = -1 WHERE id = {CASH}"
    )
    assert (one.category, one.weight) == (Category.NEGATIVE, Weight.ALERT)
    assert one.title == "Balance below the held amount"
    (row,) = [row for row in one.rows if row["Failed check"] == "nothing_is_negative"]
    assert row["Row"].endswith("balance -1, held 0")


@pytest.mark.parametrize("task", [tasks.verify_new, tasks.verify_house])
def test_compliance_is_mailed_at_once(cloned_db, owner, task):
    """Every task that this takes is sent by beat after some seconds."""
    member = a_member_of_staff("compliance")
    player = a_player(real=10_000)
    owner.execute("ALTER TABLE wallet_account DISABLE TRIGGER USER")
    owner.execute("UPDATE wallet_account SET balance = 5 WHERE owner_id = %s AND mode = 'R'", [player.pk])
    owner.execute("ALTER TABLE wallet_account ENABLE TRIGGER USER")
    task()
    sealer.seal()
    detection.find()
    assert alerts.mail_alerts() >= 1
    (mail,) = Mail.objects.filter(user=member.user, template="significant")
    assert "Ledger inconsistent" in mail.body


def test_beat_sends_both_verifications():
    scheduled = {each["task"]: each["schedule"] for each in app.conf.beat_schedule.values()}
    assert len(scheduled[tasks.verify_new.name].minute) == 60
    assert len(scheduled[tasks.verify_house.name].hour) == 1
    assert not {tasks.verify_new.name, tasks.verify_house.name} & QUESTIONS.keys()
