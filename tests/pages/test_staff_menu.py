"""The way around the back office: where the reader is, and back from one to the list it is of."""

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


@pytest.mark.sweep
def test_a_page_of_one_leads_back_to_all() -> None:
    player = a_verified_player()
    for address, name, back in (
        (reverse("staff_player", args=[player.pk]), "Players", "staff_players"),
        (reverse("staff_player_money", args=[player.pk]), "Players", "staff_players"),
        (reverse("staff_player_limits", args=[player.pk]), "Players", "staff_players"),
        (reverse("staff_thresholds"), "Significant events", "staff_significant"),
    ):
        page = of("compliance").get(address).text
        assert f'<p class="trail"><a class="link" href="{reverse(back)}">← {name}</a></p>' in page
        assert page.count('class="staff-menu__current"') == 1


@pytest.mark.sweep
def test_the_list_itself_leads_nowhere_back() -> None:
    a_withdrawal(a_verified_player(real=100_000))
    page = of("finance").get(reverse("staff_withdrawals")).text
    assert 'class="trail"' not in page
    assert 'aria-current="page">Withdrawals</a>' in page
    assert page.count('class="staff-menu__current"') == 1
    home = of("finance").get(reverse("staff_home")).text
    assert "trail" not in home
    assert "staff-menu__current" not in home


def test_nobody_is_led_to_a_list_that_is_not_theirs() -> None:
    page = of("administrator").get(reverse("staff_approvals")).text
    assert "trail" not in page
    visitor = of("supervisor")
    assert reverse("staff_players") not in visitor.get(reverse("staff_withdrawals")).text


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
    assert "Your account has the role support." in refused.text
    assert f'href="{reverse("staff_home")}#role-pages"' in refused.text
    who = visitor.get(reverse("staff_home")).text.partition('id="role-pages"')[2]
    assert f'href="{reverse("staff_players")}">Players</a>' in who
    assert reverse("staff_ledger") not in who
    assert "Ledger" in who
    assert "This page is not available to staff accounts." in visitor.get("/en/history/").text
