"""Every hour is reconciled once, as soon as it is settled, and a difference is an alert."""

from uuid import uuid4

import psycopg
import pytest

from audit import hours
from audit.models import Rolled, Significant, Weight
from audit.sealing import sealer
from audit.significant import detection
from games.reports import reconciliation
from players import mail as alerts
from players.models import Mail
from tests.builders import a_player, a_round, a_table
from tests.games.test_ledger_verified import post
from tests.hours import settle
from tests.people import a_member_of_staff, events
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode

EARLIER = """
    SET session_replication_role = replica;
    UPDATE wallet_journal SET at = at - interval '3 hours';
    UPDATE games_round SET at = at - interval '3 hours';
    UPDATE games_participation SET at = at - interval '3 hours'
"""


@pytest.fixture
def rolled(cloned_db):
    """Return a function that lets everything have happened three hours ago, and sums up the hours."""

    def roll() -> None:
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
            superuser.execute(EARLIER)
        settle()
        while hours.roll_due():
            pass

    return roll


def test_without_a_difference_nothing_is_said(rolled):
    a_round(a_player(free=10_000), a_table(), Mode.FREE, player=1_000)
    rolled()
    assert Rolled.objects.filter(totals=reconciliation.HOURS).exists()
    assert events(reconciliation.DIFFERS) == events("hourly_totals.failed") == []


def test_a_difference_is_mailed_to_compliance_at_once(rolled, owner):
    member, player = a_member_of_staff("compliance"), a_player(free=10_000)
    cash, house = (
        accounts.player_account(player.pk, Mode.FREE),
        accounts.house_account(AccountKind.HOUSE, "SEK", Mode.FREE),
    )
    post(owner, "settle", uuid4(), {house: -1_000, cash: 1_000}, Mode.FREE)
    rolled()
    (event,) = events(reconciliation.DIFFERS)
    (said,) = event["data"]["differences"]
    assert said.startswith("SEK, free money, “Payouts of the house")
    assert "the ledger has" in said
    sealer.seal()
    detection.find()
    (found,) = Significant.objects.filter(event__kind=reconciliation.DIFFERS)
    assert found.weight == Weight.ALERT
    alerts.mail_alerts()
    (mail,) = Mail.objects.filter(user=member.user, template="significant")
    assert "Ledger differs from rounds and payments" in mail.body
