"""Each field for staff texts about a player says correctly whether the player can read them."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.test import Client
from django.urls import reverse

from audit import approvals
from games.models import ChatMessage, ChatName
from players.identity import duplicates
from players.login import locks
from players.models import Exclusion, Ground, Player
from players.protection import exclusions
from players.staff import STAFF_ONLY, VISIBLE_ONCE_DONE, VISIBLE_TO_PLAYER
from tests.builders import a_player, a_verified_player
from tests.casino.test_personal_data import export
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table
from tests.live.talk import say
from tests.people import a_member_of_staff, a_visitor
from tests.wallet.adjusting import decide
from tests.wallet.payout_builders import a_withdrawal
from wallet.models import Withdrawal

pytestmark = pytest.mark.django_db

WORDS = "zebra at the back door"


def at(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def reads(player: Player) -> bool:
    """Return whether the player's export contains the text."""
    return any(WORDS.encode() in file for file in export(player).values())


def locked(player: Player) -> None:
    locks.lock(player=player, reason="before", by=a_member_of_staff("support"))


def excluded(player: Player) -> None:
    exclusions.exclude(player=player, days=3, reason="before", by=a_member_of_staff("support"))


def a_talk(player: Player) -> None:
    ChatName.objects.create(player=player, name="Anna")
    say(a_live_table(), by=player)


def said_by(player: Player) -> ChatMessage:
    return ChatMessage.objects.get(player=player)


@dataclass(frozen=True)
class Action:
    """A form with a reason: its page, and what is sent where."""

    page: Callable[[Player], str]
    form: Callable[[Player], dict[str, str]]
    before: Callable[[Player], object] = lambda _: None
    to: Callable[[Player], str] | None = None
    role: str = "compliance"


def of(name: str) -> Callable[[Player], str]:
    return lambda player: reverse(name, args=[player.pk])


ACTIONS = {
    "lock": Action(of("staff_player_lock"), lambda _: {"reason": WORDS}),
    "open": Action(of("staff_player_unlock"), lambda _: {"reason": WORDS}, locked),
    "pause": Action(of("staff_player_pause"), lambda _: {"reason": WORDS}),
    "exclude": Action(
        lambda player: f"{reverse('staff_exclusions')}?player={player.pk}",
        lambda player: {"player": str(player.pk), "reason": WORDS},
    ),
    "limit": Action(
        of("staff_player_limits"),
        lambda _: {
            "loss-kind": "loss",
            "loss-day": "20",
            "loss-week": "",
            "loss-month": "",
            "loss-reason": WORDS,
        },
    ),
    "refuse a withdrawal": Action(
        lambda player: reverse("staff_withdrawal", args=[Withdrawal.objects.get(player=player).pk]),
        lambda _: {"action": "refuse", "code": "details", "reason": WORDS},
        lambda player: a_withdrawal(player, 20_000),
        lambda player: reverse("staff_withdrawal_decide", args=[Withdrawal.objects.get(player=player).pk]),
        "finance",
    ),
    "remove a message in the chat": Action(
        lambda player: reverse("staff_chat_message", args=[said_by(player).pk]),
        lambda _: {"decision": "removed", "sure": "on", "grounds": "abuse", "note": WORDS},
        a_talk,
        lambda player: reverse("staff_chat_decide", args=[said_by(player).pk]),
        "support",
    ),
    "keep from writing in the chat": Action(
        lambda player: reverse("staff_chat_message", args=[said_by(player).pk]),
        lambda _: {"length": "day", "grounds": "abuse", "note": WORDS},
        a_talk,
        of("staff_chat_ban"),
        "support",
    ),
    "take a name in the chat": Action(
        of("staff_player"),
        lambda player: {"name": said_by(player).name, "grounds": "abuse", "note": WORDS},
        a_talk,
        of("staff_chat_name"),
        "support",
    ),
    "approve a withdrawal": Action(
        lambda player: reverse("staff_withdrawal", args=[Withdrawal.objects.get(player=player).pk]),
        lambda _: {"action": "approve", "reason": WORDS},
        lambda player: a_withdrawal(player, 20_000),
        lambda player: reverse("staff_withdrawal_decide", args=[Withdrawal.objects.get(player=player).pk]),
        "finance",
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize("action", sample(ACTIONS.values(), 1), ids=ACTIONS)
def test_the_field_says_what_the_player_can_read(action: Action) -> None:
    player = a_verified_player("SE", real=100_000)
    action.before(player)
    staff = at(action.role)
    assert str(VISIBLE_TO_PLAYER) in staff.get(action.page(player)).content.decode()
    staff.post((action.to or action.page)(player), action.form(player))
    assert reads(player)


@pytest.mark.sweep
@pytest.mark.parametrize("yes", sample([True, False], 1))
def test_the_reason_of_an_adjustment_is_read_once_it_is_done(yes: bool) -> None:
    player = a_player("SE", real=100_000)
    support, page = at("support"), reverse("staff_player_adjust", args=[player.pk])
    assert str(VISIBLE_ONCE_DONE) in support.get(page).content.decode()
    support.post(page, {"mode": "R", "way": "up", "amount": "5.00", "why": "round", "reason": WORDS})
    assert not reads(player)
    decide(approvals.waiting().get(kind="balance.adjust"), yes=yes)
    assert reads(player) is yes


@pytest.mark.parametrize("yes", sample([True, False], 1))
def test_the_reason_for_lifting_an_exclusion_is_read_once_it_is_done(yes: bool) -> None:
    player = a_player("SE")
    excluded(player)
    support = at("support")
    assert str(VISIBLE_ONCE_DONE) in support.get(reverse("staff_exclusions")).content.decode()
    support.post(reverse("staff_exclusion_lift", args=[Exclusion.objects.get().pk]), {"reason": WORDS})
    assert not reads(player)
    decide(approvals.waiting().get(kind="exclusion.lift"), yes=yes, by=a_member_of_staff("compliance"))
    assert reads(player) is yes


@pytest.mark.sweep
def test_neither_player_learns_how_staff_found_the_duplicate() -> None:
    one, other = a_player("SE"), a_player("SE")
    for player in (one, other):
        duplicates.note(player=player, ground=Ground.PAYOUT, value="SAME1234")
    (pair,) = duplicates.pairs_of(one)
    desk = at("compliance")
    page = reverse("staff_duplicate", args=[pair.first.pk, pair.second.pk])
    assert str(STAFF_ONLY) in desk.get(page).text
    desk.post(page, {"resolution": "different", "note": WORDS, "shown": [flag.pk for flag in pair.open]})
    assert not duplicates.waiting()
    assert not reads(one)
    assert not reads(other)
