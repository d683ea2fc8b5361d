"""Forms with ids of other players' rows.

Addresses with such ids are tested by `tests/pages/test_matrix.py` and `tests/api/test_matrix.py`,
as another player who is logged in.
"""

from typing import Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from games import chat
from games.models import ChatBlock
from games.shared.seats import seat_at
from players.models import Session
from tests.builders import a_player, a_verified_player
from tests.live.at_table import a_live_table
from tests.live.talk import a_talker, say
from tests.matrix import INSIDE, LINES, NOT_FOUND, PAGE, TEXT
from tests.people import a_visitor
from tests.wallet.payout_builders import IBAN, a_withdrawal, an_account
from wallet.models import Mode, Withdrawal, WithdrawalStatus

pytestmark = pytest.mark.django_db


def visitor_as(player: Any) -> Client:
    """Return a browser in which a player is logged in."""
    visitor = a_visitor()
    visitor.force_login(player.user)
    return visitor


def address(name: str, **arguments: object) -> str:
    with override("en"):
        return reverse(name, kwargs=arguments)


class TestMoney:
    def test_nobody_takes_back_the_withdrawal_of_another(self):
        owner, thief = a_verified_player(real=100_000), a_verified_player(real=100_000)
        asked = a_withdrawal(owner)
        visitor_as(thief).post(address("cashier_withdraw_cancel"), {"withdrawal": asked.pk})
        assert Withdrawal.objects.get(pk=asked.pk).status == WithdrawalStatus.REQUESTED
        visitor_as(owner).post(address("cashier_withdraw_cancel"), {"withdrawal": asked.pk})
        assert Withdrawal.objects.get(pk=asked.pk).status == WithdrawalStatus.CANCELLED  # it could be

    def test_nobody_is_paid_to_an_account_by_the_number_of_anothers(self):
        owner, thief = a_verified_player(real=100_000), a_verified_player(real=100_000)
        kept = an_account(owner, IBAN)
        form = {"amount": "500", "account": kept.pk, "mine": "on", "key": uuid4()}
        answer = visitor_as(thief).post(address("cashier_withdraw"), form)
        assert answer.status_code == 200
        assert not Withdrawal.objects.filter(player=thief).exists()
        visitor_as(owner).post(address("cashier_withdraw"), form | {"key": uuid4()})
        assert Withdrawal.objects.filter(player=owner, account=kept).exists()  # it could be


class TestLogIns:
    def test_nobody_ends_the_session_of_another(self):
        owner = a_player()
        visitor = visitor_as(owner)
        visitor.get("/en/cashier/")
        session = Session.objects.get(user=owner.user)
        visitor_as(a_player()).post(address("account_session_end", session=session.pk))
        session.refresh_from_db()
        assert session.ended_at is None
        assert visitor.get("/en/account/").status_code == 200

    def test_nobody_touches_the_pass_key_of_another(self):
        owner, thief = a_player(), a_player()
        key = Authenticator.objects.create(
            user=owner.user, type=Authenticator.Type.WEBAUTHN, data={"name": "Phone", "credential": {}}
        )
        for name, form in (("mfa_edit_webauthn", {"name": "Mine"}), ("mfa_remove_webauthn", {})):
            visitor = visitor_as(thief)
            session = visitor.session
            session["account_authentication_methods"] = [
                {"method": "password", "at": 9_999_999_999, "reauthenticated": True}
            ]
            session.save()
            assert visitor.post(address(name, pk=key.pk), form).status_code in (302, 404)
        assert Authenticator.objects.get(pk=key.pk).data["name"] == "Phone"


class TestTheChat:
    def test_nobody_lifts_what_another_has_blocked(self):
        live_table = a_live_table()
        owner, thief = a_talker(), a_talker()
        for player in (owner, thief):
            seat_at(player, live_table)
        rude = say(live_table)
        chat.block(player=owner, live_table=live_table, number=rude.pk)
        block = ChatBlock.objects.get()
        unblock = address("live_chat_unblock", slug=live_table.table.slug, mode=Mode.REAL)
        visitor_as(thief).post(unblock, {"block": block.pk})
        assert ChatBlock.objects.filter(pk=block.pk).exists()
        visitor_as(owner).post(unblock, {"block": block.pk})
        assert not ChatBlock.objects.exists()  # it could be


# Addresses whose arguments are the same for everybody, or do not identify an owner.
EVERYBODYS = {
    "slug",
    "mode",
    "name",
    "positions",
    "shoe_id",
    "code",
    "provider",
    "order",
}
# An id of something that may be anybody's, for another reason.
MAY_BE = {
    "live_chat_message": "what was said at a table, to all who sit there",
    "live_chat_report": "the same",
    "live_chat_block": "the same",
    "session_status": "a session's own secret number",
    "session_stay": "the same",
    "account_session_end": "tried above",
    "mfa_edit_webauthn": "tried above",
    "mfa_remove_webauthn": "tried above",
    "pay_return": "a payment's own secret token; it brings no news",
    "felt_sheet": "the style sheet of a game, the same for everybody",
}


def test_every_address_with_an_id_is_closed_to_the_other_player(house):
    open_to_others = {
        line.name
        for line in LINES
        if set(line.arguments(house)) - EVERYBODYS
        and line.answers["other_player"] in (PAGE, TEXT, INSIDE)
        and not line.name.startswith("staff_")
    }
    assert open_to_others == set(MAY_BE)
    closed = {line.name for line in LINES if line.answers["player"] is not line.answers["other_player"] is NOT_FOUND}
    assert len(closed) >= 9
