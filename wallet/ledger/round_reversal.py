"""Void a round's money: reverse all its journals, and first cover winnings that were already spent."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, Sum

from wallet import ledger
from wallet.ledger import Line, system_key
from wallet.ledger.accounts import house_account
from wallet.models import Account, AccountKind, Entry, Journal
from wallet.operator_wallet import bets

VOID = "void"
SHORTFALL = "void_shortfall"
TRANSFER = "void_transfer"


@dataclass(frozen=True)
class Undone:
    """Effect of voiding a round on one player, in minor units."""

    player_id: int
    currency: str
    returned: int  # stakes returned minus payouts taken back
    shortfall: int  # paid by the house because the winnings were spent


def undo_round(round_id: UUID) -> tuple[Undone, ...]:
    """Reverse every journal of a round in the caller's transaction.

    The caller makes sure that no other process does the same. If a player has spent the winnings,
    the missing amount comes first from their other account in the same currency and mode, then from
    the house. So the player ends with what they would have without the round, or with nothing. For
    a bank that was taken home since, the missing amount comes from its banker in the same way.

    Raises LedgerError if the ledger refuses to reverse its journals.
    """
    journals = Journal.objects.filter(round_id=round_id, reverses=None).order_by("pk")
    ids = list(journals.values_list("pk", flat=True))
    net = _net_amounts(ids)
    # Transfers from and to an operator only pass through the account. They are not part of the
    # round's result.
    played = _net_amounts(list(journals.exclude(kind__in=bets.JOURNALS).values_list("pk", flat=True)))
    accounts = _lock(net)
    covers = list(_covers(round_id, net, accounts))
    if covers:
        ledger.post(*covers)
    if ids:
        ledger.reverse({each: system_key(round_id, f"{VOID} {each}") for each in ids}, kind=VOID)
    bets.take_back(round_id)
    shortfalls = Counter(
        {line.account_id: line.amount for cover in covers if cover.kind == SHORTFALL for line in cover.lines}
    )
    return tuple(
        Undone(
            player_id=owner_id,
            currency=accounts[account_id].currency,
            returned=-amount,
            shortfall=shortfalls[account_id],
        )
        for account_id, amount in sorted(played.items())
        if (owner_id := accounts[account_id].owner_id) is not None  # house players get no message
    )


def _net_amounts(journals: list[int]) -> Mapping[int, int]:
    """Return the net amount that these journals put into each account that carries a balance."""
    entries = Entry.objects.filter(journal_id__in=journals, account__balance__isnull=False)
    return dict(entries.values("account_id").annotate(total=Sum("amount")).values_list("account_id", "total"))


def _lock(net: Mapping[int, int]) -> Mapping[int, Account]:
    """Lock these accounts and their owners' others in the same money, in ascending order of id.

    Pending withdrawals are left alone. So is a bank that is in play elsewhere.
    """
    theirs = Account.objects.filter(pk__in=net).values_list("owner_id", "currency", "mode")
    owners = {owner for owner, _, _ in theirs if owner is not None}
    kinds_of_money = {(currency, mode) for _, currency, mode in theirs}
    at_hand = Q(owner_id__in=owners, kind__in=(AccountKind.CASH, AccountKind.PURSE))
    locked = Account.objects.filter(at_hand | Q(pk__in=net)).order_by("pk").select_for_update()
    return {account.pk: account for account in locked if (account.currency, account.mode) in kinds_of_money}


def _covers(round_id: UUID, net: Mapping[int, int], accounts: Mapping[int, Account]) -> Iterator[ledger.Journal]:
    """Yield the transfers that keep the reversal from taking any account below zero."""
    others: dict[tuple[int | None, str], list[Account]] = {}  # by owner and mode
    for account in accounts.values():
        if account.pk not in net:
            others.setdefault((account.owner_id, account.mode), []).append(account)
    for account_id, amount in sorted(net.items()):
        account = accounts[account_id]
        missing = amount - _free(account)
        for other in others.get((account.owner_id, account.mode), ()):
            if (found := min(missing, _free(other))) > 0:
                yield _journal(round_id, TRANSFER, other.pk, account, found)
                missing -= found
        if missing > 0:
            house = house_account(AccountKind.HOUSE, account.currency, account.mode)
            yield _journal(round_id, SHORTFALL, house, account, missing)


def _journal(round_id: UUID, kind: str, source: int, account: Account, amount: int) -> ledger.Journal:
    lines = (
        Line(source, account.currency, account.mode, -amount),
        Line(account.pk, account.currency, account.mode, amount),
    )
    return ledger.Journal(system_key(round_id, f"{kind} {source} {account.pk}"), kind, lines, round_id)


def _free(account: Account) -> int:
    return (account.balance or 0) - account.held
