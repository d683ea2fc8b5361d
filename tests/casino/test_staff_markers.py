"""Markers of harm in the back office: flags, players, and recorded contacts."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.harm_markers import CONTACT_DUE
from players.models import Case, Contact, LimitKind, Period, Player
from players.protection import exclusions
from players.protection.harm_markers import find, raise_flag
from players.protection.limits import set_limit
from tests.builders import a_player
from tests.people import a_member_of_staff, a_visitor, events

pytestmark = pytest.mark.django_db

CLOSE = {"action": "closed", "to": "talked"}
CONTACT = {"made_at": "2026-01-01T12:00", "way": "phone", "said": "Can afford it.", "next_review": "2026-02-01"}


@pytest.fixture
def flag() -> Case:
    player = a_player("SE")
    change = set_limit(player=player, kind=LimitKind.DEPOSIT, period=Period.MONTH, amount=2_000_000, by=str(player))
    (found,) = find(CONTACT_DUE, players=[player.pk], seen=change.asked_at)
    raise_flag(CONTACT_DUE, found)
    return Case.objects.get(player=player)


def of(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def read(visitor: Client, path: str) -> str:
    answer = visitor.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


class TestFlags:
    @pytest.mark.sweep
    def test_stand_open_first_and_by_marker(self, flag):
        support = of("support")
        link = f"/staff/cases/{flag.pk}/"
        assert link in read(support, "/staff/cases/")
        assert link in read(support, "/staff/cases/?marker=contact_due")
        assert link not in read(support, "/staff/cases/?marker=nights")
        assert link not in read(support, "/staff/cases/?state=closed")

    @pytest.mark.sweep
    def test_show_the_rows_and_the_ways_on(self, flag):
        page = read(of("support"), f"/staff/cases/{flag.pk}/")
        assert "Limit requested: Deposit limit · Month" in page
        assert f'href="/staff/players/{flag.player_id}/limits/"' in page
        assert 'href="/staff/exclusions/"' in page
        assert f'href="/staff/service/?player={flag.player_id}"' in page
        assert "Deposits of the last 30 days" in page

    def test_take_a_contact_and_then_an_end(self, flag):
        support, path = of("support"), f"/staff/cases/{flag.pk}/"
        assert "Record a contact first" in support.post(f"{path}act/", CLOSE, follow=True).content.decode()
        assert support.post(f"{path}contact/", CONTACT).status_code == 302
        contact = Contact.objects.get()
        assert (contact.made_at, contact.said) == (datetime(2026, 1, 1, 12, tzinfo=UTC), "Can afford it.")
        assert support.post(f"{path}act/", CLOSE).status_code == 302
        page = read(support, path)
        assert "Discussed with the player" in page
        assert "Record a contact" not in page
        assert "Can afford it." not in str(events("marker.contact"))

    @pytest.mark.sweep
    @pytest.mark.parametrize("missing", ["made_at", "way", "said"])
    def test_take_no_half_of_a_contact(self, flag, missing):
        said = CONTACT | {missing: ""}
        assert "This field is required" in of("support").post(f"/staff/cases/{flag.pk}/contact/", said).content.decode()
        assert not Contact.objects.exists()

    @pytest.mark.parametrize("role", ["operator", "supervisor", "finance"])
    def test_are_for_compliance_and_support_alone(self, flag, role):
        assert of(role).get(f"/staff/cases/{flag.pk}/").status_code == 403

    def test_are_nothing_a_player_sees(self, flag):
        visitor = a_visitor()
        visitor.force_login(flag.player.user)
        for path in ("/en/", "/en/account/", "/en/protection/"):
            answer = visitor.get(path, follow=True).content.decode()
            assert "flag" not in answer.lower().replace("flags.svg", "")
            assert "Limit that requires contact" not in answer


class TestAPlayer:
    @pytest.mark.sweep
    @pytest.mark.parametrize("who", ["email", "number", "name in events"])
    def test_is_found(self, who):
        player = a_player("SE")
        said = {"email": player.user.email.upper(), "number": str(player.pk), "name in events": str(player)}[who]
        answer = of("support").get("/staff/players/", {"who": said})
        assert answer["Location"] == f"/staff/players/{player.pk}/"

    @pytest.mark.sweep
    @pytest.mark.parametrize("who", ["nobody@example.com", "999999999", "٣", "9" * 30])
    def test_is_not_found(self, who):
        page = of("support").get("/staff/players/", {"who": who}).content.decode()
        assert "No players found." in page or "does not match any search field" in page

    @pytest.mark.sweep
    def test_has_one_page_that_leads_on(self, flag):
        player: Player = flag.player
        staff = a_member_of_staff("support")
        exclusions.exclude(player=player, days=None, reason="for a test", by=staff)
        page = read(of("compliance"), f"/staff/players/{player.pk}/")
        for there in (
            player.user.email,
            f"/staff/cases/{flag.pk}/",
            "permanent",
            "No documents submitted yet.",
            "Exclusion by the casino",
        ):
            assert there in page
        assert f"/staff/events/?on={player}" in page
