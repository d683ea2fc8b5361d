"""The pages where people decide what others asked for, and withdraw what they asked for themselves."""

import re

import pytest
from django.urls import reverse

from audit import approvals
from audit.models import Decision, Verdict
from tests.builders import a_player
from tests.casino.two_people import Adjustment, Annulment, Asked, OfStaff, Payment, browser_of
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet import adjusting

pytestmark = pytest.mark.django_db


@pytest.fixture
def asker():
    return a_member_of_staff("support", name="Ada")


@pytest.fixture
def asked(asker):
    return adjusting.ask(a_player(real=10_000), by=asker)


def as_(member):
    client = a_visitor()
    client.force_login(member.user)
    return client


def page(member, asked):
    return as_(member).get(reverse("staff_approval", args=[asked.pk])).content.decode()


def withdraw(member, asked, **changes):
    data = {"reason": "a slip of mine", "sure": "on"} | changes
    return as_(member).post(reverse("staff_approval_withdraw", args=[asked.pk]), data, follow=True).content.decode()


def listed(member, **asked_for):
    html = as_(member).get(reverse("staff_approvals"), asked_for).content.decode()
    return set(re.findall(r"/staff/approvals/(\d+)/", html.partition("<h2>Ended</h2>")[2]))


class TestOne:
    def test_says_what_is_asked_for_by_whom_until_when_and_what_follows(self, asker, asked):
        html = page(a_member_of_staff("finance"), asked)
        for words in (
            "adjustment of a balance",
            f"Ada ({asker})",
            "in 2\xa0days, 23\xa0hours",
            "The balance changes at once",
            "Approve",
        ):
            assert words in html
        assert "Withdraw request" not in html

    def test_says_of_one_that_ended_by_whom_it_did(self, asked):
        decider = a_member_of_staff("finance", name="Fin")
        adjusting.decide(asked, yes=False, by=decider)
        html = page(decider, asked)
        assert f"by Fin ({decider})" in html
        assert "If approved" not in html


class TestWithdrawing:
    def test_is_offered_to_the_asker_under_whichever_account(self, asker, asked):
        twin = a_member_of_staff("finance", person=asker.person)
        for account in (asker, twin):
            html = page(account, asked)
            assert "Withdraw request" in html
            assert "Approve" not in html
        assert "is withdrawn" in withdraw(twin, asked)
        assert Decision.objects.get().verdict == Verdict.WITHDRAWN
        assert [event["by"] for event in events("approval.withdrawn", on=f"approval:{asked.pk}")] == [str(twin)]

    @pytest.mark.parametrize(
        ("changes", "words"), [({"reason": " "}, "Say why"), ({"sure": ""}, "Confirm that you mean it")]
    )
    def test_takes_a_reason_and_a_confirmation(self, asker, asked, changes, words):
        assert words in withdraw(asker, asked, **changes)
        assert not Decision.objects.exists()

    def test_is_nobody_elses(self, asked):
        assert "Somebody else asked for this" in withdraw(a_member_of_staff("finance"), asked)
        assert not Decision.objects.exists()

    def test_says_that_it_comes_too_late(self, asker, asked):
        adjusting.decide(asked, yes=False)
        assert "decided already" in withdraw(asker, asked)

    def test_of_nothing_leads_to_the_list(self, asker, asked):
        asked.pk = 404
        assert "There is no such request" in withdraw(asker, asked)


class TestEnded:
    def test_are_found_by_how_they_ended_and_whose_they_were(self, asker, asked):
        withdraw(asker, asked)
        refused = adjusting.ask(a_player(real=10_000))
        finance = a_member_of_staff("finance")
        adjusting.decide(refused, yes=False, by=finance)
        assert listed(finance) == {str(asked.pk), str(refused.pk)}
        assert listed(finance, verdict="withdrawn") == {str(asked.pk)}
        assert listed(finance, kind="balance.adjust", whose="mine") == set()
        assert listed(asker, whose="mine") == listed(asker) == {str(asked.pk)}

    def test_are_called_by_what_they_are_and_people_by_their_names(self, asker, asked):
        withdraw(asker, asked)
        html = as_(a_member_of_staff("finance")).get(reverse("staff_approvals")).content.decode()
        assert f"Ada ({asker})" in html
        assert 'data-label="Kind">adjustment of a balance' in html
        for kind in approvals.kinds():
            assert f">{kind}<" not in html


@pytest.mark.parametrize("make", [Annulment, Payment, OfStaff, Adjustment], ids=lambda deed: deed.kind)
def test_what_a_request_is_about_opens_for_whoever_decides_it(make):
    asked = Asked(make())
    browser = browser_of(a_member_of_staff(make.deciding, "support"))
    html = browser.get(reverse("staff_approval", args=[asked.approval.pk])).content.decode()
    about = re.search(r"<dt>About</dt><dd><a class=\"link\" href=\"([^\"]+)\"", html)
    assert about, "no link"
    assert browser.get(about[1]).status_code == 200
