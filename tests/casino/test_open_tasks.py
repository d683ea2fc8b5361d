"""Open tasks on the home page and in the sidebar: how many, since when, due when, and at what cost."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from backoffice.dashboard import queues
from players.models import Conversation, Topic
from players.support import complaints, conversations
from tests.people import a_member_of_staff, a_visitor
from tests.scene import Scene
from tests.staff_lists import open_tasks

pytestmark = pytest.mark.django_db


def home(role: str, language: str = "en") -> str:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    visitor.cookies["django_language"] = language
    return visitor.get(reverse("staff_home")).text


def test_a_queue_says_how_many_wait_since_when_and_until_when() -> None:
    scene = Scene()
    overdue = complaints.case_of(Conversation.objects.get(pk=scene.overdue_id))
    conversations.begin(player=scene.impatient, topic=Topic.QUESTION, text="When?")
    held = {count.page: count for count in queues.counts(a_member_of_staff("support"))}
    cases, identities = held["staff_cases"], held["staff_identity"]
    assert (cases.count, cases.since, cases.due) == (1, overdue.opened_at, overdue.due_at)
    assert cases.is_late
    assert (identities.count, identities.since, identities.due, identities.is_late) == (0, None, None, False)
    page = home("support")
    assert page.index("Open cases") < page.index("Unanswered player messages")  # overdue comes first
    assert "overdue</span>" in page
    menu = page.partition('<nav class="side"')[2].partition("</nav>")[0]
    assert re.search(r">Cases <span class=\"side__count side__count--wrong\">1<", menu)


def test_each_role_sees_its_own_queues() -> None:
    assert Scene().withdrawer
    of_finance = {str(each.name): each.count for each in queues.counts(a_member_of_staff("finance"))}
    of_support = {str(each.name) for each in queues.counts(a_member_of_staff("support"))}
    assert of_finance["Withdrawals to approve"] > 0
    assert "Withdrawals to approve" not in of_support
    member = a_member_of_staff("compliance")
    queues.counts(member)  # reads the permissions
    with CaptureQueriesContext(connection) as sent:
        assert len(queues.counts(member)) > len(queues.QUEUES) / 2
    assert len([each for each in sent if each["sql"] != "SELECT clock_timestamp()"]) == 1


def test_an_empty_home_page_says_so_in_the_language_of_its_reader() -> None:
    assert "All done. Nothing is waiting for you." in home("support")
    assert "Allt är klart. Inget väntar på dig." in home("support", "sv")
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("support").user)
    assert open_tasks(visitor) == {}
