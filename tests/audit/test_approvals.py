"""Approvals: one person requests, another decides, and exactly the request is executed."""

import hashlib
from datetime import timedelta
from threading import Barrier
from uuid import uuid4

import psycopg
import pytest
from django.db import DatabaseError, transaction

from audit import approvals
from audit.models import Approval, Clock, Decision, Verdict
from audit.tasks import expire_approvals
from tests.people import a_member_of_staff, events
from tests.wallet.test_at_once import at_once

KIND = "test.kind"
REQUEST = {"amount": 5, "to": "åäö"}


class Done:
    """Records the calls of a kind's functions."""

    def __init__(self):
        self.executed, self.refused, self.trouble = [], [], ""

    def execute(self, request, verdict):
        if self.trouble:
            raise approvals.CannotExecute(self.trouble)
        self.executed.append(request)

    def refuse(self, request, verdict):
        self.refused.append((request, verdict.reason))


@pytest.fixture
def done(monkeypatch):
    monkeypatch.setattr(approvals, "_kinds", {})
    shown = Done()
    approvals.register(
        KIND,
        title="something",
        then="It is done.",
        execute=shown.execute,
        refuse=shown.refuse,
        permission="test.decide",
        describe=lambda request: approvals.Description("Something", ()),
    )
    return shown


def ask(staff, on="thing:1", **changes):
    return approvals.ask(
        **{"kind": KIND, "on": on, "request": REQUEST, "by": str(staff), "person": staff.person, "reason": "due"}
        | changes
    )


def decide(asked, staff, *, yes=True, may=lambda permission: True):
    return approvals.decide(
        approval_id=asked.pk, yes=yes, by=str(staff), person=staff.person, reason="looked into it", may=may
    )


def withdraw(asked, staff):
    return approvals.withdraw(approval_id=asked.pk, by=str(staff), person=staff.person, reason="a slip of mine")


def one_of_two_accounts(staff):
    """Return a second account of the same person."""
    return a_member_of_staff("finance", person=staff.person)


@pytest.mark.django_db
class TestAsking:
    def test_freezes_the_request_with_its_hash_and_records_it(self, done):
        asked = ask(a_member_of_staff())
        assert asked.request == '{"amount":5,"to":"åäö"}'
        assert bytes(asked.sha256) == hashlib.sha256(asked.request.encode()).digest()
        (event,) = events("approval.asked", on=f"approval:{asked.pk}")
        assert event["data"]["sha256"] == bytes(asked.sha256).hex()

    def test_twice_for_one_subject_is_refused_while_the_first_is_open(self, done):
        asked = ask(a_member_of_staff())
        with pytest.raises(approvals.AskedTwice, match=f"request {asked.pk}"):
            ask(a_member_of_staff())
        ask(a_member_of_staff(), on="thing:2")
        decide(asked, a_member_of_staff(), yes=False)
        ask(a_member_of_staff())

    def test_of_a_kind_nobody_registered_is_an_error(self, done):
        with pytest.raises(KeyError):
            ask(a_member_of_staff(), kind="unheard.of")


@pytest.mark.django_db
class TestDeciding:
    def test_gli19_b_3_2_executes_exactly_what_was_asked_for_and_records_it(self, done):
        asked, other = ask(a_member_of_staff()), a_member_of_staff()
        assert decide(asked, other).verdict == Verdict.APPROVED
        assert done.executed == [REQUEST]
        (event,) = events("approval.decided", by=str(other))
        assert (event["data"]["yes"], event["data"]["sha256"]) == (True, bytes(asked.sha256).hex())

    def test_against_executes_nothing(self, done):
        asked = ask(a_member_of_staff())
        assert decide(asked, a_member_of_staff(), yes=False).verdict == Verdict.REFUSED
        assert (done.executed, done.refused) == ([], [(REQUEST, "looked into it")])

    def test_happens_once(self, done):
        asked = ask(a_member_of_staff())
        decide(asked, a_member_of_staff())
        with pytest.raises(approvals.AlreadyDecided, match="already been decided"):
            decide(asked, a_member_of_staff(), yes=False)
        assert len(done.executed) == 1

    def test_takes_another_person(self, done):
        staff = a_member_of_staff()
        with pytest.raises(approvals.OwnRequest, match="Another person"):
            decide(ask(staff), staff)
        assert [event["data"]["why"] for event in events("approval.not_decided", by=str(staff))] == ["OwnRequest"]

    def test_gli19_b_3_2_takes_another_person_and_not_another_account_of_the_same(self, done):
        staff = a_member_of_staff()
        with pytest.raises(approvals.OwnRequest):
            decide(ask(staff), one_of_two_accounts(staff))

    def test_takes_the_permission_of_the_kind(self, done):
        with pytest.raises(approvals.NotAllowed, match="Your role"):
            decide(ask(a_member_of_staff()), a_member_of_staff(), may=lambda permission: permission != "test.decide")

    def test_what_cannot_be_executed_leaves_it_undecided(self, done):
        asked, done.trouble = ask(a_member_of_staff()), "The thing is gone."
        with pytest.raises(approvals.CannotExecute, match=r"The thing is gone\."):
            decide(asked, a_member_of_staff())
        assert not Decision.objects.exists()
        assert not events("approval.decided", on=f"approval:{asked.pk}")
        done.trouble = ""
        decide(asked, a_member_of_staff())

    def test_what_is_not_there_is_an_error(self, done):
        with pytest.raises(approvals.UnknownApproval):
            decide(Approval(pk=404), a_member_of_staff())


@pytest.mark.django_db
class TestWithdrawing:
    def test_does_nothing_and_is_on_record(self, done):
        staff = a_member_of_staff()
        asked = ask(staff)
        assert withdraw(asked, staff).verdict == Verdict.WITHDRAWN
        assert (done.executed, done.refused) == ([], [])
        (event,) = events("approval.withdrawn", on=f"approval:{asked.pk}")
        assert (event["by"], event["data"]) == (
            str(staff),
            {
                "kind": KIND,
                "on": "thing:1",
                "person": str(staff.person),
                "reason": "a slip of mine",
                "asked_by": str(staff),
            },
        )
        with pytest.raises(approvals.AlreadyDecided):
            decide(asked, a_member_of_staff())

    def test_is_done_under_another_account_of_the_same_person_too(self, done):
        staff = a_member_of_staff()
        twin = one_of_two_accounts(staff)
        assert withdraw(ask(staff), twin).by == str(twin)

    def test_is_nobody_elses(self, done):
        asked, other = ask(a_member_of_staff()), a_member_of_staff()
        with pytest.raises(approvals.NotYours, match="Another person made this request"):
            withdraw(asked, other)
        assert [event["data"] for event in events("approval.not_withdrawn", by=str(other))] == [{"why": "NotYours"}]
        decide(asked, other)

    def test_comes_too_late_after_a_decision(self, done):
        staff = a_member_of_staff()
        asked = ask(staff)
        decide(asked, a_member_of_staff())
        with pytest.raises(approvals.AlreadyDecided):
            withdraw(asked, staff)

    def test_of_what_is_not_there_is_an_error(self, done):
        with pytest.raises(approvals.UnknownApproval):
            withdraw(Approval(pk=404), a_member_of_staff())

    def test_lets_the_same_be_asked_for_again(self, done):
        staff = a_member_of_staff()
        withdraw(ask(staff), staff)
        ask(staff)


def let_time_pass(owner, asked):
    """Move the approval four days back, without triggers."""
    owner.execute("SET session_replication_role = replica")
    owner.execute(
        "UPDATE audit_approval SET at = at - interval '4 days', expires_at = expires_at - interval '4 days'"
        " WHERE id = %s",
        [asked.pk],
    )


class TestTime:
    def test_is_up_by_the_clock_of_the_database(self, cloned_db, superuser, done):
        asked = ask(a_member_of_staff())
        assert Approval.objects.filter(pk=asked.pk, expires_at__gt=Clock() + timedelta(days=2)).exists()
        let_time_pass(superuser, asked)
        with pytest.raises(approvals.Expired, match="expired without a decision"):
            decide(asked, a_member_of_staff())
        assert not Decision.objects.exists()

    def test_that_ran_out_is_entered_once_by_the_job(self, cloned_db, superuser, done):
        asked, open_still = ask(a_member_of_staff()), ask(a_member_of_staff(), on="thing:2")
        let_time_pass(superuser, asked)
        expire_approvals()
        expire_approvals()
        assert Decision.objects.get().approval_id == asked.pk
        assert len(events("approval.expired")) == 1
        with pytest.raises(approvals.ApprovalError):
            decide(asked, a_member_of_staff())
        decide(open_still, a_member_of_staff())

    def test_that_is_up_ends_it_for_the_asker_too(self, cloned_db, superuser, done):
        staff = a_member_of_staff()
        asked = ask(staff)
        let_time_pass(superuser, asked)
        with pytest.raises(approvals.Expired):
            withdraw(asked, staff)

    @pytest.mark.sweep
    def test_lets_the_same_be_asked_for_again(self, cloned_db, superuser, done):
        asked = ask(a_member_of_staff())
        let_time_pass(superuser, asked)
        ask(a_member_of_staff())


@pytest.fixture
def superuser(cloned_db):
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as connection:
        yield connection


class TestTheDatabase:
    def test_gli19_b_3_2_refuses_the_asker_as_decider_in_any_session(self, cloned_db, done):
        staff = a_member_of_staff()
        asked, twin = ask(staff), one_of_two_accounts(staff)
        with pytest.raises(DatabaseError, match="audit_decision_other_person"), transaction.atomic():
            enter(asked, twin, asker=staff.person)
        with pytest.raises(DatabaseError, match="audit_decision_asker"), transaction.atomic():
            enter(asked, twin, asker=uuid4())

    def test_refuses_a_person_that_is_not_behind_the_account(self, cloned_db, done):
        staff, other = a_member_of_staff(), a_member_of_staff()
        asked = ask(staff)
        with pytest.raises(DatabaseError, match="is not the person"), transaction.atomic():
            enter(asked, other, person=uuid4())
        with pytest.raises(DatabaseError, match="is not the person"), transaction.atomic():
            ask(staff, on="thing:2", person=other.person)

    @pytest.mark.parametrize("verdict", ["approved", "refused"])
    def test_refuses_every_verdict_of_the_asker_but_one(self, cloned_db, done, verdict):
        staff = a_member_of_staff()
        asked = ask(staff)
        with pytest.raises(DatabaseError, match="audit_decision_other_person"), transaction.atomic():
            enter(asked, staff, verdict=verdict)
        enter(asked, staff, verdict="withdrawn")

    def test_refuses_that_another_person_withdraws(self, cloned_db, done):
        staff, other = a_member_of_staff(), a_member_of_staff()
        asked = ask(staff)
        with pytest.raises(DatabaseError, match="audit_decision_other_person"), transaction.atomic():
            enter(asked, other, verdict="withdrawn")
        with pytest.raises(DatabaseError, match="is not the person"), transaction.atomic():
            enter(asked, other, verdict="withdrawn", person=None)
        with pytest.raises(DatabaseError, match="is not the person"), transaction.atomic():
            enter(asked, other, verdict="withdrawn", person=staff.person)

    def test_refuses_a_second_decision_and_an_early_end(self, cloned_db, done):
        asked = ask(a_member_of_staff())
        with pytest.raises(DatabaseError, match="not expired"), transaction.atomic():
            Decision.objects.create(approval=asked, verdict="expired", by="system", asker=asked.person, reason="")
        decide(asked, a_member_of_staff())
        with pytest.raises(DatabaseError, match="audit_decision_pkey"), transaction.atomic():
            enter(asked, a_member_of_staff())

    @pytest.mark.parametrize("table", ["audit_approval", "audit_decision"])
    def test_changes_nothing_even_for_the_owner(self, cloned_db, owner, done, table):
        decide(ask(a_member_of_staff()), a_member_of_staff())
        for statement in (f"UPDATE {table} SET reason = 'x'", f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):
            with pytest.raises(psycopg.Error, match="never changed"):
                owner.execute(statement)

    def test_keeps_an_account_one_persons(self, cloned_db, owner):
        a_member_of_staff()
        with pytest.raises(psycopg.Error, match="one person"):
            owner.execute("UPDATE players_staff SET person = gen_random_uuid()")


class TestTampering:
    def test_with_the_request_alone_the_database_refuses(self, cloned_db, owner, done):
        ask(a_member_of_staff())
        owner.execute("ALTER TABLE audit_approval DISABLE TRIGGER USER")
        with pytest.raises(psycopg.Error, match="audit_approval_frozen"):
            owner.execute("""UPDATE audit_approval SET request = '{"amount":500}'""")

    @pytest.mark.parametrize("also", ["", ", sha256 = sha256(convert_to('{\"amount\":500}', 'UTF8'))"])
    def test_by_the_owner_of_the_tables_is_found_before_anything_is_done(self, cloned_db, owner, done, also):
        asked = ask(a_member_of_staff())
        owner.execute("ALTER TABLE audit_approval DISABLE TRIGGER USER, DROP CONSTRAINT audit_approval_frozen")
        owner.execute(f"""UPDATE audit_approval SET request = '{{"amount":500}}'{also}""")
        with pytest.raises(approvals.Tampered, match="does not match the recorded one"):
            decide(asked, a_member_of_staff())
        assert (done.executed, list(Decision.objects.all())) == ([], [])
        assert len(events("approval.not_decided")) == 1


def test_two_who_decide_at_once_decide_one(cloned_db, done):
    asked, ready = ask(a_member_of_staff()), Barrier(2)

    def one(yes):
        staff = a_member_of_staff()
        ready.wait(timeout=30)
        try:
            return decide(asked, staff, yes=yes).verdict
        except approvals.AlreadyDecided:
            return "too late"

    results = at_once([lambda: one(True), lambda: one(False)])
    assert results.count("too late") == 1
    assert len(done.executed) + len(done.refused) == 1


def test_of_who_withdraws_and_who_approves_at_once_one_does(cloned_db, done):
    staff, ready = a_member_of_staff(), Barrier(2)
    asked = ask(staff)

    def one(action, by):
        ready.wait(timeout=30)
        try:
            return action(asked, by).verdict
        except approvals.AlreadyDecided:
            return "too late"

    results = at_once([lambda: one(withdraw, staff), lambda: one(decide, a_member_of_staff())])
    assert results.count("too late") == 1
    assert len(done.executed) == results.count(Verdict.APPROVED)


def enter(asked, staff, **changes):
    values = {"verdict": "approved", "asker": asked.person, "person": staff.person, "by": str(staff)} | changes
    return Decision.objects.create(approval=asked, reason="", **values)
