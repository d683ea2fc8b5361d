"""Invalid URLs and form values on compliance pages never cause a server error."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core import mail

from audit import log
from audit.models import Category, Significant, Weight
from audit.sealing import sealer
from audit.significant import detection
from players import mail as alerts
from players.models import Mail, StaffAction
from tests.builders import a_table
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events
from tests.players.test_staffing import ask, decide

pytestmark = pytest.mark.django_db

PAST_BIGINT, LONG = 2**63, "9" * 5_000
NUMBERS = [str(PAST_BIGINT), "9" * 30, LONG, "0", "-1", "²", "١٢", "1e3", "a'; --", "%00", "<script>"]
DAYS = ["0001-01-01", "9999-12-31", "2026-02-30", "x", "²", "10000-01-01", "0000-00-00"]


def as_staff(role):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


@pytest.fixture
def compliance():
    return as_staff("compliance")


def one(key="1", **said):
    usual: dict[str, Any] = {
        "category": Category.ERROR,
        "weight": Weight.ALERT,
        "on": "ledger",
        "title": "Something",
        "happened_at": datetime(2026, 7, 8, 12, tzinfo=UTC),
    }
    detection.keep(detection.Found(key=key, **usual | said))
    return Significant.objects.get(key=key)


@pytest.mark.sweep
@pytest.mark.parametrize("number", sample([PAST_BIGINT, 10**30, 0, LONG], 1))
@pytest.mark.parametrize(
    ("address", "is_post"),
    [
        ("/staff/reports/{}/", False),
        ("/staff/reports/{}/state/", False),
        ("/staff/reports/{}/report.csv", False),
        ("/staff/reports/{}/retry/", True),
        ("/staff/significant/{}/", False),
        ("/staff/significant/{}/step/", True),
    ],
)
def test_what_is_not_there_is_not_found(compliance, address, is_post, number):
    asked = compliance.post if is_post else compliance.get
    assert asked(address.format(number), {}).status_code == 404


@pytest.mark.sweep
@pytest.mark.parametrize("page", sample(["/staff/returns/", "/staff/returns/baccarat/", "/staff/randomness/"], 1))
def test_pages_of_play_take_whatever_is_asked_of_them(page):
    a_table()
    reader = as_staff("supervisor")
    for name, values in {
        "table": NUMBERS,
        "version": NUMBERS,
        "since": DAYS,
        "until": DAYS,
        "mode": ["X", ""],
        "game": ["x", "<b>"],
        "currency": ["x"],
        "apart": ["x"],
    }.items():
        for value in values:
            assert reader.get(page, {name: value}).status_code == 200, (name, value)
    assert reader.get(page, {"since": DAYS[0], "until": DAYS[1]}).status_code == 200


@pytest.mark.sweep
def test_lists_take_whatever_is_asked_of_them(compliance):
    one()
    for name, values in {
        "before": NUMBERS,
        "about": NUMBERS,
        "since": DAYS,
        "until": DAYS,
        "state": ["x"],
        "weight": ["3", "x"],
        "category": ["x"],
        "whose": ["x"],
        "kind": ["x"],
        "page": NUMBERS,
    }.items():
        for value in values:
            for page in ("/staff/significant/", "/staff/reports/"):
                assert compliance.get(page, {name: value}).status_code == 200, (page, name, value)


@pytest.mark.parametrize("number", sample(NUMBERS, 1))
def test_a_selection_may_be_of_anything(compliance, number):
    assert compliance.post("/staff/significant/", {"action": "close", "chosen": number}).status_code == 302
    sure = {"action": "close", "chosen": number, "confirm": "yes", "reason": "x"}
    assert compliance.post("/staff/significant/", sure).status_code == 302


@pytest.mark.parametrize(
    "name", sample(["player:²", "player:" + "9" * 19, "player:" + "9" * 300, "player:0", "round:?&x=1#<b>"], 2)
)
def test_what_somebody_typed_as_a_reason_hides_nothing_from_compliance(compliance, name):
    """A reason is part of the rows of a finding, and rows that name a subject link to it."""
    log.record("table.version", by="staff:1", on=name, data={"reason": name})
    sealer.seal()
    detection.find()
    found = Significant.objects.get(on=name)
    assert compliance.get(f"/staff/significant/{found.pk}/").status_code == 200
    assert compliance.get("/staff/significant/").status_code == 200
    assert compliance.post("/staff/significant/", {"action": "close", "chosen": found.pk}).status_code == 200


@pytest.mark.sweep
@pytest.mark.parametrize(
    "single", sample(["9" * 15, "9" * 40, "-1", "0", "²", "1e9", "NaN", "<script>alert(1)</script>"], 3)
)
def test_thresholds_are_amounts(compliance, single):
    sent = {"what": "win", "currency": "SEK", "before": "2000000 10000000 7", "days": "7", "reason": "<b>"}
    answer = compliance.post("/staff/significant/thresholds/", sent | {"single": single, "summed": single})
    assert answer.status_code in (200, 302)
    assert "<script>alert(1)" not in answer.content.decode()


@pytest.mark.sweep
@pytest.mark.parametrize("days", sample(["0", "-1", "367", "9" * 30, "²"], 2))
def test_thresholds_are_of_days(compliance, days):
    sent = {
        "what": "win",
        "currency": "SEK",
        "before": "2000000 10000000 7",
        "reason": "x",
        "summed": "10",
        "single": "1",
    }
    assert compliance.post("/staff/significant/thresholds/", sent | {"days": days}).status_code == 200
    assert not events("threshold.changed")


def test_words_of_staff_are_words(compliance):
    found = one(title="<b>title</b>", because="<b>because</b>", rows=[{"<b>h</b>": "<b>value</b>"}])
    sent = {"seen": "new", "assigned": "", "step": "commented", "text": "<script>alert(1)</script>"}
    compliance.post(f"/staff/significant/{found.pk}/step/", sent)
    shown = compliance.get(f"/staff/significant/{found.pk}/").content.decode()
    assert "alert(1)" in shown
    assert "<script>alert" not in shown
    assert not [word for word in ("<b>title", "<b>because", "<b>value", "<b>h<") if word in shown]


@pytest.mark.parametrize("step", ["acknowledged", "assigned", "closed"])
def test_what_is_closed_stays_closed(compliance, step):
    found = one()
    where = f"/staff/significant/{found.pk}/step/"
    compliance.post(where, {"seen": "new", "assigned": "", "step": "closed", "text": "nothing in it"})
    me = str(a_member_of_staff("compliance"))
    for seen in ("new", "closed"):
        compliance.post(where, {"seen": seen, "assigned": "", "step": step, "text": "again", "to": me})
    found.refresh_from_db()
    assert (found.state, found.assigned_to, found.steps.count()) == ("closed", "", 1)


@pytest.mark.parametrize("whose", ["finance", "support", "disabled", "nobody"])
def test_it_is_given_to_nobody_who_does_not_work_on_it(compliance, whose):
    found = one()
    if whose == "nobody":
        to = "staff:999999"
    else:
        member = a_member_of_staff("compliance" if whose == "disabled" else whose)
        if whose == "disabled":
            decide(ask(StaffAction.DISABLE, member))
        to = str(member)
    answer = compliance.post(
        f"/staff/significant/{found.pk}/step/", {"seen": "new", "assigned": "", "step": "assigned", "to": to}
    )
    assert "Choose a person who may handle significant events." in answer.content.decode()
    found.refresh_from_db()
    assert found.assigned_to == ""


def test_mails_about_alerts_have_one_subject_of_the_house():
    a_member_of_staff("compliance")
    one(title="Alert\r\nBcc: everybody@example.com\r\n\r\nbody")
    alerts.mail_alerts()
    assert not mail.outbox
    (written,) = (each for each in Mail.objects.all() if "Alert" in each.body)
    assert not {"\n", "\r"} & set(written.subject)
    assert "Bcc" not in written.subject
