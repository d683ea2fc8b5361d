"""Each count of open tasks equals its page's list, and the net money equals the report's."""

import re
from urllib.parse import parse_qsl
from uuid import uuid4

import pytest

from backoffice.dashboard import figures
from backoffice.dashboard import queues as waiting
from players.models import Topic
from players.support import conversations
from tests import reports_history
from tests.casino.test_dashboard import around_now, page, totals
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from tests.scene import Scene
from tests.wallet.statement_builders import confirmed, named
from wallet import reports
from wallet.provider_statements import drafts

pytestmark = pytest.mark.django_db

# By page of a count: the markup of each of its rows.
ROWS = {
    "staff_incidents": r'href="/staff/incidents/(\d+)/"',
    "staff_floor": r'<li class="floor-row[^>]* id="([\w-]+)"[^>]* data-state="stopped"',
    "staff_significant": r'href="/staff/significant/(\d+)/"',
    "staff_approvals": r'id="reason-(\d+)"',
    "staff_withdrawals": r'href="/staff/withdrawals/(\d+)/"',
    "staff_statements": r'<a class="link" href="/staff/statements/(\d+)/">',
    "staff_service": r'href="/staff/service/(\d+)/"',
    "staff_cases": r'href="/staff/cases/(\d+)/"',
    "staff_chat": r'<article class="panel" id="message-(\d+)"',
    "staff_play_reports": r'id="note-(\d+)"',
}
WAITING = {
    "operator": {"staff_incidents", "staff_floor", "staff_service"},
    "supervisor": {"staff_incidents", "staff_floor", "staff_approvals", "staff_withdrawals", "staff_chat"},
    "finance": {"staff_withdrawals", "staff_statements"},
    "support": {"staff_service", "staff_cases", "staff_chat"},
    "compliance": {"staff_incidents", "staff_floor", "staff_service", "staff_play_reports", "staff_statements"},
}


@pytest.fixture
def something_waits(db):
    """An open task on every page that a count links to."""
    scene = Scene()
    conversations.begin(player=scene.impatient, topic=Topic.QUESTION, text="When?")
    for made in ("voided_incident", "live_stopped", "withdrawer", "overdue_id", "live_talk", "chemin_reporter"):
        getattr(scene, made)
    for _ in range(2):
        confirmed([named(uuid4())])
    settled = confirmed([named(uuid4())]).differences.get()
    drafts.note(settled.pk, text="They mend it.", settles=True, by="staff:1")


@pytest.mark.parametrize("role", sample(WAITING, 1))
def test_each_is_as_many_as_its_page_lists(something_waits, role):
    member, reader = a_member_of_staff(role), a_visitor()
    reader.force_login(member.user)
    counted, listed, pages = {}, {}, set()
    for count in waiting.counts(member):
        if count.page in ROWS:
            path, _sign, query = count.address.partition("?")
            shown = page(reader, path, **dict(parse_qsl(query)))
            counted[count.name] = count.count
            listed[count.name] = len(set(re.findall(ROWS[count.page], shown)))
            pages |= {count.page} if count.count else set()
    assert listed == counted
    assert pages >= WAITING[role]


@pytest.mark.sweep
def test_deposits_less_withdrawals_are_those_of_the_report_of_the_same_interval():
    reports_history.make()
    span = around_now()
    sums = figures.Figures.read([span.interval.since, span.interval.until]).whole
    reported = {(row["currency"], row["kind"], row["status"]): row["amount"] for row in totals(reports.PAYMENTS, span)}
    for currency, of_it in sums.items():
        paid_in, paid_out = (reported.get((currency, *which), 0) for which in (DEPOSIT, WITHDRAWAL))
        assert of_it.net == paid_in - paid_out
    assert {currency for currency, kind, status in reported if (kind, status) in (DEPOSIT, WITHDRAWAL)} <= set(sums)


DEPOSIT, WITHDRAWAL = ("deposit", "credited"), ("withdrawal", "paid")
