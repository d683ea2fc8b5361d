"""Closing an account: play and deposits end at once, the balance is paid out, then log-in is
impossible.
"""

import time
from typing import Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from accounts import closing
from accounts.tasks import finish_closing
from audit import approvals
from games.errors import NotEligible
from players.account import closures
from players.models import ClosureState, Mail, Player
from players.protection import eligibility
from tests.builders import PASSWORD, a_golden_table, a_player, a_purse, a_round, a_seat, a_table, a_verified_player
from tests.harness.sweeps import sweep
from tests.people import a_member_of_staff, a_visitor, events, log_in
from tests.players.test_sessions import a_browser, session_of
from tests.wallet.at_the_bank import a_payment, call_back, statement
from tests.wallet.payout_builders import IBAN, a_withdrawal, an_account, approve
from wallet import withdrawals
from wallet.invariants import verify
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode, OrderState, Payment, PaymentState, Withdrawal, WithdrawalStatus
from wallet.payments import held_deposits, notifications
from wallet.payments.held_deposits import Action

pytestmark = pytest.mark.django_db

CLOSE = "/en/account/close/"
MONEY = 100_000


def send(visitor: Client, **data: str) -> Any:
    """Send the form of the page with some values changed."""
    key = visitor.get(CLOSE).context["form"]["key"].value()
    good = {"key": key, "password": PASSWORD, "sure": "on", "account": "new", "iban": IBAN, "mine": "on"}
    return visitor.post(CLOSE, {name: value for name, value in (good | data).items() if value})


@pytest.fixture
def rich() -> Player:
    """A player with money, a password and a verified identity."""
    player = a_verified_player(real=MONEY)
    player.user.set_password(PASSWORD)
    player.user.save()
    return player


def shown_again(visitor: Client, passkey: Authenticator, *, seconds_ago: int = 0) -> None:
    """Let the session remember a passkey as allauth does after a repeated check."""
    session = visitor.session
    session["account_authentication_methods_user"] = str(passkey.user_id)
    session["account_authentication_methods"] = [
        {
            "method": "mfa",
            "at": time.time() - seconds_ago,
            "id": passkey.pk,
            "type": "webauthn",
            "reauthenticated": True,
        }
    ]
    session.save()


def pay_out() -> None:
    """Approve and pay the single withdrawal."""
    withdrawal = approve(Withdrawal.objects.get())
    withdrawals.send(withdrawal.pk, provider="test")
    withdrawals.pay(Withdrawal.objects.get(), provider="test", number="1")


def closed_before_the_bank_approves(player: Player) -> Player:
    """Close an account with an expired deposit that the bank approves afterwards; two people credit it."""
    payment = a_payment(player)
    notifications.close(payment, PaymentState.EXPIRED, because="nobody decided")
    closing.close(player=player, account=None, key=uuid4(), ip="10.0.0.1")
    assert closures.state_of(player) is ClosureState.CLOSED
    assert call_back(statement(payment)) == 200
    assert accounts.balance(player.pk, Mode.REAL) == 0
    first, second = a_member_of_staff("finance"), a_member_of_staff("compliance")
    asked = held_deposits.ask(payment.pk, action=Action.CREDIT, reference="", reason="it is theirs", by=first)
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(second), person=second.person, reason="so", may=second.user.has_perm
    )
    assert accounts.balance(player.pk, Mode.REAL) == 50_000
    return player


class TestWithoutMoney:
    def test_closes_at_once(self):
        player = a_player(password=PASSWORD)
        visitor, other = a_browser(player.user), a_browser(player.user)
        page = send(visitor)
        assert page["Location"] == "/en/"
        assert "Your account is closed" in visitor.get("/en/").text
        assert other.get("/en/cashier/").status_code == 302
        assert closures.state_of(player) is ClosureState.CLOSED
        again = log_in(a_visitor(), player.user, PASSWORD)
        assert again.status_code == 403
        assert "This account is closed" in again.text

    def test_gli19_2_8_5_is_on_record_and_mailed(self):
        player = a_player(password=PASSWORD)
        send(a_browser(player.user))
        for kind in ("account.closing", "account.closed"):
            (event,) = events(kind)
            assert event["on"] == str(player)
        assert closures.state_of(player) is ClosureState.CLOSED
        assert closures.state_of(a_player()) is None
        assert [event["data"]["why"] for event in events("session.ended")] == ["account closed"]
        assert Mail.objects.filter(user=player.user, template="account_closed").count() == 1

    @pytest.mark.sweep
    def test_takes_second_factors_with_it(self):
        player = a_player(password=PASSWORD)
        Authenticator.objects.create(user=player.user, type=Authenticator.Type.RECOVERY_CODES, data={})
        send(a_browser(player.user))
        assert not Authenticator.objects.filter(user=player.user).exists()


class TestWithMoney:
    def test_pays_out_everything_including_the_purse_and_then_closes(self, rich):
        a_golden_table()
        a_purse(rich, 30_000)
        visitor = a_browser(rich.user)
        assert "1,000.00" in visitor.get(CLOSE).text
        assert send(visitor)["Location"] == CLOSE
        withdrawal = Withdrawal.objects.get(player=rich)
        assert withdrawal.amount == MONEY
        assert accounts.balance(rich.pk, Mode.REAL) == 0
        assert accounts.balance(rich.pk, Mode.REAL, AccountKind.PURSE) == 0
        finish_closing()
        assert closures.state_of(rich) is ClosureState.CLOSING
        session = session_of(visitor)
        pay_out()
        finish_closing()
        assert closures.state_of(rich) is ClosureState.CLOSED
        session.refresh_from_db()
        assert session.why == "account closed"
        assert not [check.invariant.name for check in verify.run() if check.rows]

    def test_play_and_deposits_end_at_once(self, rich):
        table = a_table()
        seat = a_seat(rich, table, player=1000)
        visitor = a_browser(rich.user)
        send(visitor)
        with pytest.raises(NotEligible):
            a_round(rich, table, Mode.FREE, player=1000)
        assert seat.slip
        for ineligibility in (eligibility.check_play(rich, real=True), eligibility.check_deposit(rich)):
            assert ineligibility is not None
            assert ineligibility.code is eligibility.Code.CLOSING
        assert visitor.get("/en/history/").status_code == 200
        assert visitor.get("/en/cashier/withdraw/").status_code == 200

    @pytest.mark.sweep
    def test_returned_money_can_be_withdrawn_again(self, rich):
        visitor = a_browser(rich.user)
        send(visitor)
        withdrawal = Withdrawal.objects.get()
        withdrawals.refuse(withdrawal_id=withdrawal.pk, by="staff:1", code="details", note="")
        finish_closing()
        assert closures.state_of(rich) is ClosureState.CLOSING
        assert "is back in your account. Withdraw it so that" in visitor.get(CLOSE).text

    def test_asks_first_who_somebody_is(self):
        player = a_player(real=MONEY, password=PASSWORD)
        answer = send(a_browser(player.user))
        assert answer.status_code == 200
        assert answer.context["form"].non_field_errors()
        assert closures.state_of(player) is None


class TestWithADepositAtTheBank:
    """A closed account has no log-in, so pending deposits must end first."""

    @pytest.fixture
    def depositing(self, rich: Player) -> Player:
        """A player without money whose deposit the bank has not decided."""
        withdrawals.request(player=rich, amount=MONEY, account=an_account(rich), key=uuid4())
        pay_out()
        a_payment(rich)
        closing.close(player=rich, account=None, key=uuid4(), ip="10.0.0.1")
        return rich

    def test_waits_for_it_and_the_money_can_be_withdrawn(self, depositing):
        finish_closing()
        assert closures.state_of(depositing) is ClosureState.CLOSING
        assert call_back(statement(Payment.objects.get())) == 200
        finish_closing()
        assert closures.state_of(depositing) is ClosureState.CLOSING
        assert accounts.balance(depositing.pk, Mode.REAL) == 50_000
        assert a_withdrawal(depositing, 50_000).amount == 50_000

    @pytest.mark.sweep
    def test_closes_when_the_bank_has_declined_it(self, depositing):
        call_back(statement(Payment.objects.get(), OrderState.DECLINED))
        finish_closing()
        assert closures.state_of(depositing) is ClosureState.CLOSED


class TestMoneyThatComesAfterwards:
    """A bank approves an abandoned deposit after the account is closed."""

    @pytest.fixture
    def paid_before(self, rich) -> Player:
        a_withdrawal(rich, MONEY)
        pay_out()
        return closed_before_the_bank_approves(rich)

    @pytest.fixture
    def never_paid(self) -> Player:
        player = a_verified_player()
        player.user.set_password(PASSWORD)
        player.user.save()
        return closed_before_the_bank_approves(player)

    @pytest.mark.sweep
    def test_is_paid_to_where_the_player_was_paid_last(self, paid_before):
        player = paid_before
        for _ in range(2):
            finish_closing()
        first, second = Withdrawal.objects.filter(player=player).order_by("pk")
        assert (second.amount, second.account, second.status) == (50_000, first.account, WithdrawalStatus.REQUESTED)
        assert accounts.balance(player.pk, Mode.REAL) == 0
        assert Mail.objects.filter(user=player.user, template="withdrawal_requested").count() == 2
        assert log_in(a_visitor(), player.user, PASSWORD).status_code == 403
        assert not any(check.rows for check in verify.run())

    @pytest.mark.sweep
    def test_lets_its_owner_in_where_that_payment_comes_back(self, paid_before):
        player = paid_before
        finish_closing()
        second = approve(Withdrawal.objects.latest("pk"))
        withdrawals.send(second.pk, provider="test")
        withdrawals.take_back(Withdrawal.objects.get(pk=second.pk), provider="test", code="account_closed")
        for _ in range(2):
            finish_closing()
        assert Withdrawal.objects.filter(player=player).count() == 2
        assert log_in(a_visitor(), player.user, PASSWORD).status_code == 302

    def test_lets_its_owner_in_to_withdraw_and_closes_again(self, never_paid):
        player = never_paid
        for _ in range(2):
            finish_closing()
        assert len(events("account.let_in", on=str(player))) == 1
        assert Mail.objects.filter(user=player.user, template="account_let_in").count() == 1
        visitor = a_visitor()
        assert log_in(visitor, player.user, PASSWORD).status_code == 302
        assert "withdraw" in visitor.get("/en/cashier/").text
        assert 'id="close-account"' not in visitor.get(CLOSE).text
        ineligibility = eligibility.check_deposit(player)
        assert ineligibility is not None
        assert ineligibility.code is eligibility.Code.CLOSING
        a_withdrawal(player)
        pay_out()
        finish_closing()
        assert log_in(a_visitor(), player.user, PASSWORD).status_code == 403
        assert len(events("account.closed", on=str(player))) == 2


class TestIsRefused:
    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("field", "value"),
        sweep(
            [("password", "wrong"), ("password", ""), ("sure", ""), ("mine", ""), ("iban", "SE00")],
            always=[("password", "wrong")],
        ),
    )
    def test_where_something_is_missing_or_wrong(self, rich, field, value):
        answer = send(a_browser(rich.user), **{field: value})
        assert field in answer.context["form"].errors
        assert closures.state_of(rich) is None
        assert accounts.balance(rich.pk, Mode.REAL) == MONEY

    @pytest.mark.sweep
    def test_without_the_code_of_an_authenticator_app(self, rich):
        Authenticator.objects.create(user=rich.user, type=Authenticator.Type.TOTP, data={"secret": "x"})
        answer = send(a_browser(rich.user))
        assert "code" in answer.context["form"].errors
        assert closures.state_of(rich) is None

    def test_without_the_passkey_that_is_the_second_factor(self, rich):
        """tests/browser/test_second_factor.py shows it in Chromium."""
        passkey = Authenticator.objects.create(user=rich.user, type=Authenticator.Type.WEBAUTHN, data={})
        visitor = a_visitor()
        visitor.force_login(rich.user)
        page = visitor.get(CLOSE)
        assert 'href="/en/account/security/reauthenticate/passkey/?next=/en/account/close/"' in page.text
        assert 'id="close-account"' not in page.text
        send(visitor)
        assert visitor.get(CLOSE).context["wants_passkey"]
        assert closures.state_of(rich) is None
        shown_again(visitor, passkey)
        assert 'id="close-account"' in visitor.get(CLOSE).text
        send(visitor)
        assert closures.state_of(rich) is ClosureState.CLOSING

    def test_a_passkey_shown_too_long_ago(self, rich):
        passkey = Authenticator.objects.create(user=rich.user, type=Authenticator.Type.WEBAUTHN, data={})
        visitor = a_visitor()
        visitor.force_login(rich.user)
        shown_again(visitor, passkey, seconds_ago=301)
        assert 'id="show-passkey"' in visitor.get(CLOSE).text

    def test_twice(self, rich):
        visitor = a_browser(rich.user)
        send(visitor)
        answer = visitor.post(CLOSE, {"password": PASSWORD, "sure": "on"})
        assert answer.status_code == 200
        assert Withdrawal.objects.filter(status=WithdrawalStatus.REQUESTED).count() == 1
        assert len(events("account.closing")) == 1
