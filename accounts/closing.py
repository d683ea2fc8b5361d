"""Account closing with payout of the balance. It needs players, wallet and games."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Final
from uuid import UUID, uuid4

from django.db import DatabaseError, transaction
from django.db.models import Q, Subquery
from django.utils.translation import get_language, gettext, gettext_noop

from audit import approvals, retention
from audit.log import Json
from audit.models import Approval, RetainedData
from audit.raw_rows import sqlstate
from games.chemin import play
from games.errors import TableStopped
from games.history import in_progress
from games.models import CheminSeat, Participation
from players.account import closures
from players.identity.verification import is_verified
from players.models import Closure, ClosureState, Player, Staff
from wallet import withdrawals
from wallet.ledger import accounts, purse
from wallet.models import Account, AccountKind, Mode, Payment, PaymentState, PayoutAccount, Withdrawal, WithdrawalStatus
from wallet.money import format_money

NOT_AGREED: Final = "SB082"  # SQLSTATE of players_close_as_asked
UNDER_WAY = (
    WithdrawalStatus.REQUESTED,
    WithdrawalStatus.SECONDING,
    WithdrawalStatus.APPROVED,
    WithdrawalStatus.SENDING,
)


class NoBankAccount(Exception):
    """There is money to pay out, but no bank account to pay it to."""


def owed(player: Player) -> int:
    """Return the player's payout if they closed now, in minor units.

    It includes the balance, the purse, and the amount in a bank that they hold at Chemin de Fer,
    unless it is lost.
    """
    kinds = (AccountKind.CASH, AccountKind.PURSE)
    theirs = sum(accounts.totals(player.pk).balances(kind).get(Mode.REAL, 0) for kind in kinds)
    return theirs + accounts.totals(player.pk).in_banks.get(Mode.REAL, 0)


@transaction.atomic
def close(*, player: Player, account: PayoutAccount | None, key: UUID, ip: str) -> None:
    """Close an account to play and deposits, and request the payout of its balance to *account*.

    Without a balance, and without a deposit that a bank may still approve, the account is closed
    completely.

    A solo round either ends before this or never starts. Bets at a shared table remain; winnings are
    paid out later. A seated Chemin de Fer player leaves the table after this, or after the current
    coup if they take part in it. Until then the croupier decides for them, and the returned bank
    and bids are paid out too.

    Raises AlreadyClosing, NoBankAccount, WithdrawalError.
    """
    closures.begin(player=player, ip=ip)
    _settle(player, account, key, str(player))


def _settle(player: Player, account: PayoutAccount | None, key: UUID, by: str) -> None:
    """Make the player leave, and request the payout of the balance or finish. Raises NoBankAccount, WithdrawalError."""
    transaction.on_commit(partial(_get_up, player))  # a table is locked before accounts, and accounts are locked here
    for mode in Mode:
        purse.give_back(player=player, mode=mode, why=purse.Leaving.SESSION, by=by)
    cash = accounts.lock_account(player.pk, Mode.REAL)
    free = (cash.balance or 0) - cash.held
    if owed(player) and account is None:
        raise NoBankAccount
    if free and account:
        withdrawals.request(player=player, amount=free, account=account, key=key)
    elif not _has_money(player):
        closures.finish(player=player, by=by)


KIND: Final = "account.erase"
PERMISSION: Final = "audit.handle_significant"


def ask_erasure(*, player: Player, reason: str, by: Staff) -> Approval:
    """Ask another person to close an account for erasure, on a request of its player by law.

    Raises AlreadyClosing, approvals.AskedTwice.
    """
    if closures.state_of(player):
        raise closures.AlreadyClosing
    request: dict[str, Json] = {"player": player.pk}
    return approvals.ask(kind=KIND, on=str(player), request=request, by=str(by), person=by.person, reason=reason)


def execute(request: Mapping[str, Json], verdict: approvals.Verdicted) -> None:
    """Close the account of an approved request, and pay its balance to the bank account that was named last.

    Raises approvals.CannotExecute.
    """
    player = Player.objects.select_related("user", "jurisdiction").get(pk=int(str(request["player"])))
    account = PayoutAccount.objects.filter(player=player).order_by("-at").first()
    try:
        with transaction.atomic():
            closures.begin_as_asked(player=player, approval=verdict.approval_id, by=verdict.by)
            _settle(player, account, uuid4(), "system")
    except closures.AlreadyClosing as error:
        raise approvals.CannotExecute(gettext("The account is closing or closed already.")) from error
    except (NoBankAccount, withdrawals.WithdrawalError) as error:
        raise approvals.CannotExecute(
            gettext("The balance cannot be paid out: ask the player for a bank account.")
        ) from error
    except DatabaseError as error:
        if sqlstate(error) != NOT_AGREED:
            raise
        raise approvals.CannotExecute(approvals.NOT_THEIRS) from error


def describe(request: Mapping[str, Json]) -> approvals.Description:
    """Describe the account to the deciding staff member."""
    player = Player.objects.select_related("user").get(pk=int(str(request["player"])))
    years = retention.years(RetainedData.ACCOUNT)
    return approvals.Description(
        title=gettext("Close and erase %(player)s") % {"player": player},
        facts=[
            (gettext("E-mail address"), player.user.email),
            (gettext("Jurisdiction"), player.jurisdiction_id),
            (gettext("Payout"), format_money(owed(player), player.currency, get_language() or "en")),
            (
                gettext("Erased"),
                gettext("%(years)s years after closing") % {"years": years},
            ),
        ],
    )


def register() -> None:
    """Register the request of two people who close an account for erasure."""
    approvals.register(
        KIND,
        title=gettext_noop("erasure on a legal request"),
        then=gettext_noop(
            "The account is closed and its balance is paid out. Personal data that need not be kept is deleted; the "
            "rest is deleted after the retention period."
        ),
        execute=execute,
        permission=PERMISSION,
        describe=describe,
    )


def _get_up(player: Player) -> None:
    """Make the player leave all Chemin de Fer tables. A stopped table removes the player when it continues."""
    for live_table_id in CheminSeat.objects.filter(player=player, left_at=None).values_list("live_table", flat=True):
        with suppress(TableStopped):
            play.leave(player=player, live_table_id=live_table_id)


def finish_closing() -> int:
    """Complete the closing of every account without money. Return the number of accounts."""
    return sum(_finish(player) for player in closures.to_finish())


def return_late_money() -> None:
    """Return money that reached accounts after closing.

    A bank may approve a deposit, or return a payment, at any time.
    """
    with_money = Account.objects.filter(kind=AccountKind.CASH, mode=Mode.REAL, balance__gt=0).values("owner")
    for player in closures.shut().filter(pk__in=with_money):
        _return(player)


@transaction.atomic
def _return(player: Player) -> None:
    """Pay the balance to the bank account of the player's last withdrawal.

    If there is none, or the payment is not allowed, let the player log in to withdraw it.
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
    """Pay out the results of bets that were open when the account was closed.

    The money goes to the bank account of the last withdrawal, or to the one named at closing. Other
    incoming money stays for the player to withdraw.
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
    """Return whether a live round ended, or a Chemin de Fer seat was left, after the account was closed."""
    closed = Closure.objects.filter(player=player, state=ClosureState.CLOSING).values("at")
    ended = Participation.objects.filter(player=player, mode=Mode.REAL, round__shoe__isnull=False)
    left = CheminSeat.objects.filter(player=player, live_table__mode=Mode.REAL, left_at__gte=Subquery(closed))
    return ended.filter(at__gte=Subquery(closed)).exists() or left.exists()


def _has_money(player: Player) -> bool:
    """Return whether real money still belongs to the player or may still arrive.

    This includes pending withdrawals, live tables, Chemin de Fer seats, and deposits that a bank
    may approve and that were not given up. `return_late_money` handles money that arrives later.
    """
    if in_progress(player).exists() or CheminSeat.objects.filter(player=player, left_at=None).exists():
        return True
    undecided = Payment.objects.filter(Q(state=PaymentState.WAITING) | Q(is_disputed=True), player=player)
    return undecided.exists() or Account.objects.filter(owner=player, mode=Mode.REAL, balance__gt=0).exists()
