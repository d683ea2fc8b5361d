"""The people of a demo house."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from players.demo import DEMO_LOGINS, PASSWORD, NotADemo, create_demo_people
from players.models import Player, Staff, User
from tests.people import a_visitor, log_in


@pytest.mark.django_db
def test_are_one_player_a_jurisdiction_and_one_member_of_staff_a_role_however_often_they_are_made():
    create_demo_people()
    create_demo_people()
    assert sorted(Player.objects.values_list("jurisdiction", flat=True)) == ["DE", "DK", "GB", "RO", "SE"]
    roles = Staff.objects.values_list("user__groups__name", flat=True)
    assert sorted(roles) == ["compliance", "finance", "finance", "operator", "supervisor"]
    assert User.objects.filter(is_demo=True).count() == len(DEMO_LOGINS)


@pytest.mark.django_db
def test_log_in_with_the_printed_password():
    create_demo_people()
    user = User.objects.get(email="se@demo.example")
    assert log_in(a_visitor(), user, PASSWORD).status_code == 302


@pytest.mark.django_db
def test_are_not_made_in_production(settings):
    settings.DEMO = False
    with pytest.raises(NotADemo):
        create_demo_people()
    assert not User.objects.exists()


def test_are_printed_as_a_table():
    out = StringIO()
    call_command("demo_logins", stdout=out)
    lines = out.getvalue().splitlines()
    assert len(lines) == 1 + len(DEMO_LOGINS)
    assert len({line.index(PASSWORD) for line in lines[1:]}) == 1
    assert "se@demo.example" in lines[1]
    assert lines[1].endswith("player, SE, SEK")


def test_are_not_printed_in_production(settings):
    settings.DEMO = False
    with pytest.raises(CommandError):
        call_command("demo_logins")
