"""Compares the operator's accounts with our ledger."""

from django.db.models import Sum

from tests.operator_wallet import MONEY, Operator
from wallet.invariants import verify
from wallet.models import Account, AccountKind, Entry, MessageState, Mode, OperatorMessage

STAKE = 5_000


def agreed(*every: Operator) -> None:
    """Check that the accounts of all operators agree with our ledger.

    No message may be pending, and no money of the players may be left here.
    """
    assert not [each for each in verify.run() if each.rows]
    theirs = Account.objects.filter(owner__uses_operator_wallet=True, mode=Mode.REAL)
    assert not theirs.exclude(balance=0).exists()
    booked = Entry.objects.filter(account__kind=AccountKind.OPERATOR).aggregate(total=Sum("amount"))["total"] or 0
    there = [balance - MONEY for operator in every for balance in operator.host.balances.values()]
    assert sum(there) == booked
    assert not OperatorMessage.objects.filter(state=MessageState.WAITING).exists()
