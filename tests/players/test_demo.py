"""The users of a demo house."""

from io import StringIO

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.management import CommandError, call_command

from players.demo import DEMO_LOGINS, HASHED, PASSWORD, NotADemo, create_demo_people
from players.models import Player, Staff, User
from tests.harness.sweeps import sample
from tests.people import a_visitor, log_in


@pytest.mark.sweep
@pytest.mark.usefixtures("cloned_db")
def test_are_one_player_a_jurisdiction_and_staff_in_every_role_however_often_they_are_made():
    create_demo_people()
    create_demo_people()
    assert sorted(Player.objects.values_list("jurisdiction", flat=True)) == ["DE", "DK", "GB", "RO", "SE"]
    roles = Staff.objects.values_list("user__groups__name", flat=True)
    every = ["administrator", "compliance", "finance", "operator", "supervisor", "support"]
    two_people = ["administrator", "compliance", "finance", "supervisor"]  # approve each other's requests
    assert sorted(roles) == sorted([*every, *two_people])
    assert User.objects.filter(is_demo=True).count() == len(DEMO_LOGINS)


@pytest.mark.sweep
@pytest.mark.usefixtures("cloned_db")
def test_log_in_with_the_printed_password():
    create_demo_people()
    user = User.objects.get(email="se@demo.example")
    assert log_in(a_visitor(), user, PASSWORD).status_code == 302


@pytest.mark.usefixtures("cloned_db")
def test_are_not_made_in_production(settings):
    settings.DEMO = False
    with pytest.raises(NotADemo):
        create_demo_people()
    assert not User.objects.exists()


def test_have_a_hash_of_the_printed_password_that_no_log_in_needs_to_renew():
    hasher = Argon2PasswordHasher()
    assert hasher.verify(PASSWORD, HASHED)
    assert not hasher.must_update(HASHED)


def test_are_printed_as_a_table():
    out = StringIO()
    call_command("demo_logins", stdout=out)
    lines = out.getvalue().splitlines()
    assert len(lines) == 1 + len(DEMO_LOGINS) + 3
    assert len({line.index(PASSWORD) for line in lines[1:-3]}) == 1
    assert "/demo/outbox/" in lines[-2]
    assert "./manage.py demo_code USER" in lines[-1]
    assert "se@demo.example" in lines[1]
    assert lines[1].endswith("player, SE, SEK")


def test_are_not_printed_in_production(settings):
    settings.DEMO = False
    with pytest.raises(CommandError):
        call_command("demo_logins")


def demo_code(user: str) -> str:
    out = StringIO()
    call_command("demo_code", user, stdout=out)
    return out.getvalue().strip()


@pytest.mark.usefixtures("cloned_db")
class TestTheCodeOfTheStaff:
    @pytest.mark.parametrize("name", sample(["operator", "operator@demo.example", " Operator@Demo.Example"], 1))
    def test_is_printed_and_lets_in(self, name):
        create_demo_people()
        visitor = a_visitor()
        log_in(visitor, User.objects.get(email="operator@demo.example"), PASSWORD)
        assert visitor.post("/en/account/login/code/", {"code": demo_code(name)})["Location"] == "/"
        assert visitor.get("/staff/").status_code == 200

    @pytest.mark.sweep
    def test_is_another_one_after_it_has_been_used(self):
        create_demo_people()
        codes = set()
        for _ in range(2):
            visitor, code = a_visitor(), demo_code("operator")
            log_in(visitor, User.objects.get(email="operator@demo.example"), PASSWORD)
            assert visitor.post("/en/account/login/code/", {"code": code}).status_code == 302
            codes.add(code)
        assert len(codes) == 2

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("name", "says"),
        sample(
            [
                ("se", "is a player"),
                ("gb@demo.example", "is a player"),
                ("nobody", "has no nobody. Its staff are: operator"),
            ],
            1,
        ),
    )
    def test_is_refused_for_players_and_names_nobody_has(self, name, says):
        create_demo_people()
        with pytest.raises(CommandError, match=says):
            demo_code(name)

    @pytest.mark.sweep
    def test_is_refused_before_there_are_demo_people(self):
        with pytest.raises(CommandError, match="No demo users yet"):
            demo_code("operator")

    def test_is_refused_in_production(self, settings):
        create_demo_people()
        settings.DEMO = False
        with pytest.raises(CommandError, match="Not a demo installation"):
            demo_code("operator")
