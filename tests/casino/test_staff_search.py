"""Search in the header of the back office: what each role finds, mistakes of a letter, and what is recorded."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from players import cases
from players.models import CaseKind, Submission
from players.search import one_mistake_from
from players.staff import access_log
from tests.builders import a_table, a_verified_player
from tests.people import a_member_of_staff, a_visitor, events
from tests.wallet.payout_builders import a_withdrawal

pytestmark = pytest.mark.django_db


def found_by(reader: Client, typed: str) -> dict[str, list[str]]:
    """Search, and return the addresses of what was found, by kind."""
    page = reader.get(reverse("staff_search"), {"q": typed}).text
    kinds = re.findall(r'<div class="found" role="group" aria-label="([^"]*)">(.*?)</div>', page, re.DOTALL)
    return {kind: re.findall(r'<a href="([^"]*)"', rows) for kind, rows in kinds}


def as_role(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def test_finds_what_the_role_may_open_and_nothing_else() -> None:
    player = a_verified_player(real=100_000)
    withdrawal = a_withdrawal(player)
    table = a_table("searched-for")
    compliance, supervisor = as_role("compliance"), as_role("supervisor")
    assert found_by(compliance, str(player.pk))["Players"] == [reverse("staff_player", args=[player.pk])]
    assert found_by(compliance, player.user.email[:-3])["Players"] == [reverse("staff_player", args=[player.pk])]
    assert "Players" not in found_by(supervisor, str(player.pk))
    address = reverse("staff_withdrawal", args=[withdrawal.pk])
    assert found_by(supervisor, f"withdrawal:{withdrawal.pk}") == {"Withdrawals": [address]}
    assert "Withdrawals" not in found_by(as_role("support"), f"withdrawal:{withdrawal.pk}")
    assert found_by(supervisor, "searched-f") == {"Tables": [reverse("staff_game_table", args=[table.pk])]}
    assert found_by(as_role("administrator"), "Someone")["Staff"]
    assert found_by(supervisor, "no such thing at all") == {}


def test_a_case_is_found_and_named_by_those_who_may_see_its_kind() -> None:
    player, compliance = a_verified_player(), as_role("compliance")
    by, later = a_member_of_staff("compliance"), datetime(2100, 1, 1, tzinfo=UTC)
    funds = cases.ask_source_of_funds(player=player, due_at=later, reason="above income", by=by)
    marker = cases.open_case(player.pk, CaseKind.MARKER, subject="nights")
    support = as_role("support")
    for number, readers in ((funds, (compliance,)), (marker, (compliance, support))):
        address = reverse("staff_case", args=[number])
        for reader in (compliance, support):
            expected = [address] if reader in readers else []
            assert found_by(reader, f"case:{number}").get("Cases", []) == expected
    assert events("data.accessed")[-1]["data"]["players"] == [f"player:{player.pk}"]
    named = compliance.get(reverse("staff_events"), {"on": f"case:{funds}"}).text
    assert f'href="{reverse("staff_case", args=[funds])}"' in named


def test_a_name_with_a_wrong_letter_is_found_and_the_access_is_recorded() -> None:
    player = a_verified_player()
    family_name = Submission.objects.get(player=player).family_name
    support = as_role("support")
    assert "Players" not in found_by(support, f"{family_name[:2]}qqq{family_name[3:]}")
    found = found_by(support, f"{family_name[:2]}q{family_name[3:]}")
    assert found["Players"] == [reverse("staff_player", args=[player.pk])]
    assert events("data.accessed")[-1]["data"]["players"] == [f"player:{player.pk}"]


@pytest.mark.parametrize("mistaken", ["lindgvist", "lindvist", "linddqvist", "lidnqvist", "xlindqvist"])
def test_one_letter_may_be_wrong_missing_added_or_swapped(mistaken: str) -> None:
    assert "lindqvist" in one_mistake_from(mistaken)


def test_without_scripts_the_results_are_a_page_and_with_them_a_fragment() -> None:
    reader = as_role("support")
    page = reader.get(reverse("staff_search"), {"q": "Handbook"}).text
    assert "<h1>Search: Handbook</h1>" in page
    fragment = reader.get(reverse("staff_search"), {"q": "Handbook"}, headers={"HX-Request": "true"}).text
    assert "<h1>" not in fragment
    assert f'href="{reverse("staff_handbook")}"' in fragment


def recorded() -> list[list[str]]:
    return [event["data"]["players"] for event in events("data.accessed", on="page:staff_search")]


def test_typing_records_each_player_once_a_minute_for_each_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = a_verified_player(), a_verified_player()
    address = reverse("staff_search")

    def pause(reader: Client, typed: object, **headers: str) -> None:
        assert "staff/players/" in reader.get(address, {"q": str(typed)}, headers=headers).text

    typing, reader, second = {"HX-Request": "true"}, as_role("support"), as_role("compliance")
    for typed in (one.pk, f"player:{one.pk}", one.user.email[:-2], one.user.email):
        pause(reader, typed, **typing)
    assert recorded() == [[str(one)]]
    family_name = Submission.objects.get(player=one).family_name
    pause(reader, family_name, **typing)  # both have it
    assert recorded() == [[str(one)], [str(other)]]
    pause(second, one.pk, **typing)
    assert recorded()[2:] == [[str(one)]]
    pause(reader, one.pk)  # the page, not the field
    assert recorded()[3:] == [[str(one)]]
    monkeypatch.setattr(access_log, "TYPING", timedelta(0))  # the minute is over
    pause(reader, one.pk, **typing)
    assert recorded()[4:] == [[str(one)]]
