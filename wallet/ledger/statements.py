"""Player statements (movements by page, newest first) and the house's liabilities to players."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q, Sum
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from audit.raw_rows import fetch_all
from wallet.ledger import accounts
from wallet.models import Account, AccountKind, Mode

PAGE = 20
END = 2**63 - 1  # greater than every number
# Journals are looked up one by one, whatever PostgreSQL expects: a plan that reads those of all months takes long.
MOVEMENTS = """
SELECT entry.version, entry.journal_id, entry.amount, entry.balance_after, journal.kind, journal.at, journal.round_id
FROM (
    SELECT version, journal_id, amount, balance_after FROM wallet_entry
    WHERE account_id = %s AND version < %s ORDER BY version DESC LIMIT %s
) AS entry
CROSS JOIN LATERAL (
    SELECT kind, at, round_id FROM wallet_journal AS journal WHERE journal.id = entry.journal_id OFFSET 0
) AS journal
ORDER BY entry.version DESC
"""

# Labels of movements by journal kind. A stake returned before the deal and the result of a coup for
# its banker have kinds of their own here, see `told_as`.
NAMES: dict[str, Promise] = {
    "deposit": _("Deposit"),
    "deposit_held": _("Deposit that we send back"),
    "deposit_returned": _("Deposit sent back"),
    "deposit_released": _("Deposit credited after review"),
    "top_up": _("Play money"),
    "stake": _("Stake"),
    "held_stake": _("Stake"),
    "relieved": _("Stake returned"),
    "settle": pgettext_lazy("statement line", "Payout"),
    "bank": _("Bank put up"),
    "coup": _("Coup as banker"),
    "bank_back": _("Bank returned"),
    "bank_won": _("Bank winnings"),
    "void": _("Round voided"),
    "rebuy": _("Transfer to Golden Baccarat"),
    "leave": _("Transfer from Golden Baccarat"),
    "withdraw": _("Withdrawal requested, not yet paid"),
    "withdraw_paid": _("Withdrawal paid out"),
    "withdraw_returned": _("Withdrawal returned"),
    "adjustment": _("Adjustment"),
    "studio_stake": _("Stake in a partner’s game"),
    "studio_win": _("Win in a partner’s game"),
    "studio_rollback": _("Reversal in a partner’s game"),
    "operator_bet": _("Transfer in for a round"),
    "operator_return": _("Transfer back after a round"),
}
OTHER = _("Correction")
# Journals that move money to and from pending. The player owns the same amount before and after.
ASIDE = ("withdraw", "withdraw_returned")
# Journals between a player and their bank at Chemin de Fer. Their `round_id` is a tenure.
BANKS = ("bank", "bank_back", "bank_won")


def movement_name(kind: str, amount: int) -> str:
    """Return the kind under which a statement shows a movement of *amount* minor units."""
    return "relieved" if kind == "stake" and amount > 0 else kind


@dataclass(frozen=True)
class Movement:
    """One entry on a player's account. Amounts in minor units."""

    number: int  # number of the entry on its account, from 1
    journal_id: int
    at: datetime
    name: Promise
    amount: int
    balance_after: int
    round_id: UUID | None


@dataclass(frozen=True)
class Statement:
    """A page of movements. ``older`` is the cursor for the next page, None on the last one."""

    movements: tuple[Movement, ...]
    older: int | None


@dataclass(frozen=True)
class Liability:
    """The house's liability to its players in one currency and mode, in minor units.

    Source: GLI-19 v3.0, 2.9.3. *pending* is requested and not yet paid out. *refund* is to be sent back.
    *held* includes banks at Chemin de Fer.
    """

    currency: str
    mode: Mode
    accounts: int
    held: int
    available: int
    pending: int
    total: int
    refund: int = 0


def statement(player_id: int, mode: Mode, *, before: int | None = None) -> Statement:
    """Return a page of movements on the player's cash account that are older than number *before*."""
    try:
        return movements(accounts.player_account(player_id, mode), before=before)
    except Account.DoesNotExist:
        return Statement((), None)


def movements(account_id: int, *, before: int | None = None, most: int = PAGE) -> Statement:
    """Return a page of at most *most* movements on a player's account, older than number *before*."""
    rows = fetch_all(MOVEMENTS, [account_id, before or END, most + 1])
    page = tuple(_movement(*row) for row in rows[:most])
    return Statement(page, page[-1].number if len(rows) > most else None)


def _movement(
    number: int, journal_id: int, amount: int, balance_after: int, kind: str, at: datetime, round_id: UUID | None
) -> Movement:
    return Movement(
        number=number,
        journal_id=journal_id,
        at=at,
        name=NAMES.get(movement_name(kind, amount), OTHER),
        amount=amount,
        balance_after=balance_after,
        round_id=None if kind in BANKS else round_id,
    )


def liabilities() -> tuple[Liability, ...]:
    """Return what the house owes in every currency and mode in which a player has an account."""
    found = Account.objects.filter(owner__isnull=False).values("mode", "currency").order_by("-mode", "currency")
    is_pending, is_bank, is_refund = (
        Q(kind=kind) for kind in (AccountKind.PENDING, AccountKind.BANK, AccountKind.REFUND)
    )
    sums = found.annotate(
        accounts=Count("pk", filter=~is_pending & ~is_bank & ~is_refund),
        total_held=Sum("held") + Sum("balance", filter=is_bank, default=0),
        total=Sum("balance"),
        pending=Sum("balance", filter=is_pending, default=0),
        refund=Sum("balance", filter=is_refund, default=0),
    )
    return tuple(
        Liability(
            currency=row["currency"],
            mode=Mode(row["mode"]),
            accounts=row["accounts"],
            held=row["total_held"],
            available=row["total"] - row["total_held"] - row["pending"] - row["refund"],
            pending=row["pending"],
            total=row["total"],
            refund=row["refund"],
        )
        for row in sums
    )
