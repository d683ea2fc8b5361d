"""Actions of staff on a player: each with a reason and a permission, and typed input is kept."""

from datetime import timedelta

import pytest
from django.urls import reverse

from audit import approvals
from players import staff
from players.login import locks
from players.protection import exclusions
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor
from tests.staff_lists import open_tasks
from wallet.ledger.accounts import balance
from wallet.models import Mode

pytestmark = pytest.mark.django_db


@pytest.fixture
def player():
    return a_player("SE", real=10_000)


def at(role):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def page(name, player):
    return reverse(name, args=[player.pk])


def adjustment(**changes):
    return {"mode": "R", "way": "down", "amount": "20.00", "why": "round", "reason": "ticket 12"} | changes


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("role", "actions"),
    sample(
        [
            ("compliance", ["lock", "pause", "exclusions", "limits", "adjust"]),
            ("support", ["lock", "pause", "exclusions", "limits", "adjust"]),
            ("finance", []),
        ],
        1,
    ),
)
def test_the_player_s_page_offers_what_the_role_may_do_and_nothing_else(player, role, actions):
    shown = at(role).get(page("staff_player", player)).content.decode()
    ways = {
        "lock": page("staff_player_lock", player),
        "pause": page("staff_player_pause", player),
        "exclusions": f"{reverse('staff_exclusions')}?player={player.pk}",
        "limits": page("staff_player_limits", player),
        "adjust": page("staff_player_adjust", player),
    }
    panel = shown[shown.index('id="possible-actions"') :] if 'id="possible-actions"' in shown else ""
    panel = panel[: panel.index("</section>")] if panel else ""
    assert [action for action, way in ways.items() if f'href="{way}"' in panel] == actions


def test_locking_and_opening_take_a_reason(player):
    support = at("support")
    assert "Enter a reason" in support.post(page("staff_player_lock", player), {"reason": " "}).content.decode()
    assert locks.lock_of(player) is None
    support.post(page("staff_player_lock", player), {"reason": "stolen card"})
    lock = locks.lock_of(player)
    assert lock
    assert lock.reason == "stolen card"
    assert "stolen card" in support.get(page("staff_player", player)).content.decode()
    support.post(page("staff_player_unlock", player), {"reason": "found"})
    assert locks.lock_of(player) is None


@pytest.mark.sweep
def test_a_pause_by_staff_says_why_and_lasts_the_hours_of_the_law(player):
    at("support").post(page("staff_player_pause", player), {"reason": "asked by telephone"})
    exclusion = exclusions.in_force(player)
    assert exclusion
    assert exclusion.until
    assert (exclusion.kind, exclusion.reason) == ("pause", "asked by telephone")
    assert exclusion.until - exclusion.begun == timedelta(hours=player.jurisdiction.pause_hours)
    named = staff.called()[exclusion.by]
    assert f", by {named}." in at("support").get(page("staff_player", player)).content.decode()


def test_asking_for_an_adjustment_moves_nothing_until_another_person_agrees(player):
    at("support").post(page("staff_player_adjust", player), adjustment())
    (asked,) = approvals.waiting().filter(kind="balance.adjust")
    assert balance(player.pk, Mode.REAL) == 10_000
    finance = at("finance")
    assert "Take SEK" in finance.get(reverse("staff_approvals")).content.decode()
    finance.post(reverse("staff_approval_decide", args=[asked.pk]), {"yes": "1", "reason": "looked"})
    assert balance(player.pk, Mode.REAL) == 8_000


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"amount": "1000.00"}, "available, less than the amount to deduct"),
        ({"amount": "a lot"}, "This is not a valid amount."),
        ({"why": ""}, "Choose the text that is shown to the player."),
        ({"reason": ""}, "Enter a reason"),
    ],
)
def test_an_invalid_request_is_reported_at_its_field(player, typed, message):
    answer = at("support").post(page("staff_player_adjust", player), adjustment(**typed))
    shown = answer.content.decode()
    assert message in shown
    assert typed.get("amount", "20.00") in shown
    assert not approvals.waiting().exists()


def test_a_second_request_for_the_same_player_is_refused_and_what_was_typed_stays(player):
    support = at("support")
    support.post(page("staff_player_adjust", player), adjustment())
    shown = support.post(page("staff_player_adjust", player), adjustment(amount="33.00")).content.decode()
    assert "The same request is already pending" in shown
    assert "33.00" in shown
    assert approvals.waiting().count() == 1


@pytest.mark.sweep
def test_what_is_so_already_is_not_asked_for_again(player):
    support = at("support")
    lock, unlock = page("staff_player_lock", player), page("staff_player_unlock", player)
    for here, there in ((lock, unlock), (unlock, lock)):
        shown = support.get(there).content.decode()
        assert "<textarea" not in shown
        assert f'href="{here}"' in shown
        assert "<textarea" in support.get(here).content.decode()
        support.post(here, {"reason": "for a test"})


@pytest.mark.sweep
def test_what_is_locked_is_not_said_to_play(player):
    support = at("support")
    support.post(page("staff_player_lock", player), {"reason": "stolen card"})
    shown = support.get(page("staff_player", player)).content.decode()
    assert "No restrictions." not in shown
    assert "Unlock account" in shown
    locked = locks.lock_of(player)
    assert locked
    assert f"by {locked.by.name} (staff:{locked.by_id}): stolen card" in shown
    again = support.post(page("staff_player_lock", player), {"reason": "twice"}, follow=True).content.decode()
    assert "This account is already locked." in again


@pytest.mark.sweep
def test_a_request_has_a_page_with_what_is_frozen_who_asked_and_how_it_ended(player):
    at("support").post(page("staff_player_adjust", player), adjustment())
    (asked,) = approvals.waiting().filter(kind="balance.adjust")
    here, finance = reverse("staff_approval", args=[asked.pk]), at("finance")
    shown = finance.get(here).content.decode()
    assert bytes(asked.sha256).hex() in shown
    assert "ticket 12" in shown
    refused = finance.post(reverse("staff_approval_decide", args=[asked.pk]), {"yes": "0", "reason": " "})
    assert "Enter a reason" in refused.content.decode()
    finance.post(reverse("staff_approval_decide", args=[asked.pk]), {"yes": "0", "reason": "no such round"})
    assert "no such round" in finance.get(here).content.decode()
    assert at("support").get(here).status_code == 403  # support may decide nothing of this kind


@pytest.mark.sweep
def test_ended_ones_are_found_by_kind_result_and_subject(player):
    at("support").post(page("staff_player_adjust", player), adjustment())
    (asked,) = approvals.waiting().filter(kind="balance.adjust")
    finance = at("finance")
    finance.post(reverse("staff_approval_decide", args=[asked.pk]), {"yes": "0", "reason": "no such round"})
    for asking, is_found in (
        (f"on=player:{player.pk}", True),
        ("kind=balance.adjust&verdict=refused", True),
        ("verdict=approved", False),
        ("on=player:0", False),
        (f"before={asked.decision.at:%Y-%m-%dT%H:%M:%S.%f}%2B00:00~{asked.pk}", False),
    ):
        shown = finance.get(f"{reverse('staff_approvals')}?{asking}").content.decode()
        assert ("no such round" in shown) == is_found, asking


@pytest.mark.sweep
def test_a_decider_sees_on_every_way_in_that_something_waits_and_who_asked_does_not(player):
    at("support").post(page("staff_player_adjust", player), adjustment())
    assert open_tasks(at("finance"))["Requests to approve"] == 1
    assert "Requests to approve" not in open_tasks(at("support"))
