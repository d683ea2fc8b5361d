"""Release of held withdrawals: two people decide that the facts which speak against one do not stop it.

The approval is the release: the database compares its facts with those that it finds (`wallet_payout_is_held`). A fact
that is found later holds the withdrawal again. Error messages are for staff.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from django.db import transaction
from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL

from audit import approvals, log
from audit.models import Approval
from players.models import Staff
from wallet import withdrawals
from wallet.models import Withdrawal, WithdrawalStatus
from wallet.money import format_money
from wallet.withdrawals import facts

KIND: Final = "withdrawal.release"
RELEASE: Final = "wallet.release_withdrawal"
HELD_IN: Final = (WithdrawalStatus.REQUESTED, WithdrawalStatus.SECONDING, WithdrawalStatus.APPROVED)
GONE: Final = "The withdrawal has changed since this request."


def held(found: QuerySet[Withdrawal]) -> QuerySet[Withdrawal]:
    """Return those of *found* that a fact holds which nobody has released them from."""
    is_held = RawSQL("wallet_payout_is_held(wallet_withdrawal)", (), BooleanField())
    return found.filter(is_held)


@transaction.atomic
def ask(*, withdrawal_id: int, reason: str, by: Staff) -> Approval:
    """Request the release of a withdrawal from all facts that speak against it now.

    Raises withdrawals.NotOpen, and approvals.AskedTwice while another request is open.
    """
    found = withdrawals.lock(withdrawal_id)
    holds = facts.holds_of(found)
    if found.status not in HELD_IN or not holds:
        raise withdrawals.NotOpen("Nothing holds this withdrawal.")
    request: dict[str, log.Json] = {
        "withdrawal": found.pk,
        "player": found.player_id,
        "amount": found.amount,
        "currency": found.currency,
        "facts": list(holds),
    }
    return approvals.ask(kind=KIND, on=str(found), request=request, by=str(by), person=by.person, reason=reason)


def execute(frozen: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Record the release. Raises approvals.CannotExecute if the withdrawal is not waiting any more."""
    found = withdrawals.lock(int(str(frozen["withdrawal"])))
    if found.status not in HELD_IN:
        raise approvals.CannotExecute(GONE)
    data: dict[str, log.Json] = {
        "player": str(found.player),
        "facts": frozen["facts"],
        "reason": verdict.reason,
        "method": f"approval {verdict.approval_id}",
    }
    log.record("withdrawal.released", by=verdict.by, on=str(found), data=data)


def describe(frozen: Mapping[str, log.Json]) -> approvals.Description:
    """Describe the release for the approver."""
    amount = format_money(int(str(frozen["amount"])), str(frozen["currency"]), "en")
    player = f"player:{frozen['player']}"
    return approvals.Description(
        f"Release the payout of {amount} to {player}",
        (("Withdrawal", str(frozen["withdrawal"])), ("Amount", amount), ("Player", player)),
    )


def current_facts(frozen: Mapping[str, log.Json]) -> approvals.Facts:
    """Return every fact that the first person saw who asked for the release, as it is now."""
    return [(line.name, line.whole) for line in _lines(frozen)]


def facts_without_suspicion(frozen: Mapping[str, log.Json]) -> approvals.Facts:
    """Return every fact that the first person saw who approved the payout, as it is now."""
    return [(line.name, line.text) for line in _lines(frozen)]


def _lines(frozen: Mapping[str, log.Json]) -> Sequence[facts.Line]:
    found = Withdrawal.objects.select_related("account", "player").get(pk=int(str(frozen["withdrawal"])))
    return facts.facts_of([found])[found.pk].lines
