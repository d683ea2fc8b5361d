"""Closing an account: it pays out what lies there first, so it stands on the floor above people and money."""

from contextlib import suppress
from functools import partial
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Q, Subquery

from games.chemin import play
from games.errors import TableStopped
from games.history import in_progress
from games.models import CheminSeat, Participation
from players.account import closures
from players.identity.verification import is_verified
from players.models import Closure, ClosureState, Player
from wallet import withdrawals
from wallet.ledger import accounts, purse
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
    """Return what the player would be paid if they closed now, in minor units: balance, purse, and what lies in a bank
    that they hold, unless it is lost.
    """
    kinds = (AccountKind.CASH, AccountKind.PURSE)
    theirs = sum(accounts.balances(player.pk, kind).get(Mode.REAL, 0) for kind in kinds)
    return theirs + accounts.in_banks(player.pk).get(Mode.REAL, 0)


@transaction.atomic
def close(*, player: Player, account: PayoutAccount | None, key: UUID, ip: str) -> None:
    """Close an account to play and deposits and ask for its whole balance to be paid to *account*; without a balance,
    and with no deposit that a bank may still approve, it is closed altogether. A round at a solo table is over before
    this begins, or never begins. Bets at a shared table stand, and what comes of them is paid out afterwards. Whoever
    sits at a guests' table gets up once this is done, or when the coup is over in which they have a part: the croupier
    decides for them until then, and bank and bids that come home are paid out as well.

    Raises AlreadyClosing, NoBankAccount, WithdrawalError.
    """
    closures.begin(player=player, by=str(player), ip=ip)
    transaction.on_commit(partial(_get_up, player))  # a table is locked before accounts, and these are locked here
    for mode in Mode:
        purse.give_back(player=player, mode=mode, why=purse.Leaving.SESSION, by=str(player))
    cash = accounts.lock_account(player.pk, Mode.REAL)
    free = (cash.balance or 0) - cash.held
    if owed(player) and account is None:
        raise NoBankAccount
    if free and account:
        withdrawals.request(player=player, amount=free, account=account, key=key)
    elif not _has_money(player):
        closures.finish(player=player, by=str(player))


def _get_up(player: Player) -> None:
    """Have the player leave every guests' table. At one that stands still the house sees to it when it goes on."""
    for live_table_id in CheminSeat.objects.filter(player=player, left_at=None).values_list("live_table", flat=True):
        with suppress(TableStopped):
            play.leave(player=player, live_table_id=live_table_id)


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
    _pay_what_came(player)
    if _has_money(player):
        return False
    closures.finish(player=player, by="system")
    return True


def _pay_what_came(player: Player) -> None:
    """Pay out what came of bets that stood when the account was closed, to the bank account that the player was last
    paid to or, where there was nothing to pay yet, named. Whatever else came or was sent back stays for the player to
    withdraw.
    """
    if not _has_played_since(player):
        return
    cash = accounts.lock_account(player.pk, Mode.REAL)
    free = (cash.balance or 0) - cash.held
    last = Withdrawal.objects.filter(player=player).order_by("-pk").first()
    if not free or not is_verified(player) or (last and last.status != WithdrawalStatus.PAID):
        return
    account = last.account if last else PayoutAccount.objects.filter(player=player).order_by("-at").first()
    if account:
        with suppress(withdrawals.WithdrawalError):
            withdrawals.request(player=player, amount=free, account=account, key=uuid4())


def _has_played_since(player: Player) -> bool:
    """Say whether a round at a live table has ended for the player, or a place at a guests' table, after they had
    closed their account.
    """
    closed = Closure.objects.filter(player=player, state=ClosureState.CLOSING).values("at")
    ended = Participation.objects.filter(player=player, mode=Mode.REAL, round__shoe__isnull=False)
    left = CheminSeat.objects.filter(player=player, live_table__mode=Mode.REAL, left_at__gte=Subquery(closed))
    return ended.filter(at__gte=Subquery(closed)).exists() or left.exists()


def _has_money(player: Player) -> bool:
    """Say whether any real money is the player's still, on its way out and on a live table included, or may come yet:
    where they sit at a guests' table, and as long as a bank may approve a deposit that the house has not given up; what
    comes later still, `return_late_money` looks after.
    """
    if in_progress(player).exists() or CheminSeat.objects.filter(player=player, left_at=None).exists():
        return True
    undecided = Payment.objects.filter(Q(state=PaymentState.WAITING) | Q(is_disputed=True), player=player)
    return undecided.exists() or Account.objects.filter(owner=player, mode=Mode.REAL, balance__gt=0).exists()
