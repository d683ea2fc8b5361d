"""Withdrawals for tests, in each state."""

from uuid import uuid4

from django.db import transaction

from players.models import Player
from tests.people import a_member_of_staff
from wallet import withdrawals
from wallet.models import PayoutAccount, Withdrawal
from wallet.payouts import accounts

IBAN = "SE4550000000058398257466"
MONEY = 100_000


def an_account(player: Player, iban: str = "") -> PayoutAccount:
    """Return a bank account of the player, which no other player has unless *iban* says so."""
    return accounts.keep(player=player, iban=iban or f"{IBAN[:10]}{player.pk:08}{IBAN[18:]}")


def a_withdrawal(player: Player, amount: int = 50_000, *, iban: str = "") -> Withdrawal:
    """Return a withdrawal that waits for staff."""
    return withdrawals.request(player=player, amount=amount, account=an_account(player, iban), key=uuid4())


def approve(withdrawal: Withdrawal, staff=None) -> Withdrawal:
    """Approve by one person, or by the first of two."""
    staff = staff or a_member_of_staff("finance")
    return withdrawals.approve(withdrawal_id=withdrawal.pk, by=str(staff), person=staff.person, reason="all in order")


def in_the_banks_hands(withdrawal: Withdrawal) -> Withdrawal:
    """Return a withdrawal approved by one person and sent to the bank."""
    approve(withdrawal)
    withdrawals.send(withdrawal.pk, provider="test")
    withdrawal.refresh_from_db()
    return withdrawal


def paid(withdrawal: Withdrawal) -> Withdrawal:
    """Return a withdrawal that the bank has paid."""
    sent = in_the_banks_hands(withdrawal)
    with transaction.atomic():
        withdrawals.pay(sent, provider="test", number=f"N{sent.pk}")
    return sent


def returned(withdrawal: Withdrawal, code: str = "account_closed") -> Withdrawal:
    """Return a withdrawal that the bank has returned."""
    sent = in_the_banks_hands(withdrawal)
    with transaction.atomic():
        withdrawals.take_back(sent, provider="test", code=code)
    return sent
