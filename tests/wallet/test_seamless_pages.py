"""Partners in the back office: requested, approved, their secret shown once, ended."""

import pytest
from django.urls import reverse

from audit.models import Approval
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from tests.wallet.studios import a_partner, decide
from wallet.models import Partner, PartnerKey
from wallet.seamless_wallet import signing

pytestmark = pytest.mark.django_db

SAID = {
    "kind": "studio",
    "name": "Nordlicht",
    "code": "nordlicht",
    "address": "https://games.example/",
    "per_minute": "600",
    "reason": "a contract",
}


@pytest.fixture
def finance():
    return a_member_of_staff("finance")


def at(staff):
    reader = a_visitor()
    reader.force_login(staff.user)
    return reader


def test_from_the_question_to_the_secret(finance):
    asker = at(finance)
    asked = asker.post(reverse("staff_partner_new"), SAID, follow=True)
    assert "A second person must approve it" in asked.text
    decide(Approval.objects.get(kind="partner.add"))
    key = PartnerKey.objects.get(partner__code="nordlicht")
    assert "Show secret" in asker.get(reverse("staff_partners")).text
    assert "Show secret" not in at(a_member_of_staff("finance")).get(reverse("staff_partners")).text
    show = reverse("staff_partner_key_show", args=[key.pk])
    assert signing.secret_of(key) not in at(a_member_of_staff("finance")).post(show, follow=True).text
    shown = asker.post(show)
    assert signing.secret_of(key) in shown.text
    assert "no-store" in shown["Cache-Control"]
    again = asker.post(show, follow=True)
    assert signing.secret_of(key) not in again.text
    assert "shown once" in again.text


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("change", "words"),
    sample(
        [
            ({"address": "http://games.example/"}, "Must start with https://"),
            ({"code": "taken"}, "This code is already used by the partner taken."),
            ({"code": "two words"}, "valid"),
            ({"reason": " "}, "required"),
            ({"per_minute": "0"}, "greater than or equal to 1"),
            ({"kind": "rival"}, "valid choice"),
        ],
        1,
    ),
)
def test_an_invalid_value_is_reported_at_its_field(finance, change, words):
    a_partner(code="taken")
    answer = at(finance).post(reverse("staff_partner_new"), SAID | change)
    assert words in answer.text
    assert Approval.objects.filter(kind="partner.add").count() == 1


@pytest.mark.sweep
def test_asked_twice_is_said(finance):
    at(finance).post(reverse("staff_partner_new"), SAID)
    assert "The same request is already pending" in at(finance).post(reverse("staff_partner_new"), SAID).text


@pytest.mark.sweep
def test_a_key_is_ended_and_a_partner_switched_off_with_a_reason(finance):
    partner, reader = a_partner(), at(finance)
    key = signing.signing_key(partner)
    for name, number in (("staff_partner_key_end", key.pk), ("staff_partner_off", partner.pk)):
        assert "Enter a reason" in reader.post(reverse(name, args=[number]), {"reason": " "}, follow=True).text
        reader.post(reverse(name, args=[number]), {"reason": "no contract"})
    assert PartnerKey.objects.get(pk=key.pk).ended_at
    assert Partner.objects.get(pk=partner.pk).off_at
    answer = reader.post(reverse("staff_partner_key", args=[partner.pk]), {"reason": "again"}, follow=True)
    assert "This partner is deactivated." in answer.text


@pytest.mark.sweep
def test_another_key_is_asked_for_and_no_third(finance):
    partner, reader = a_partner(), at(finance)
    ask = reverse("staff_partner_key", args=[partner.pk])
    reader.post(ask, {"reason": "once a year"})
    decide(Approval.objects.get(kind="partner.key"))
    assert "The partner already has two keys." in reader.post(ask, {"reason": "more"}, follow=True).text


def test_what_nobody_has_is_not_found(finance):
    assert at(finance).post(reverse("staff_partner_key_show", args=[404])).status_code == 404
