"""Partners and their keys: two people approve, one ends; a secret is shown once to the person who
requested it.
"""

import pytest
from cryptography.exceptions import InvalidTag
from django.db import DatabaseError, connection, transaction

from audit import approvals
from audit.models import Decision, Verdict
from tests.people import a_member_of_staff, events
from tests.wallet.studios import a_partner, another_key, ask_for_partner, decide
from wallet.models import Partner, PartnerKey, PartnerKind
from wallet.seamless_wallet import partners, signing

pytestmark = pytest.mark.django_db

ANOTHER_KEY = "A" * 43 + "="


@pytest.fixture
def finance():
    return a_member_of_staff("finance")


class TestAgreed:
    def test_makes_the_partner_and_its_first_key(self, finance):
        asked = ask_for_partner(by=finance, code="nordlicht", name="Nordlicht")
        assert not Partner.objects.exists()
        decide(asked)
        partner = Partner.objects.get(code="nordlicht")
        assert (partner.name, partner.kind, partners.running_keys(partner)) == ("Nordlicht", PartnerKind.STUDIO, 1)
        (event,) = events("partner.added", on="partner:nordlicht")
        assert event["data"]["asked_by"] == str(finance)

    def test_against_makes_nothing(self):
        decide(ask_for_partner(), yes=False)
        assert not Partner.objects.exists()

    def test_a_code_is_one_partners(self):
        asked = ask_for_partner(code="one")
        a_partner(code="two")
        with pytest.raises(partners.CodeTaken):
            ask_for_partner(code="two")
        with pytest.raises(approvals.AskedTwice):
            ask_for_partner(code="one")
        decide(asked)

    @pytest.mark.parametrize(
        "address",
        [
            "http://games.example/",
            "ftp://games.example/",
            "https://",
            "https://me:secret@games.example/",
            "https://games.example/?a=1",
            "https://games.example/#a",
            "games.example",
        ],
    )
    def test_an_address_is_one_that_the_house_would_speak_to(self, address):
        with pytest.raises(partners.BadAddress):
            ask_for_partner(address=address)

    def test_this_machine_is_one_in_a_demo_house_alone(self, settings):
        ask_for_partner(address="http://127.0.0.1:8001/")
        settings.DEMO = False
        with pytest.raises(partners.BadAddress):
            ask_for_partner(address="http://127.0.0.1:8001/")

    def test_is_not_decided_by_finance(self, finance):
        with pytest.raises(approvals.NotAllowed):
            decide(ask_for_partner(), by=finance)

    def test_is_not_decided_by_one_person_with_two_accounts(self, finance):
        with pytest.raises(approvals.OwnRequest):
            decide(ask_for_partner(by=finance), by=a_member_of_staff("supervisor", person=finance.person))

    def test_takes_an_asker_who_may(self):
        with pytest.raises(approvals.CannotExecute, match="no longer has this role"):
            decide(ask_for_partner(by=a_member_of_staff("support")))


class TestKeys:
    def test_a_partner_has_two_at_most(self):
        partner = a_partner()
        another_key(partner)
        with pytest.raises(partners.KeysFull):
            another_key(partner)

    def test_nor_by_a_request_from_before(self, finance):
        partner = a_partner()
        asked = partners.ask_for_key(partner=partner, reason="r", by=finance)
        other = approvals.ask(
            kind=partners.KEY,
            on="else",
            request={"code": partner.code},
            by=str(finance),
            person=finance.person,
            reason="r",
        )
        decide(asked)
        with pytest.raises(approvals.CannotExecute, match="two keys"):
            decide(other)

    def test_the_oldest_signs_until_it_is_ended(self):
        partner = a_partner()
        older, newer = signing.signing_key(partner), another_key(partner)
        assert signing.signing_key(partner) == older
        partners.end_key(key=older, reason="replaced", by=a_member_of_staff("finance"))
        assert signing.signing_key(partner) == newer

    def test_none_for_a_partner_that_is_off(self, finance):
        partner = a_partner()
        partners.switch_off(partner=partner, reason="no contract", by=finance)
        partner.refresh_from_db()
        with pytest.raises(partners.PartnerOff):
            partners.ask_for_key(partner=partner, reason="r", by=finance)

    def test_a_secret_is_shown_once_to_its_asker(self, finance):
        partner = a_partner(by=finance)
        key = signing.signing_key(partner)
        with pytest.raises(partners.NotShown):
            partners.show(key=key, by=a_member_of_staff("finance"))
        assert partners.show(key=key, by=finance) == signing.secret_of(key)
        with pytest.raises(partners.NotShown):
            partners.show(key=key, by=finance)
        assert len(events("partner.key_shown", on=str(partner))) == 1

    def test_a_secret_is_unlike_any_other_and_opens_with_the_houses_key_alone(self, settings):
        partner = a_partner()
        one, other = signing.signing_key(partner), another_key(partner)
        assert signing.secret_of(one) != signing.secret_of(other)
        assert signing.secret_of(one).encode() not in bytes(one.sealed)
        one.sealed, other.sealed = other.sealed, one.sealed
        with pytest.raises(InvalidTag):
            signing.secret_of(one)
        changed = PartnerKey(partner_id=a_partner().pk, name=one.name, sealed=other.sealed)
        with pytest.raises(InvalidTag):
            signing.secret_of(changed)
        settings.PARTNER_KEY = ANOTHER_KEY
        with pytest.raises(InvalidTag):
            signing.secret_of(PartnerKey.objects.get(pk=one.pk))

    def test_what_is_ended_twice_has_ended_once(self, finance):
        partner = a_partner()
        key = signing.signing_key(partner)
        for _ in range(2):
            partners.end_key(key=key, reason="lost", by=finance)
            partners.switch_off(partner=partner, reason="no contract", by=finance)
        assert len(events("partner.key_ended", on=str(partner))) == 1
        assert len(events("partner.switched_off", on=str(partner))) == 1


def refused(statement, *values, match):
    with pytest.raises(DatabaseError, match=match), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


class TestTheDatabase:
    """The possibilities of a stolen web login."""

    def test_makes_no_partner_and_no_key_that_nobody_agreed_on(self, finance):
        partner = a_partner()
        asked = ask_for_partner()
        with pytest.raises(DatabaseError, match="nobody agreed"), transaction.atomic():
            Partner.objects.create(
                code="mine", name="Mine", kind="studio", address="https://x/", per_minute=1, approval=asked
            )
        with pytest.raises(DatabaseError, match="nobody agreed"), transaction.atomic():
            PartnerKey.objects.create(partner=partner, name="mine", sealed=b"x", approval=asked)

    def test_knows_who_may_agree_whatever_an_approval_says(self):
        asked, clerk = ask_for_partner(code="mine"), a_member_of_staff("operator")
        Decision.objects.create(
            approval=asked, verdict=Verdict.APPROVED, by=str(clerk), asker=asked.person, person=clerk.person, reason="r"
        )
        with pytest.raises(DatabaseError, match="nobody agreed"), transaction.atomic():
            Partner.objects.create(
                code="mine", name="Mine", kind="studio", address="https://games.example/", per_minute=1, approval=asked
            )

    def test_changes_no_address_and_no_secret(self):
        a_partner()
        refused("UPDATE wallet_partner SET address = 'https://mine/'", match="permission denied")
        refused("UPDATE wallet_partner_key SET sealed = ''", match="permission denied")
        refused("DELETE FROM wallet_partner_key", match="permission denied")

    def test_revives_nothing(self, finance):
        partner = a_partner()
        partners.end_key(key=signing.signing_key(partner), reason="lost", by=finance)
        partners.switch_off(partner=partner, reason="no contract", by=finance)
        refused("UPDATE wallet_partner_key SET ended_at = NULL", match="does not change")
        refused("UPDATE wallet_partner SET off_at = NULL, off_by_id = NULL", match="does not change")
