"""Staff pages: members, the history of each account, and requests for changes."""

import html

import pytest
from django.contrib.auth.models import Group

from audit import approvals
from audit.models import Approval
from players import staff
from players.models import StaffAction
from tests.people import PASSWORD, a_member_of_staff, a_visitor, give_code, log_in

pytestmark = pytest.mark.django_db

PEOPLE = "/staff/people/"


def reader(*held):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(*held or ("administrator",)).user)
    return visitor


def text(answer):
    return html.unescape(" ".join(answer.content.decode().split()))


def administrator_with_compliance():
    a_member_of_staff("compliance")
    return reader()


def decide(asked):
    other = a_member_of_staff("compliance")
    approvals.decide(approval_id=asked.pk, yes=True, by=str(other), person=other.person, reason="seen", may=bool)


def test_every_role_says_what_it_is_for():
    assert set(staff.ROLE_DESCRIPTIONS) == set(Group.objects.values_list("name", flat=True))


def test_gli19_2_8_9_an_account_shows_its_stored_data_and_since_when_it_is_disabled():
    member = a_member_of_staff("finance", "operator", password=PASSWORD, name="Farah")
    visitor = a_visitor()
    log_in(visitor, member.user)
    give_code(visitor, member.user)
    asked = staff.ask(action=StaffAction.DISABLE, member=member, reason="left the house", by=_asker_with_a_decider())
    decide(asked)
    page = text(reader().get(f"{PEOPLE}{member.pk}/"))
    for said in (
        "Farah",
        member.user.email,
        "disabled</span> since",
        "set up",
        visitor.defaults["REMOTE_ADDR"],
        "finance",
        "Withdrawals",
        "left the house",
        "account disabled",
        asked.by,
    ):
        assert said in page
    listed = text(reader("compliance").get(PEOPLE, {"state": "disabled"}))
    assert "Farah" in listed
    assert "Farah" not in text(reader("compliance").get(PEOPLE, {"state": "active"}))
    assert "Farah" not in text(reader("compliance").get(PEOPLE, {"role": "support"}))
    assert "Farah" in text(reader("compliance").get(PEOPLE, {"who": "fara"}))


def _asker_with_a_decider():
    a_member_of_staff("compliance")
    return a_member_of_staff("administrator")


class TestAsking:
    @pytest.mark.sweep
    def test_for_a_new_account_demands_an_answer_to_whether_the_person_works_here(self):
        a_member_of_staff("compliance")
        visitor, member = reader(), a_member_of_staff("support", name="Sara")
        form = {"email": "nina@example.com", "name": "Nina", "roles": ["support"], "reason": "new"}
        answer = visitor.post(f"{PEOPLE}new/", form)
        assert answer.status_code == 200
        assert 'value="Nina"' in text(answer)
        assert f"Yes: Sara, {member.user.email}" in text(answer)
        assert not Approval.objects.exists()
        assert visitor.post(f"{PEOPLE}new/", form | {"works_here": member.pk})["Location"] == PEOPLE
        asked = Approval.objects.get()
        assert approvals.thaw(asked)["person"] == str(member.person)
        assert "Create a staff account for Nina" in text(visitor.get(PEOPLE))

    def test_for_a_change_waits_on_the_page_until_another_decides(self):
        a_member_of_staff("compliance")
        visitor, member = reader(), a_member_of_staff("support")
        address = f"{PEOPLE}{member.pk}/ask/roles/"
        answer = visitor.post(address, {"roles": ["finance"]})
        assert answer.status_code == 200
        assert '<details class="unfold staff-action" id="ask-roles" open>' in text(answer)
        assert "The request was not sent." in text(answer).partition("Request a change")[0]
        assert 'href="#ask-roles"' in text(answer)
        assert "Enter a reason" in text(answer)
        assert "Select at least one role." in text(visitor.post(address, {"reason": "none at all"}))
        assert visitor.post(address, {"roles": ["finance"], "reason": "another desk"}).status_code == 302
        page = text(visitor.get(f"{PEOPLE}{member.pk}/"))
        assert "Change the roles of Someone" in page
        assert "another desk" in page
        asked = Approval.objects.get()
        own, last = f'href="/staff/approvals/{asked.pk}/', page.index('id="roles"')
        assert page.index(f'{own}#withdraw"') < last
        assert page.index("Request a change") < last
        assert f'{own}"' in page.partition("Awaiting second approval")[0]
        assert staff.roles_of(member) == ["support"]
        again = text(visitor.post(address, {"roles": ["operator"], "reason": "or this"}))
        assert f"Someone ({asked.by}) already requested this" in again
        assert f'{own}">request {asked.pk}</a>' in again
        decide(asked)
        assert "roles: finance" in text(visitor.get(f"{PEOPLE}{member.pk}/"))

    @pytest.mark.sweep
    def test_says_where_nobody_else_does_the_work(self):
        visitor, member = administrator_with_compliance(), a_member_of_staff("finance", "support")
        a_member_of_staff("support")
        assert "No other person has the role: <strong>finance</strong>" in text(visitor.get(f"{PEOPLE}{member.pk}/"))
        ask = f"{PEOPLE}{member.pk}/ask/"
        visitor.post(f"{ask}roles/", {"roles": ["finance"], "reason": "less to do"})
        visitor.post(f"{ask}disable/", {"reason": "leaves"})
        kept, lost = Approval.objects.order_by("pk")
        assert "Roles left without staff" not in text(visitor.get(f"/staff/approvals/{kept.pk}/"))
        assert "<dt>Roles left without staff</dt><dd>finance</dd>" in text(visitor.get(f"/staff/approvals/{lost.pk}/"))
        a_member_of_staff("finance")
        assert "Roles left without staff" not in text(visitor.get(f"/staff/approvals/{lost.pk}/"))
        assert "No other person has the role:" not in text(visitor.get(f"{PEOPLE}{member.pk}/"))

    def test_is_not_offered_about_oneself_nor_to_who_only_decides(self):
        member = a_member_of_staff("administrator")
        visitor = a_visitor()
        visitor.force_login(member.user)
        own = text(visitor.get(f"{PEOPLE}{member.pk}/"))
        assert "This is your own account." in own
        assert "Request a change" not in own
        answer = visitor.post(f"{PEOPLE}{member.pk}/ask/disable/", {"reason": "me"})
        assert answer["Location"] == f"{PEOPLE}{member.pk}/"
        assert not Approval.objects.exists()
        assert "Request a change" not in text(reader("compliance").get(f"{PEOPLE}{member.pk}/"))
        assert reader("compliance").post(f"{PEOPLE}{member.pk}/ask/disable/", {"reason": "x"}).status_code == 403
        assert visitor.post(f"{PEOPLE}{member.pk}/ask/praise/", {"reason": "x"}).status_code == 404
