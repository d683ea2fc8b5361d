"""Data of the migrations: jurisdictions and roles."""

from datetime import date

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import IntegrityError, ProgrammingError, transaction

from players.models import Agreement, Jurisdiction, Player, Session, Staff, User
from tests.builders import a_player
from tests.people import PASSWORD, ROLES, a_member_of_staff, a_visitor, events, give_code, log_in

pytestmark = pytest.mark.django_db


def test_the_jurisdictions_served():
    served = {where.code: (where.language, where.currencies, where.minimum_age) for where in Jurisdiction.objects.all()}
    assert served == {
        "SE": ("sv", ["SEK"], 18),
        "DK": ("da", ["DKK"], 18),
        "RO": ("ro", ["RON"], 18),
        "DE": ("de", ["EUR"], 18),
        "GB": ("en", ["GBP", "EUR"], 18),
    }


def test_gli19_b_2_3_each_role_may_do_this_and_no_more():
    found = {
        role.name: {f"{right.content_type.app_label}.{right.codename}" for right in role.permissions.all()}
        for role in Group.objects.all()
    }
    assert found == ROLES


def test_gli19_2_8_9_an_account_of_staff_has_its_name_roles_functions_and_last_access():
    member, visitor = a_member_of_staff("finance", "operator", password=PASSWORD), a_visitor()
    log_in(visitor, member.user)
    give_code(visitor, member.user)
    visitor.get("/staff/")
    new = "another-one-for-me-9"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    visitor.post("/en/account/security/password/", form)
    kept = Staff.objects.get(pk=member.pk)
    assert kept.name == "Someone"
    assert set(kept.user.groups.values_list("name", flat=True)) == {"finance", "operator"}
    assert kept.user.get_all_permissions() == ROLES["finance"] | ROLES["operator"]
    (session,) = Session.objects.filter(user=kept.user, ended_at=None)
    assert session.ip == visitor.defaults["REMOTE_ADDR"]
    assert kept.user.created_at <= session.began_at <= session.acted_at
    (changed,) = events("password.changed", on=str(kept))
    assert changed["by"] == str(kept)
    assert kept.user.is_active


@pytest.mark.sweep
def test_django_made_no_second_row_of_a_permission_that_a_role_has():
    names = set().union(*ROLES.values())
    rows = [f"{right.content_type.app_label}.{right.codename}" for right in Permission.objects.all()]
    assert all(rows.count(name) == 1 for name in names)


def test_one_person_has_one_log_in_however_the_address_is_written():
    User.objects.create_user("Anna@Example.com")
    assert User.objects.get_by_natural_key(" ANNA@example.com ").email == "anna@example.com"
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user("anna@example.COM")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create(email="Other@Example.com")


def test_a_version_of_the_terms_is_agreed_to_once():
    player = a_player()
    Agreement.objects.create(player=player, terms_version="0")
    with pytest.raises(IntegrityError), transaction.atomic():
        Agreement.objects.create(player=player, terms_version="0")


def test_web_and_workers_can_change_neither_people_nor_roles_nor_agreements_nor_jurisdictions():
    agreement = Agreement.objects.get(player=a_player())
    member = a_member_of_staff("support")
    forbidden = (
        lambda: Player.objects.update(birth_date=date(1990, 1, 1)),
        lambda: Player.objects.update(currency="EUR"),
        lambda: Staff.objects.filter(pk=member.pk).delete(),
        lambda: Staff.objects.filter(pk=member.pk).update(name="Somebody else"),
        lambda: Staff.objects.create(user=User.objects.create_user("new@example.com"), name="Somebody new"),
        lambda: member.user.groups.add(Group.objects.get(name="finance")),
        member.user.groups.clear,
        User.objects.create_user("nobody@example.com").delete,
        lambda: member.user.user_permissions.add(Permission.objects.get(codename="view_event")),
        lambda: Group.objects.get(name="support").permissions.add(Permission.objects.get(codename="view_event")),
        lambda: Group.objects.create(name="owner"),
        lambda: Agreement.objects.filter(pk=agreement.pk).update(terms_version="0"),
        agreement.delete,
        lambda: Jurisdiction.objects.update(minimum_age=16),
    )
    for change in forbidden:
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            change()
