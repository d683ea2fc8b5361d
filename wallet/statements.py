"""What a player reads of the ledger: the movements on one account, newest first."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from wallet.models import AccountKind, Entry, Mode

PAGE = 20

# What a movement was for, by the kind of its journal.
NAMES: dict[str, Promise] = {
    "deposit": _("Deposit"),
    "top_up": _("Free money"),
    "stake": _("Stake"),
    "settle": _("Payout"),
    "void": _("Round annulled"),
}
OTHER = _("Correction")


@dataclass(frozen=True)
class Movement:
    """One entry on a player's account; amounts in minor units."""

    number: int  # counts the account's entries from 1
    journal_id: int
    at: datetime
    name: Promise
    amount: int
    balance_after: int
    round_id: UUID | None


@dataclass(frozen=True)
class Statement:
    """Some movements, and the mark to ask for older ones with (None: there are none)."""

    movements: tuple[Movement, ...]
    older: int | None


def statement(player_id: int, mode: Mode, *, before: int | None = None) -> Statement:
    """Return a page of movements on the player's cash account that are older than number *before*."""
    found = Entry.objects.filter(
        account__owner_id=player_id, account__kind=AccountKind.CASH, account__mode=mode, version__isnull=False
    )
    if before is not None:
        found = found.filter(version__lt=before)
    entries = list(found.select_related("journal").order_by("-version")[: PAGE + 1])
    page = tuple(_movement(entry) for entry in entries[:PAGE])
    return Statement(page, page[-1].number if len(entries) > PAGE else None)


def _movement(entry: Entry) -> Movement:
    return Movement(
        number=entry.version or 0,
        journal_id=entry.journal_id,
        at=entry.journal.at,
        name=NAMES.get(entry.journal.kind, OTHER),
        amount=entry.amount,
        balance_after=entry.balance_after or 0,
        round_id=entry.journal.round_id,
    )
