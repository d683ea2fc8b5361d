"""Two books of the same money: the operator's and ours."""

from django.db.models import Sum

from tests.remote import MONEY, Operator
from wallet.invariants import verify
from wallet.models import Account, AccountKind, Entry, MessageState, Mode, RemoteMessage

STAKE = 5_000


def agreed(*every: Operator) -> None:
    """Hold that the books of all operators and our ledger say the same, that nothing waits to be told, and that nothing
    of the players' is left here.
    """
    assert not [each for each in verify.run() if each.rows]
    theirs = Account.objects.filter(owner__is_remote=True, mode=Mode.REAL)
    assert not theirs.exclude(balance=0).exists()
    booked = Entry.objects.filter(account__kind=AccountKind.OPERATOR).aggregate(total=Sum("amount"))["total"] or 0
    there = [balance - MONEY for operator in every for balance in operator.host.balances.values()]
    assert sum(there) == booked
    assert not RemoteMessage.objects.filter(state=MessageState.WAITING).exists()
