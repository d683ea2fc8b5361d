"""The way around the back office: where the reader is, and back from one to the list it is of."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.builders import a_verified_player
from tests.people import a_member_of_staff, a_visitor
from tests.wallet.payout_builders import a_withdrawal

pytestmark = pytest.mark.django_db


def of(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def crumbs(page: str) -> list[tuple[str, str]]:
    """Return the breadcrumbs of a page: names, with their addresses."""
    bar = re.search(r'<nav class="crumbs".*?</nav>', page, re.DOTALL)
    return re.findall(r'<li>(?:<a href="([^"]*)">|<span[^>]*>)([^<]*)<', bar[0]) if bar else []


def current(page: str) -> list[tuple[str, str]]:
    """Return the marked entries of the sidebar: kind of the mark, and name."""
    menu = page.partition('<nav class="side"')[2].partition("</nav>")[0]
    return [(key, name.strip()) for key, name in re.findall(r'aria-current="(\w+)"[^>]*>([^<]*)<', menu)]


@pytest.mark.sweep
def test_a_page_of_one_leads_back_to_all() -> None:
    player = a_verified_player()
    one = ("staff_player", [player.pk])
    office = (reverse("staff_home"), "Back office")
    for (name, args), above, marked in (
        (one, [(reverse("staff_players"), "Players")], "Players"),
        (("staff_player_money", [player.pk]), [(reverse("staff_players"), "Players"), one], "Players"),
        (("staff_player_limits", [player.pk]), [(reverse("staff_players"), "Players"), one], "Players"),
        (
            ("staff_thresholds", []),
            [("", "Compliance"), (reverse("staff_significant"), "Significant events")],
            "Significant events",
        ),
    ):
        page = of("compliance").get(reverse(name, args=args)).text
        expected = [(reverse(each[0], args=each[1]), f"Player {player.pk}") if each is one else each for each in above]
        assert crumbs(page) == [office, *expected]
        assert current(page) == [("true", marked)]


@pytest.mark.sweep
def test_the_list_itself_is_the_end_of_the_trail() -> None:
    a_withdrawal(a_verified_player(real=100_000))
    page = of("finance").get(reverse("staff_withdrawals")).text
    assert crumbs(page) == [(reverse("staff_home"), "Back office"), ("", "Payments"), ("", "Withdrawals")]
    assert current(page) == [("page", "Withdrawals")]
    home = of("finance").get(reverse("staff_home")).text
    assert crumbs(home) == []
    assert current(home) == [("page", "Home")]


def test_nobody_is_led_to_a_list_that_is_not_theirs() -> None:
    page = of("administrator").get(reverse("staff_approvals")).text
    assert reverse("staff_withdrawals") not in page
    assert reverse("staff_players") not in of("supervisor").get(reverse("staff_withdrawals")).text


@pytest.mark.parametrize("address", ["/staff/ledger/", "/staff/nothing/", "/en/nothing/", "/en/history/"])
def test_the_menu_stays_where_a_page_is_refused_or_missing(address: str) -> None:
    page = of("support").get(address)
    assert page.status_code in (403, 404)
    assert f'href="{reverse("staff_service")}"' in page.text.partition('<nav class="side"')[2]
    assert '<nav class="side"' not in a_visitor().get("/en/nothing/").text


def test_the_menu_stays_where_a_form_has_expired() -> None:
    visitor = Client(enforce_csrf_checks=True)
    visitor.force_login(a_member_of_staff("support").user)
    page = visitor.post(reverse("staff_service_close", args=[1]))
    assert page.status_code == 403
    assert "This page has expired" in page.text
    assert f'href="{reverse("staff_service")}"' in page.text.partition('<nav class="side"')[2]


def test_nothing_of_the_house_is_shown_before_the_second_factor_is_set_up() -> None:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("support", factor=False).user)
    assert '<nav class="side"' not in visitor.get("/en/nothing/").text
    assert '<nav class="side"' not in visitor.get(reverse("account_security")).text


def test_a_page_and_its_frame_speak_the_language_of_the_reader() -> None:
    visitor = of("support")
    visitor.cookies["django_language"] = "sv"
    page = visitor.get(reverse("staff_service")).text
    assert '<html lang="sv">' in page
    assert "Kundtjänst</a>" in page


@pytest.mark.sweep
def test_staff_are_called_by_their_names() -> None:
    player = a_verified_player()
    reader = a_member_of_staff("compliance")
    visitor = a_visitor()
    visitor.force_login(reader.user)
    visitor.get(reverse("staff_player", args=[player.pk]))
    assert f"{reader.name} ({reader})" in visitor.get(reverse("staff_access_log")).text


@pytest.mark.sweep
def test_every_page_leads_staff_to_what_protects_their_own_account() -> None:
    for address in (reverse("staff_home"), reverse("staff_handbook"), reverse("account_security")):
        assert f'href="{reverse("account_security")}"' in of("administrator").get(address).text


@pytest.mark.sweep
def test_a_page_of_others_says_whose_it_is_and_leads_to_who_may_do_what() -> None:
    visitor = of("support")
    refused = visitor.get(reverse("staff_ledger"))
    assert refused.status_code == 403
    assert "Ledger is available to: compliance, finance." in refused.text
    assert "Your roles: support." in refused.text
    assert f'href="{reverse("staff_roles")}">Roles and pages</a>' in refused.text
    who = visitor.get(reverse("staff_roles")).text.partition("<main")[2]
    assert f'href="{reverse("staff_players")}">Players</a>' in who
    assert reverse("staff_ledger") not in who
    assert "Ledger" in who
    assert "This page is not available to staff accounts." in visitor.get("/en/history/").text
