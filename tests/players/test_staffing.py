"""Staff accounts: created, changed, disabled and enabled by two people, or first by the owner of
the database.
"""

from functools import partial
from io import StringIO

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit import approvals
from audit.models import Decision
from players import staff
from players.account.registration import EmailTaken
from players.api import tokens
from players.login import second_factor
from players.models import Mail, Scope, Session, Staff, StaffAction, StaffChange, User
from players.protection.eligibility import STILL_ON_DUTY, asked_of_staff
from tests.people import (
    PASSWORD,
    a_member_of_staff,
    a_visitor,
    events,
    give_code,
    last_mail,
    log_in,
    mailed_code,
)
from tests.players.test_passkeys import ADD, AGAIN, Key, challenge_to_add, challenge_to_log_in, send
from tests.wallet.test_at_once import at_once

ADDRESS = "nina@example.com"
NEW_PASSWORD = "shuffled-and-cut-9"


def asker():
    """Return an administrator, in a house where another person decides."""
    decider()
    return a_member_of_staff("administrator")


def decider():
    return a_member_of_staff("compliance")


def decide(asked, by=None, *, yes=True):
    by = by or decider()
    return approvals.decide(
        approval_id=asked.pk, yes=yes, by=str(by), person=by.person, reason="looked into it", may=by.user.has_perm
    )


def ask_to_make(by, *, email=ADDRESS, roles=("support",), same_as=None):
    return staff.ask_to_make(email=email, name="Nina", roles=roles, same_as=same_as, reason="a new colleague", by=by)


def ask(action, member, by=None):
    return staff.ask(action=action, member=member, reason="for a test", by=by or asker())


@pytest.mark.django_db
class TestMaking:
    def test_takes_two_people_and_is_on_record_with_both(self):
        one, other = asker(), decider()
        asked = ask_to_make(one, email=" Nina@Example.com ")
        assert not User.objects.filter(email=ADDRESS).exists()
        decide(asked, other)
        member = Staff.objects.get(user__email=ADDRESS)
        assert (member.name, staff.roles_of(member), member.user.is_active) == ("Nina", ["support"], True)
        (event,) = events("staff.employed", on=str(member))
        assert (event["by"], event["data"]["asked_by"], event["data"]["approval"]) == (str(other), str(one), asked.pk)
        assert set(event["personal"]) == {"email", "name"}
        change = StaffChange.objects.get(user=member.user)
        assert (change.approval, change.kind, change.after["roles"]) == (asked, StaffAction.MAKE, ["support"])

    def test_no_administrator_knows_the_first_password(self):
        decide(ask_to_make(asker()))
        user = User.objects.get(email=ADDRESS)
        assert not user.has_usable_password()
        shown = last_mail(ADDRESS, "staff_account").body
        approval = StaffChange.objects.get(user=user).approval
        assert approval
        asked_by, decided_by = (f"Someone ({who})" for who in (approval.by, approval.decision.by))
        assert f"Requested by {asked_by}, approved by {decided_by}" in shown
        assert f"at http://{settings.HOUSE_HOST}/staff/\n" in shown
        assert "Forgotten password" in shown
        visitor = a_visitor()
        visitor.post("/en/account/password/forgotten/", {"email": ADDRESS})
        visitor.post("/en/account/password/forgotten/code/", {"code": mailed_code(ADDRESS, "reset_password")})
        both = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
        visitor.post("/en/account/password/forgotten/new/", both)
        visitor = a_visitor()
        log_in(visitor, user, NEW_PASSWORD)
        assert visitor.get("/staff/")["Location"] == "/en/account/security/"

    def test_no_address_is_in_an_event(self):
        asked = ask_to_make(asker())
        assert ADDRESS not in asked.on
        (event,) = events("approval.asked", on=f"approval:{asked.pk}")
        assert ADDRESS not in str(event)

    def test_two_accounts_of_one_human_are_one_person(self):
        first = a_member_of_staff("finance")
        asked = ask_to_make(asker(), roles=["operator"], same_as=first)
        facts = dict(approvals.kind(asked.kind).describe(approvals.thaw(asked)).facts)
        assert first.user.email in facts["Other accounts"]
        decide(asked)
        assert Staff.objects.get(user__email=ADDRESS).person == first.person

    def test_nobody_asks_for_or_decides_about_another_account_of_their_own(self):
        one, other = asker(), decider()
        with pytest.raises(staff.OwnAccount):
            ask_to_make(one, same_as=one)
        asked = ask_to_make(one, same_as=other)
        with pytest.raises(approvals.CannotExecute, match="your own account"):
            decide(asked, other)
        assert not User.objects.filter(email=ADDRESS).exists()

    def test_an_address_has_one_account(self):
        asked = ask_to_make(asker())
        with pytest.raises(approvals.AskedTwice):
            ask_to_make(asker())
        User.objects.create_user(ADDRESS)
        with pytest.raises(approvals.CannotExecute, match="already"):
            decide(asked)
        with pytest.raises(EmailTaken):
            ask_to_make(asker())

    @pytest.mark.parametrize("roles", [[], ["owner"], ["support", "owner"]])
    def test_there_is_no_account_without_roles_or_with_others_than_there_are(self, roles):
        with pytest.raises(staff.UnknownRole):
            ask_to_make(asker(), roles=roles)


@pytest.mark.django_db
class TestRoles:
    def test_hold_at_once_and_their_history_says_what_was_before(self):
        member = a_member_of_staff("support", "operator")
        decide(staff.ask_for_roles(member=member, roles=["finance", "support"], reason="another desk", by=asker()))
        assert staff.roles_of(member) == ["finance", "support"]
        change = StaffChange.objects.get(user=member.user, kind=StaffAction.ROLES)
        assert (change.before["roles"], change.after["roles"]) == (["operator", "support"], ["finance", "support"])
        assert events("staff.roles_changed", on=str(member))[0]["data"]["after"]["roles"] == ["finance", "support"]
        assert "finance, support" in last_mail(member.user.email, "staff_account").body

    def test_nobody_changes_their_own(self):
        one, other = asker(), decider()
        twin = a_member_of_staff("support", person=one.person)
        for account in (one, twin):
            with pytest.raises(staff.OwnAccount):
                staff.ask_for_roles(member=account, roles=["finance"], reason="more money", by=one)
        a_member_of_staff("administrator")
        asked = staff.ask_for_roles(member=other, roles=["finance"], reason="another desk", by=one)
        for yes in (True, False):
            with pytest.raises(approvals.CannotExecute, match="your own account"):
                decide(asked, other, yes=yes)
        assert not Decision.objects.filter(pk=asked.pk).exists()

    def test_that_the_account_has_are_nothing_to_ask_for(self):
        with pytest.raises(staff.NothingToDo):
            staff.ask_for_roles(member=a_member_of_staff("support"), roles=["support"], reason="why", by=asker())


@pytest.mark.django_db
class TestDisabling:
    def test_gli19_2_8_9_ends_sessions_at_once_and_keeps_when(self):
        member = a_member_of_staff("support", password=PASSWORD)
        visitor = a_visitor()
        log_in(visitor, member.user)
        give_code(visitor, member.user)
        assert visitor.get("/staff/").status_code == 200
        decide(ask(StaffAction.DISABLE, member))
        assert visitor.get("/staff/").status_code == 302
        session = Session.objects.get(user=member.user)
        assert session.ended_at
        change = StaffChange.objects.get(user=member.user, kind=StaffAction.DISABLE)
        assert (change.before["active"], change.after["active"]) == (True, False)
        shut = log_in(a_visitor(), member.user)
        assert shut.status_code == 403
        assert "ask an administrator" in shut.text
        assert events("staff.disabled", on=str(member))
        with pytest.raises(staff.NothingToDo):
            ask(StaffAction.DISABLE, member)

    @pytest.mark.sweep
    def test_also_works_for_staff_without_a_second_factor(self):
        member = a_member_of_staff("support", factor=False)
        decide(ask(StaffAction.DISABLE, member))
        assert not User.objects.get(pk=member.user_id).is_active

    def test_is_undone_by_two_people(self):
        member = a_member_of_staff("support", password=PASSWORD)
        decide(ask(StaffAction.DISABLE, member))
        decide(ask(StaffAction.ENABLE, member))
        visitor = a_visitor()
        log_in(visitor, member.user)
        give_code(visitor, member.user)
        assert visitor.get("/staff/").status_code == 200

    @pytest.mark.sweep
    def test_leaves_what_the_member_asked_for_to_others(self):
        one, another = asker(), asker()
        pending = ask(StaffAction.FACTORS, a_member_of_staff("support"), by=one)
        decide(ask(StaffAction.DISABLE, one, by=another))
        assert approvals.waiting().filter(pk=pending.pk).exists()
        with pytest.raises(approvals.CannotExecute, match="no longer has the permission"):
            decide(pending)
        assert decide(pending, yes=False)

    def test_needs_somebody_other_than_the_two_deciders_or_the_command_line(self):
        one, other = a_member_of_staff("administrator"), decider()
        with pytest.raises(staff.NobodyDecides, match="make_staff"):
            ask(StaffAction.DISABLE, other, by=one)
        a_member_of_staff("compliance", person=one.person)
        with pytest.raises(staff.NobodyDecides):
            ask(StaffAction.DISABLE, other, by=one)
        decider()
        assert ask(StaffAction.DISABLE, other, by=one)


@pytest.mark.django_db
class TestResetting:
    @pytest.mark.sweep
    def test_second_factors_lets_the_member_set_up_another_one_and_nothing_before(self):
        member = a_member_of_staff("support", password=PASSWORD)
        decide(ask(StaffAction.FACTORS, member))
        assert not second_factor.is_set_up(User.objects.get(pk=member.user_id))
        visitor = a_visitor()
        log_in(visitor, member.user)
        assert visitor.get("/staff/")["Location"] == "/en/account/security/"
        assert events("staff.factors_reset", on=str(member))
        assert "set up a new one" in last_mail(member.user.email, "staff_account").body
        with pytest.raises(staff.NothingToDo):
            ask(StaffAction.FACTORS, member)


def on_duty(session):
    """Return the sessions whose streams of the floor may stay open, of this one."""
    with connection.cursor() as cursor:
        cursor.execute(STILL_ON_DUTY, asked_of_staff([session.pk], ["players.ask_staff"]))
        return [found for (found,) in cursor.fetchall()]


def with_key(key):
    return Client(headers={"Authorization": f"Bearer {key}"}).get("/api/v1/events/").status_code


def suspend(member, by=None):
    return staff.suspend(member=member, reason="a lost laptop", by=by or asker())


@pytest.mark.django_db
class TestSuspending:
    def test_shuts_every_door_at_once(self):
        """Open pages and fragments, log-in by password, second factor and passkey, a new password, API tokens,
        streams, earlier requests and decisions.
        """
        member, other = a_member_of_staff("compliance", "administrator", password=PASSWORD), decider()
        by = asker()
        inside, midway, keyed = a_visitor(), a_visitor(), a_visitor()
        log_in(inside, member.user)
        give_code(inside, member.user)
        inside.post(AGAIN, {"password": PASSWORD})
        passkey = Key()
        assert send(inside, ADD, passkey.made(challenge_to_add(inside))) == 302
        log_in(midway, member.user)
        key = tokens.make(user=member.user, name="reports", scopes=[Scope.EVENTS], days=1)[1]
        pending = ask(StaffAction.FACTORS, a_member_of_staff("support"), by=member)
        waiting = ask(StaffAction.FACTORS, a_member_of_staff("support"), by=by)
        session = Session.objects.filter(user=member.user, ended_at=None).latest("began_at")
        assert (inside.get("/staff/").status_code, on_duty(session), with_key(key)) == (200, [session.pk], 200)

        asked = suspend(member, by)
        session.refresh_from_db()
        assert session.ended_at
        assert (on_duty(session), with_key(key)) == ([], 401)
        for address in ("/staff/", "/staff/people/", "/staff/lists/", "/en/account/security/"):
            assert inside.get(address).status_code == 302
        assert inside.post(f"/staff/approvals/{waiting.pk}/decide/", {"yes": "1", "reason": "x"}).status_code == 302
        assert log_in(a_visitor(), member.user).status_code == 403
        give_code(midway, member.user)
        signed = passkey.signed(challenge_to_log_in(keyed), member.user)
        send(keyed, reverse("mfa_login_webauthn"), signed)
        reset = a_visitor()
        reset.post("/en/account/password/forgotten/", {"email": member.user.email})
        assert not Mail.objects.filter(address=member.user.email, template="reset_password").exists()
        for visitor in (inside, midway, keyed, reset):
            assert visitor.get("/staff/").status_code == 302
        assert not Session.objects.filter(user=member.user, ended_at=None).exists()
        with pytest.raises(approvals.CannotExecute, match="no longer has the permission"):
            decide(pending, other)
        gone = User.objects.get(pk=member.user_id).staff
        for mine in (waiting, asked):
            with pytest.raises(approvals.ApprovalError):
                decide(mine, gone)
        with pytest.raises(staff.StaffingError, match="no longer has the permission"):
            suspend(a_member_of_staff("support"), gone)

    def test_is_in_the_log_and_mailed_to_the_member_and_to_all_who_manage_accounts(self):
        member, by, other = a_member_of_staff("support"), asker(), decider()
        asked = suspend(member, by)
        (event,) = events("staff.suspended", on=str(member))
        assert (event["by"], event["data"]["reason"], event["data"]["approval"]) == (str(by), "a lost laptop", asked.pk)
        assert event["data"]["after"]["active"] is False
        assert "suspended" in last_mail(member.user.email, "staff_account").subject
        shown = last_mail(other.user.email, "staff_suspended")
        assert f"/staff/approvals/{asked.pk}/" in shown.body
        assert "a lost laptop" in shown.body
        assert not Mail.objects.filter(address=by.user.email, template="staff_suspended").exists()

    def test_lasts_once_confirmed_until_two_people_enable_the_account(self):
        member, by = a_member_of_staff("support", password=PASSWORD), asker()
        decide(suspend(member, by))
        assert events("staff.suspension_confirmed", on=str(member))
        assert staff.suspension_of(member) is None
        decide(ask(StaffAction.ENABLE, member, by=by))
        visitor = a_visitor()
        log_in(visitor, member.user)
        give_code(visitor, member.user)
        assert visitor.get("/staff/").status_code == 200

    def test_ends_where_another_refuses_it_and_is_not_repeated(self):
        member, by, other = a_member_of_staff("support", password=PASSWORD), asker(), decider()
        decide(suspend(member, by), other, yes=False)
        assert log_in(a_visitor(), member.user).status_code == 302
        (event,) = events("staff.suspension_refused", on=str(member))
        assert (event["by"], event["data"]["after"]["active"]) == (str(other), True)
        assert "refused by" in last_mail(member.user.email, "staff_account").body
        with pytest.raises(staff.StaffingError, match="in the last 30 days"):
            suspend(member, by)
        assert suspend(member, asker())

    def test_is_never_of_oneself_nor_of_the_last_who_decides(self):
        one, other = a_member_of_staff("administrator"), decider()
        twin = a_member_of_staff("support", person=one.person)
        for account in (one, twin):
            with pytest.raises(staff.OwnAccount):
                suspend(account, one)
        with pytest.raises(staff.NobodyDecides):
            suspend(other, one)
        assert not StaffChange.objects.filter(kind=StaffAction.SUSPEND).exists()

    def test_cannot_be_withdrawn(self):
        member, by = a_member_of_staff("support"), asker()
        asked = suspend(member, by)
        with pytest.raises(approvals.CannotWithdraw):
            approvals.withdraw(approval_id=asked.pk, by=str(by), person=by.person, reason="sorry")
        assert not User.objects.get(pk=member.user_id).is_active


def test_a_suspension_that_nobody_confirms_in_time_is_reported_and_stays(cloned_db):
    member, by, other = a_member_of_staff("support"), asker(), decider()
    asked = suspend(member, by)
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("UPDATE audit_approval SET at = at - interval '9 days', expires_at = clock_timestamp()")
    approvals.expire()
    assert not User.objects.get(pk=member.user_id).is_active
    assert events("staff.suspension_unconfirmed", on=str(member))[0]["data"]["asked_by"] == str(by)
    shown = last_mail(other.user.email, "staff_suspension_unconfirmed")
    assert "still suspended" in shown.body
    assert staff.suspension_of(member) == asked
    decide(ask(StaffAction.ENABLE, member, by=by), other)
    assert User.objects.get(pk=member.user_id).is_active


def test_two_who_suspend_each_other_do_not_both_succeed(cloned_db):
    one, other, _third = asker(), asker(), decider()

    def press(member, by):
        try:
            suspend(member, by)
        except staff.StaffingError as error:
            return str(error)
        return ""

    answers = at_once([partial(press, one, other), partial(press, other, one)])
    assert sorted(map(bool, answers)) == [False, True]
    assert User.objects.filter(staff__in=[one, other], is_active=True).count() == 1


def test_two_of_the_last_are_not_disabled_at_once(cloned_db):
    one, other, third = asker(), asker(), decider()
    pending = [ask(StaffAction.DISABLE, other, by=one), ask(StaffAction.DISABLE, one, by=other)]

    def agree(asked):
        try:
            decide(asked, third)
        except approvals.CannotExecute as error:
            return str(error)
        return ""

    answers = at_once([partial(agree, asked) for asked in pending])
    assert sorted(bool(answer) for answer in answers) == [False, True]
    assert User.objects.filter(staff__in=[one, other], is_active=True).count() == 1


def make_staff(*words):
    out = StringIO()
    call_command("make_staff", *words, stdout=out)
    return out.getvalue()


class TestTheFirstOnes:
    @pytest.mark.sweep
    def test_are_made_on_the_command_line_and_open_the_house(self, cloned_db):
        assert "Forgotten password" in make_staff("ada@example.com", "Ada", "--role", "administrator")
        make_staff("carl@example.com", "Carl", "--role", "compliance", "--role", "administrator")
        ada, carl = Staff.objects.order_by("pk")
        assert not ada.user.has_usable_password()
        assert ada.person != carl.person
        assert {event["by"] for event in events("staff.employed")} == {"system"}
        assert set(StaffChange.objects.values_list("approval", flat=True)) == {None}
        decide(ask_to_make(ada), carl)
        assert Staff.objects.count() == 3

    @pytest.mark.sweep
    def test_may_have_two_accounts_as_one_person(self, cloned_db):
        make_staff("ada@example.com", "Ada", "--role", "administrator")
        make_staff("ada.two@example.com", "Ada", "--role", "support", "--same-person-as", "Ada@example.com")
        assert len(set(Staff.objects.values_list("person", flat=True))) == 1
        for words, message in {
            ("ada@example.com", "Ada", "--role", "support"): "already",
            ("new@example.com", "New", "--role", "owner"): "Unknown role: owner",
            ("nobody", "New", "--role", "support"): "not a valid e-mail address",
            ("new@example.com", "New", "--role", "support", "--same-person-as", "x@example.com"): "No staff account",
        }.items():
            with pytest.raises(CommandError, match=message):
                make_staff(*words)
        assert Staff.objects.count() == 2
