"""No statement of the role of web and workers creates a staff account, a role or a reset without an
approval of two other people, which counts once.
"""

from contextlib import contextmanager
from uuid import uuid4

import psycopg
import pytest
from allauth.mfa.models import Authenticator
from django.db import DatabaseError, connection, transaction

from audit import approvals
from audit.models import Decision, Verdict
from players import staff
from players.login import second_factor
from players.models import Staff, StaffAction, StaffChange, User
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff

pytestmark = pytest.mark.django_db


@contextmanager
def refused(why):
    """Check that the database refuses, with this SQLSTATE or in these words."""
    with pytest.raises(DatabaseError) as error, transaction.atomic():
        yield
    cause = error.value.__cause__
    assert isinstance(cause, psycopg.Error)
    assert cause.sqlstate == why or why in str(error.value)


def execute(approval_id, login=None):
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_staff_execute(%s, %s)", [approval_id, login])


def sent(kind, request, by, *, verdict=Verdict.APPROVED, decider=None):
    """Write a request and a decision as the login role could without our code. Both people must be staff."""
    asked = approvals.ask(
        kind=kind, on=f"thing:{uuid4()}", request=request, by=str(by), person=by.person, reason="for a test"
    )
    if decider:
        Decision.objects.create(
            approval=asked, verdict=verdict, by=str(decider), asker=asked.person, person=decider.person, reason="x"
        )
    return asked.pk


@pytest.fixture
def member():
    return a_member_of_staff("support")


@pytest.fixture
def asker():
    return a_member_of_staff("administrator")


@pytest.fixture
def decider():
    return a_member_of_staff("compliance")


def a_login(email="new@example.com", password=None):
    return User.objects.create_user(email, password, verified=True)


def making(email="new@example.com", **changes):
    return {"email": email, "name": "New", "roles": ["finance"], "person": None} | changes


def test_nothing_is_done_without_a_decision_or_after_a_refusal(asker, decider, member):
    disabling = {"staff": member.pk}
    for approval_id in (
        0,
        sent(StaffAction.DISABLE, disabling, asker),
        sent("exclusion.lift", disabling, asker, decider=decider),
    ):
        with refused("SB020"):
            execute(approval_id)
    with refused("SB020"):
        execute(sent(StaffAction.FACTORS, disabling, asker, decider=decider, verdict=Verdict.REFUSED))
    assert second_factor.is_set_up(member.user)


def suspend(approval_id):
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_staff_suspend(%s)", [approval_id])


def test_one_person_suspends_neither_themself_nor_the_last_who_decides_nor_as_nobody(asker, decider, member):
    suspending = {"staff": member.pk}
    for approval_id in (
        0,
        sent(StaffAction.DISABLE, suspending, asker),
        sent(StaffAction.SUSPEND, suspending, asker, decider=decider),
    ):
        with refused("SB020"):
            suspend(approval_id)
    for one in (decider, a_member_of_staff("support")):
        with refused("SB024"):
            suspend(sent(StaffAction.SUSPEND, suspending, one))
    twin = a_member_of_staff("support", person=asker.person)
    for account in (asker, twin):
        with refused("SB021"):
            suspend(sent(StaffAction.SUSPEND, {"staff": account.pk}, asker))
    with refused("SB025"):
        suspend(sent(StaffAction.SUSPEND, {"staff": decider.pk}, asker))
    wrong = sent(StaffAction.SUSPEND, suspending, asker, decider=decider)  # of an account that was never suspended
    with refused("SB023"):
        execute(wrong)
    approval_id = sent(StaffAction.SUSPEND, suspending, asker)
    suspend(approval_id)
    for again, why in ((approval_id, "SB020"), (sent(StaffAction.SUSPEND, suspending, asker), "SB023")):
        with refused(why):
            suspend(again)
    with refused("SB020"):
        execute(approval_id)
    assert not User.objects.get(pk=member.user_id).is_active


def test_one_person_cannot_suspend_all_who_decide_but_an_accomplice(asker, decider, member):
    """A forged request is as good as one person's. Without the rule, the one who remains confirms every suspension."""
    watchers = [a_member_of_staff("compliance") for _ in range(2)]
    first = sent(StaffAction.SUSPEND, {"staff": watchers[0].pk}, asker)
    suspend(first)
    other = a_member_of_staff("administrator")
    for by in (asker, other):
        with refused("SB027"):
            suspend(sent(StaffAction.SUSPEND, {"staff": watchers[1].pk}, by))
    suspend(sent(StaffAction.SUSPEND, {"staff": member.pk}, asker))  # who decides about nobody
    Decision.objects.create(
        approval_id=first,
        verdict=Verdict.REFUSED,
        by=str(decider),
        asker=asker.person,
        person=decider.person,
        reason="x",
    )
    execute(first)
    assert User.objects.get(pk=watchers[0].user_id).is_active
    suspend(sent(StaffAction.SUSPEND, {"staff": watchers[1].pk}, asker))


def test_an_approval_is_executed_once(asker, decider, member):
    approval_id = sent(StaffAction.DISABLE, {"staff": member.pk}, asker, decider=decider)
    execute(approval_id)
    with refused("SB020"):
        execute(approval_id)
    execute(sent(StaffAction.ENABLE, {"staff": member.pk}, asker, decider=decider))
    with refused("SB020"):
        execute(approval_id)
    assert User.objects.get(pk=member.user_id).is_active


def test_nobody_asks_for_or_decides_what_is_about_them_under_whichever_account(asker, decider):
    for subject in (asker, decider):
        twin = a_member_of_staff("support", person=subject.person)
        for account in (subject, twin):
            with refused("SB021"):
                wish = {"staff": account.pk, "roles": ["finance"], "from": staff.roles_of(account)}
                execute(sent(StaffAction.ROLES, wish, asker, decider=decider))
        with refused("SB021"):
            wish = making(person=str(subject.person))
            execute(sent(StaffAction.MAKE, wish, asker, decider=decider), a_login().pk)


def test_who_may_not_ask_or_decide_or_was_disabled_since_brings_nothing_about(asker, decider, member):
    support, other = a_member_of_staff("support"), a_member_of_staff("administrator")
    for one, two in ((support, decider), (decider, asker), (asker, support)):
        with refused("SB024"):
            execute(sent(StaffAction.DISABLE, {"staff": member.pk}, one, decider=two))
    late = sent(StaffAction.DISABLE, {"staff": member.pk}, asker, decider=decider)
    execute(sent(StaffAction.DISABLE, {"staff": asker.pk}, other, decider=decider))
    with refused("SB024"):
        execute(late)


def test_an_account_is_made_of_the_log_in_that_was_approved_alone(asker, decider, member):
    approval_id = sent(StaffAction.MAKE, making(), asker, decider=decider)
    used = a_login("used@example.com")
    for login in (None, used.pk, member.user_id, a_login("new@example.org").pk):
        with refused("SB023"):
            execute(approval_id, login)
    with refused("SB023"):
        execute(approval_id, a_login(password="known-to-somebody-1").pk)
    others: tuple[dict[str, object], ...] = ({"roles": []}, {"roles": ["owner"]}, {"person": str(uuid4())})
    for wrong in others:
        with refused("SB023"):
            execute(sent(StaffAction.MAKE, making(**wrong), asker, decider=decider), a_login().pk)
    execute(approval_id, a_login().pk)
    assert staff.roles_of(Staff.objects.get(user__email="new@example.com")) == ["finance"]


def test_roles_that_are_not_any_more_what_was_agreed_to_are_not_changed(asker, decider, member):
    for wish in ({"roles": ["finance"], "from": ["operator"]}, {"roles": ["support"], "from": ["support"]}):
        with refused("SB023"):
            execute(sent(StaffAction.ROLES, {"staff": member.pk} | wish, asker, decider=decider))


def test_no_other_way_leads_there(member):
    actions = (
        ("permission denied", lambda: User.objects.filter(pk=member.user_id).update(is_active=False)),
        ("nobody approved", Authenticator.objects.filter(user=member.user).delete),
        ("never changed", lambda: Authenticator.objects.update(user=a_login())),
        ("never changed", lambda: Authenticator.objects.update(type=Authenticator.Type.RECOVERY_CODES)),
        (
            "nobody approved",
            lambda: as_owner("UPDATE players_user SET is_active = false WHERE id = %s", [member.user_id]),
        ),
        ("players_user_no_superuser", lambda: as_owner("UPDATE players_user SET is_superuser = true")),
        ("permission denied", lambda: User.objects.filter(pk=member.user_id).update(is_superuser=True)),
        ("players_user_no_superuser", lambda: User.objects.create_user("root@example.com", None, is_superuser=True)),
        ("permission denied", StaffChange(user=member.user, kind=StaffAction.MAKE, before={}, after={}).save),
        ("permission denied", lambda: run("SELECT players_staff_found(%s, 'New', '{finance}', NULL)", a_login().pk)),
        ("permission denied", lambda: run("SELECT players_staff_give_roles(%s, '[\"finance\"]')", member.user_id)),
    )
    for words, action in actions:
        with refused(words):
            action()


def test_staff_may_give_up_a_second_factor_while_they_keep_another(member):
    second = Authenticator.objects.create(user=member.user, type=Authenticator.Type.WEBAUTHN, data={})
    Authenticator.objects.filter(user=member.user, type=Authenticator.Type.TOTP).delete()
    with refused("nobody approved"):
        second.delete()


def run(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
