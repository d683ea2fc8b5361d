"""Closing an account: it pays out what lies there first, so it stands on the floor above people and money."""

from contextlib import suppress
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Q

from players import closures
from players.models import Player
from wallet import accounts, purse, withdrawals
from wallet.models import Account, AccountKind, Mode, Payment, PaymentState, PayoutAccount, Withdrawal, WithdrawalStatus

UNDER_WAY = (
    WithdrawalStatus.REQUESTED,
    WithdrawalStatus.SECONDING,
    WithdrawalStatus.APPROVED,
    WithdrawalStatus.SENDING,
)


class NoBankAccount(Exception):
    """There is money to pay out, and nowhere to pay it."""


def owed(player: Player) -> int:
    """Return what the player would be paid if they closed now, in minor units: balance and purse."""
    return sum(accounts.balances(player.pk, kind).get(Mode.REAL, 0) for kind in (AccountKind.CASH, AccountKind.PURSE))


@transaction.atomic
def close(*, player: Player, account: PayoutAccount | None, key: UUID, ip: str) -> None:
    """Close an account to play and deposits and ask for its whole balance to be paid to *account*; without a balance,
    and with no deposit that a bank may still approve, it is closed altogether. Round in progress or not: a round is
    over before this begins, or never begins.

    Raises AlreadyClosing, NoBankAccount, WithdrawalError.
    """
    closures.begin(player=player, by=str(player), ip=ip)
    for mode in Mode:
        purse.give_back(player=player, mode=mode, why=purse.Leaving.SESSION, by=str(player))
    balance = accounts.lock_account(player.pk, Mode.REAL).balance or 0
    if balance and account is None:
        raise NoBankAccount
    if balance and account:
        withdrawals.request(player=player, amount=balance, account=account, key=key)
    elif not _has_money(player):
        closures.finish(player=player, by=str(player))


def finish_closing() -> int:
    """Close altogether every account whose money has left; return how many."""
    return sum(_finish(player) for player in closures.to_finish())


def return_late_money() -> None:
    """Have whatever came to accounts after they were closed leave them again: a bank may approve a deposit, or send a
    payment back, at any time.
    """
    with_money = Account.objects.filter(kind=AccountKind.CASH, mode=Mode.REAL, balance__gt=0).values("owner")
    for player in closures.shut().filter(pk__in=with_money):
        _return(player)


@transaction.atomic
def _return(player: Player) -> None:
    """Pay it to the bank account that the player was last paid to. Where there is none, or the house may not, the
    player is let in to withdraw it.
    """
    balance = accounts.lock_account(player.pk, Mode.REAL).balance or 0
    last = Withdrawal.objects.filter(player=player).order_by("-pk").first()
    if not balance or (last and last.status in UNDER_WAY):
        return
    if last and last.status == WithdrawalStatus.PAID:
        with suppress(withdrawals.WithdrawalError):
            withdrawals.request(player=player, amount=balance, account=last.account, key=uuid4())
            return
    closures.let_in(player=player, by="system")


@transaction.atomic
def _finish(player: Player) -> bool:
    if _has_money(player):
        return False
    closures.finish(player=player, by="system")
    return True


def _has_money(player: Player) -> bool:
    """Say whether any real money is the player's still, on its way out included, or may come yet: a bank may approve a
    deposit as long as the house has not given it up; what comes later still, `return_late_money` looks after.
    """
    undecided = Payment.objects.filter(Q(state=PaymentState.WAITING) | Q(is_disputed=True), player=player)
    return undecided.exists() or Account.objects.filter(owner=player, mode=Mode.REAL, balance__gt=0).exists()
