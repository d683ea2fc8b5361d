"""Payout history of a bank account: payouts paid, payouts returned, and why."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Count, Max
from django.utils.functional import Promise

from wallet.models import PayoutAccount, WithdrawalStatus, WithdrawalStep
from wallet.withdrawals.messages import bank_reason

DEAD: Final = ("account_closed", "account_unknown")  # bank reasons after which no payout can succeed


@dataclass(frozen=True)
class History:
    """Payouts to an account: counts of *paid* and *returned*, and the step of the last return.

    *is_returned_last* tells whether the latest payout was returned.
    """

    paid: int = 0
    returned: int = 0
    last_return: WithdrawalStep | None = None
    is_returned_last: bool = False

    @property
    def is_dead(self) -> bool:
        """Whether the bank reported at the latest payout that the account is closed or unknown."""
        step = self.last_return
        return self.is_returned_last and step is not None and step.reason in DEAD

    @property
    def why(self) -> Promise | None:
        """The bank's reason for the last return, as a sentence."""
        return bank_reason(self.last_return.reason) if self.last_return else None


def histories(accounts: Collection[PayoutAccount]) -> Mapping[UUID, History]:
    """Return the payout history of each of these accounts."""
    ended = WithdrawalStep.objects.filter(
        withdrawal__player__in={account.player_id for account in accounts},
        withdrawal__account__in=accounts,
        after__in=(WithdrawalStatus.PAID, WithdrawalStatus.RETURNED),
    )
    rows = ended.values("withdrawal__account", "after").annotate(times=Count("pk"), last=Max("pk"))
    of = {(row["withdrawal__account"], row["after"]): (row["times"], row["last"]) for row in rows}
    lasts = [last for (_account, after), (_times, last) in of.items() if after == WithdrawalStatus.RETURNED]
    steps = WithdrawalStep.objects.select_related("withdrawal").in_bulk(lasts)
    found = {}
    for account in accounts:
        paid, last_paid = of.get((account.pk, WithdrawalStatus.PAID), (0, 0))
        returned, last_returned = of.get((account.pk, WithdrawalStatus.RETURNED), (0, 0))
        found[account.pk] = History(paid, returned, steps.get(last_returned), last_returned > last_paid)
    return found
