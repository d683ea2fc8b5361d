"""Pages with a player field accept any search term; staff see names of actors."""

import pytest
from django.urls import reverse

from players.identity import duplicates
from players.models import Exclusion, Ground, Player
from players.protection import exclusions
from tests.builders import a_player, a_submission
from tests.people import a_member_of_staff, a_visitor

pytestmark = pytest.mark.django_db


def at(role):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


@pytest.fixture
def asa() -> Player:
    player = a_player("SE")
    a_submission(player, given_names="Åsa", family_name="Müller")
    return player


@pytest.mark.sweep
def test_limits_are_found_by_number_address_and_name(asa):
    way = reverse("staff_player_limits", args=[asa.pk])
    for typed in (asa.pk, f"player:{asa.pk}", asa.user.email, "muller asa"):
        assert at("compliance").get(reverse("staff_limits"), {"who": typed})["Location"] == way


def test_an_unknown_player_is_reported(db):
    page = at("support").get(reverse("staff_limits"), {"who": "nobody@nowhere.example"})
    assert "No players match this search." in page.text


def test_of_several_the_one_that_is_meant_is_chosen(asa):
    other = a_player("DK")
    a_submission(other, given_names="Åsa", family_name="Holm")
    page = at("compliance").get(reverse("staff_limits"), {"who": "åsa"})
    assert "Several players match." in page.text
    for player in (asa, other):
        assert f'href="{reverse("staff_limits")}?who=player:{player.pk}"' in page.text


def test_nobody_is_excluded_before_it_is_shown_who_it_is(asa):
    visitor, address = at("compliance"), reverse("staff_exclusions")
    page = visitor.get(address, {"who": "müller"})
    assert asa.user.email in page.text
    assert not Exclusion.objects.exists()
    visitor.post(address, {"player": asa.pk, "days": 7, "reason": "asked for by telephone"})
    assert Exclusion.objects.get().player == asa


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("player", "said"), [("", "Select a player first."), (10**9, "Player not found.")], ids=["none", "unknown"]
)
def test_an_exclusion_of_nobody_is_refused_in_words(db, player, said):
    page = at("support").post(reverse("staff_exclusions"), {"player": player, "reason": "no reason"})
    assert said in page.text
    assert not Exclusion.objects.exists()


def test_an_exclusion_without_a_reason_names_its_player(asa):
    page = at("support").post(reverse("staff_exclusions"), {"player": asa.pk, "reason": ""})
    assert "This field is required." in page.text
    assert f'value="{asa.pk}"' in page.text


@pytest.mark.sweep
def test_who_did_something_is_read_by_name(asa):
    doer = a_member_of_staff("compliance", name="Ulla Vester")
    exclusions.exclude(player=asa, days=7, reason="for a test", by=doer)
    visitor = at("compliance")
    for page in (reverse("staff_events"), reverse("staff_player", args=[asa.pk])):
        assert f"Ulla Vester ({doer})" in visitor.get(page).text


def test_what_follows_is_said_before_two_players_are_called_one_person(asa):
    duplicates.note(player=asa, ground=Ground.PAYOUT, value="SAME1234")
    other = a_player("SE")
    duplicates.note(player=other, ground=Ground.PAYOUT, value="SAME1234")
    page = at("compliance").get(reverse("staff_duplicate", args=[asa.pk, other.pk]))
    assert "Neither player can be verified while the other account is open." in page.text
    assert "Both players can be verified." in page.text
