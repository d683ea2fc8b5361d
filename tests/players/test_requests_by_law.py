"""Legal requests of players for a copy or the erasure of their data, as staff handle them."""

import io
from zipfile import ZipFile

import pytest
from django.test import Client
from django.urls import reverse

from accounts import closing
from audit import approvals
from audit.models import Approval
from players.account import closures
from players.models import ClosureState
from tests.builders import a_player, a_verified_player
from tests.people import a_member_of_staff, events
from tests.wallet.payout_builders import MONEY, an_account
from wallet.models import Withdrawal

pytestmark = pytest.mark.django_db


def of(role: str) -> Client:
    desk = Client()
    desk.force_login(a_member_of_staff(role).user)
    return desk


def approve(asked: Approval) -> None:
    second = a_member_of_staff("compliance")
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(second), person=second.person, reason="so", may=second.user.has_perm
    )


def test_staff_export_what_the_player_would_get_with_a_reason_in_the_log():
    player, desk = a_player(), of("compliance")
    address = reverse("staff_player_export", args=[player.pk])
    assert desk.post(address, {"reason": " "})["Content-Type"].startswith("text/html")
    assert not events("personal.exported")
    answer = desk.post(address, {"reason": "letter of 3 May"})
    with ZipFile(io.BytesIO(answer.getvalue())) as whole:
        assert player.user.email in whole.read("profile.json").decode()
    (event,) = events("personal.exported", on=str(player))
    assert event["data"]["reason"] == "letter of 3 May"
    assert event["by"].startswith("staff:")
    assert of("support").post(address, {"reason": "curious"}).status_code == 403


def test_two_people_close_the_account_and_its_balance_is_paid_to_the_bank_account_named_last():
    player = a_verified_player(real=MONEY)
    account = an_account(player)
    desk = of("compliance")
    desk.post(reverse("staff_player_erase", args=[player.pk]), {"reason": "letter of 3 May"})
    assert closures.state_of(player) is None
    approve(Approval.objects.get(kind=closing.KIND))
    assert closures.state_of(player) is ClosureState.CLOSING
    paid = Withdrawal.objects.get(player=player)
    assert (paid.amount, paid.account) == (MONEY, account)
    (event,) = events("account.closing", on=str(player))
    assert event["by"].startswith("staff:")


def test_an_account_with_money_and_no_bank_account_stays_open():
    player = a_verified_player(real=MONEY)
    asked = closing.ask_erasure(player=player, reason="letter", by=a_member_of_staff("compliance"))
    with pytest.raises(approvals.CannotExecute):
        approve(asked)
    assert closures.state_of(player) is None


def test_an_account_without_money_is_closed_at_once_and_asked_for_once():
    player, by = a_player(), a_member_of_staff("compliance")
    approve(closing.ask_erasure(player=player, reason="letter", by=by))
    assert closures.state_of(player) is ClosureState.CLOSED
    with pytest.raises(closures.AlreadyClosing):
        closing.ask_erasure(player=player, reason="letter", by=by)
