"""Access control between players, staff and visitors, and its events."""

import pytest
from django.contrib.auth.models import Group
from django.db import ProgrammingError, transaction

from audit import approvals
from players import staff as staffing
from tests.builders import a_player
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db


def as_user(user):
    visitor = a_visitor()
    visitor.force_login(user)
    return visitor


def test_staff_never_play():
    staff = a_member_of_staff("operator", "supervisor", "finance", "compliance", "support")
    assert as_user(staff.user).get("/en/history/").status_code == 403
    (refused,) = events("access.refused", by=str(staff))
    assert (refused["on"], refused["data"]) == ("page:history", {"method": "GET"})


def test_players_do_not_enter_the_back_office_whatever_their_groups_say():
    player = a_player()
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        player.user.groups.set(Group.objects.filter(name="compliance"))
    assert as_user(player.user).get("/staff/events/").status_code == 403
    assert events("access.refused", by=str(player))


def test_a_role_opens_its_own_pages_only():
    visitor = as_user(a_member_of_staff("compliance").user)
    assert visitor.get("/staff/events/").status_code == 200
    assert visitor.get("/staff/ledger/").status_code == 200
    assert as_user(a_member_of_staff("support").user).get("/staff/ledger/").status_code == 403


def test_a_role_taken_away_closes_its_pages_at_once():
    staff = a_member_of_staff("compliance")
    visitor = as_user(staff.user)
    assert visitor.get("/staff/events/").status_code == 200
    asker, decider = a_member_of_staff("administrator"), a_member_of_staff("compliance")
    asked = staffing.ask_for_roles(member=staff, roles=["support"], reason="another desk", by=asker)
    approvals.decide(approval_id=asked.pk, yes=True, by=str(decider), person=decider.person, reason="seen", may=bool)
    assert visitor.get("/staff/events/").status_code == 403


def test_a_log_in_that_is_neither_player_nor_staff_gets_nowhere(django_user_model):
    visitor = as_user(django_user_model.objects.create_user("neither@example.com"))
    assert visitor.get("/en/history/").status_code == 403
    assert visitor.get("/staff/").status_code == 403


def test_the_back_office_shows_what_the_role_may_do():
    page = as_user(a_member_of_staff("finance").user).get("/staff/").text
    assert "/staff/ledger/" in page
    assert "/staff/events/" not in page


def test_the_back_office_is_in_the_visitors_language():
    visitor = as_user(a_member_of_staff("finance").user)
    visitor.cookies["django_language"] = "sv"
    for path in ("/staff/", "/staff/ledger/"):
        assert '<html lang="sv"' in visitor.get(path).text
