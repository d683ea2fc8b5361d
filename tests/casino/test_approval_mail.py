"""Staff get one mail every few minutes about requests to decide, and about the result of their
own.
"""

from datetime import timedelta
from threading import Barrier

import psycopg
import pytest

from audit import approvals
from audit.tasks import expire_approvals
from players import mail as alerts
from players.models import ApprovalNotification, Mail
from players.tasks import mail_approvals
from tests.builders import a_player
from tests.people import a_member_of_staff
from tests.wallet import adjusting
from tests.wallet.test_at_once import at_once


@pytest.fixture
def at_once_due(monkeypatch):
    """Mails are sent without a delay for collecting."""
    monkeypatch.setattr(alerts, "GATHERED_FOR", timedelta(0))


def ask(by=None):
    return adjusting.ask(a_player(real=10_000), by=by)


def mailed(template):
    return {mail.address: mail for mail in Mail.objects.filter(template=template)}


def withdraw(asked, by):
    approvals.withdraw(approval_id=asked.pk, by=str(by), person=by.person, reason="a slip of mine")


@pytest.mark.django_db
class TestWhoDecides:
    def test_is_mailed_once_and_no_one_else(self, at_once_due):
        asker, finance, other = a_member_of_staff("support"), a_member_of_staff("finance"), a_member_of_staff("finance")
        a_member_of_staff("finance", person=asker.person)
        a_member_of_staff("operator")
        asked = ask(asker)
        mail_approvals()
        mail_approvals()
        assert Mail.objects.filter(template="approvals_waiting").count() == 2
        shown = mailed("approvals_waiting")
        assert set(shown) == {finance.user.email, other.user.email}
        assert shown[finance.user.email].language == "en"
        assert f"{asked.expires_at:%Y-%m-%d %H:%M} UTC" in shown[finance.user.email].body

    def test_reads_of_what_kind_and_how_many_and_of_nobody(self, at_once_due):
        finance = a_member_of_staff("finance")
        asked = [ask(), ask()]
        mail_approvals()
        mail = mailed("approvals_waiting")[finance.user.email]
        assert mail.subject == "2 requests to approve or refuse"
        assert "- balance adjustment, 2 times" in mail.body
        for each in asked:
            assert each.on not in mail.subject + mail.body
            assert each.by not in mail.body
            assert each.reason not in mail.body

    def test_is_not_mailed_what_ended_in_the_meantime(self, at_once_due):
        finance, asker = a_member_of_staff("finance"), a_member_of_staff("support")
        adjusting.decide(ask(), by=finance)
        withdraw(ask(asker), asker)
        mail_approvals()
        assert not mailed("approvals_waiting")

    def test_is_mailed_all_of_them_after_some_minutes(self):
        a_member_of_staff("finance")
        ask()
        assert alerts.mail_due() == 0
        assert not mailed("approvals_waiting")
        assert ApprovalNotification.objects.count() == 1


@pytest.mark.django_db
class TestWhoAsked:
    def test_is_mailed_the_result(self, at_once_due):
        asker = a_member_of_staff("support")
        approved, refused = ask(asker), ask(asker)
        adjusting.decide(approved)
        adjusting.decide(refused, yes=False)
        mail_approvals()
        mail = mailed("approvals_ended")[asker.user.email]
        assert mail.subject == "2 requests decided or expired"
        assert f"- Request {approved.pk}, balance adjustment: approved" in mail.body
        assert f"- Request {refused.pk}, balance adjustment: refused" in mail.body
        assert "looked" not in mail.body

    def test_is_not_mailed_what_they_withdrew(self, at_once_due):
        asker = a_member_of_staff("support")
        withdraw(ask(asker), asker)
        mail_approvals()
        assert not Mail.objects.filter(template__startswith="approvals_").exists()
        assert not ApprovalNotification.objects.exists()


def test_an_expired_request_is_mailed_too(cloned_db, at_once_due):
    asker = a_member_of_staff("support")
    asked = ask(asker)
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("UPDATE audit_approval SET at = at - interval '9 days', expires_at = clock_timestamp()")
    expire_approvals()
    mail_approvals()
    body = mailed("approvals_ended")[asker.user.email].body
    assert f"- Request {asked.pk}, balance adjustment: expired" in body


def test_two_workers_mail_it_once(cloned_db, at_once_due):
    a_member_of_staff("finance")
    ask()
    ready = Barrier(2)

    def one():
        ready.wait(timeout=30)
        return alerts.mail_due()

    assert sorted(at_once([one, one])) == [0, 1]
    assert Mail.objects.filter(template="approvals_waiting").count() == 1
