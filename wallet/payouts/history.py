"""What became of the payouts to a bank account: what was paid, what its bank sent back, and why."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Count, Max
from django.utils.functional import Promise

from wallet.models import PayoutAccount, WithdrawalStatus, WithdrawalStep
from wallet.withdrawals.messages import bank_reason

DEAD: Final = ("account_closed", "account_unknown")  # what a bank says of an account that no payout will ever reach


@dataclass(frozen=True)
class History:
    """How many payouts to an account were *paid* and how many were *returned*; of the last one returned, the step that
    says when and why; and whether it was the last of all.
    """

    paid: int = 0
    returned: int = 0
    last_return: WithdrawalStep | None = None
    is_returned_last: bool = False

    @property
    def is_dead(self) -> bool:
        """Whether the bank said of the latest payout that there is no such account, or none any more."""
        step = self.last_return
        return self.is_returned_last and step is not None and step.reason in DEAD

    @property
    def why(self) -> Promise | None:
        """What the bank said of the last one that it returned, as a sentence."""
        return bank_reason(self.last_return.reason) if self.last_return else None


def histories(accounts: Collection[PayoutAccount]) -> Mapping[UUID, History]:
    """Return what became of payouts to each of these accounts."""
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
