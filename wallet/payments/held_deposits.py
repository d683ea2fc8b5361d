"""Held deposits: money that has arrived but may not be credited is sent back, or two people decide.

The database holds it (`wallet_credit_deposit`). Each is sent back through its provider, except that of a locked
account: people look at that first. Where a provider cannot send money back, finance does it by hand at the provider,
and a second person confirms it. Two people can also have it credited, if no exclusion and no limit forbids that any
more. While they decide, the provider sends nothing back. Two people also decide that nothing will come, where a
provider neither cancels nor answers: else the deposit takes room under the player's limits for ever. Error messages
are for staff.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.utils.translation import get_language, gettext, gettext_lazy

from audit import approvals, log
from audit.models import Approval, Clock
from audit.staff_text import in_sentence
from players.models import Staff
from wallet import ledger
from wallet.models import HeldReason, Payment, PaymentState
from wallet.money import format_money
from wallet.payments import notifications, providers

logger = logging.getLogger(__name__)

KIND: Final = "deposit.held"
ASK: Final = "wallet.handle_deposit"
DECIDE: Final = "wallet.decide_deposit"
FOR_PEOPLE: Final = (HeldReason.LOCKED,)  # never sent back without people
DUE: Final = """
SELECT id FROM wallet_payment
WHERE state = 'held' AND held_because <> ALL (%(for_people)s)
  AND (asked_at IS NULL OR asked_at < %(now)s - %(after)s * interval '1 second' OR decided_at > asked_at)
ORDER BY begun_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""


class Action(StrEnum):
    """Decision of two people about a deposit. The first two are about a held one."""

    RETURN = "return"
    CREDIT = "credit"
    EXPIRE = "expire"


LABELS: Final = {
    Action.RETURN: gettext_lazy("It has been sent back"),
    Action.CREDIT: gettext_lazy("Credit it to the player"),
    Action.EXPIRE: gettext_lazy("No money will arrive"),
}


REASONS: Final = {
    HeldReason.LIMIT: gettext_lazy("It exceeds a deposit limit of the player."),
    HeldReason.EXCLUDED: gettext_lazy("The player is excluded or has a pause."),
    HeldReason.REGISTER: gettext_lazy("The player is listed in an exclusion register."),
    HeldReason.LOCKED: gettext_lazy("The account is locked."),
    HeldReason.OVER: gettext_lazy("The deposit had ended before the money arrived."),
    HeldReason.BORROWED: gettext_lazy("The player is marked as depositing borrowed money."),
    HeldReason.CREDIT: gettext_lazy("It was paid on credit, which is forbidden in the player’s jurisdiction."),
}
"""Why a deposit is held, for staff. The labels of `HeldReason` are for the player."""


class CannotDecide(Exception):
    """Nothing was requested. The message is a sentence for staff."""


def return_due() -> None:
    """Have providers send held deposits back, each in its own transaction. Several workers can run it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    while _return_next(now):
        pass


@transaction.atomic
def _return_next(now: datetime) -> bool:
    due = {"now": now, "after": settings.PAYMENT_ASK_SECONDS, "for_people": [each.value for each in FOR_PEOPLE]}
    with connection.cursor() as cursor:
        cursor.execute(DUE, due)
        row = cursor.fetchone()
        if row is None:
            return False
        cursor.execute(notifications.ASKED, [row[0]])
    with notifications.one_alone(row[0]):
        _return(notifications.locked(row[0]))
    return True


def _return(payment: Payment) -> None:
    """Have the provider send a locked payment back, unless two people are deciding about it."""
    if approvals.waiting().filter(kind=KIND, on=str(payment)).exists():
        return
    try:
        providers.send_back(payment)
    except (providers.NoProvider, providers.ProviderFailed) as error:
        logger.info("deposit %s cannot be sent back by its provider: %s", payment.pk, error)
        return
    notifications.record_return(payment)


def is_stuck(payment: Payment) -> bool:
    """Return whether the provider of an open deposit could not cancel it when Sabot gave up waiting."""
    return payment.is_open and payment.notices.filter(decision=notifications.Decision.NOT_CANCELLED).exists()


def may_expire_at(payment: Payment) -> datetime:
    """Return from when two people can decide that nothing will come."""
    return payment.begun_at + timedelta(seconds=settings.PAYMENT_STUCK_SECONDS)


def _demand_stuck(payment: Payment) -> None:
    """Raise CannotDecide unless the deposit has been stuck for long enough."""
    long_ago = Clock() - timedelta(seconds=settings.PAYMENT_STUCK_SECONDS)
    if not is_stuck(payment):
        raise CannotDecide(gettext("The provider has decided about this deposit, or can still cancel it."))
    if not Payment.objects.filter(pk=payment.pk, begun_at__lte=long_ago).exists():
        raise CannotDecide(
            gettext("Wait until %(payment)s UTC. Money may still arrive.")
            % {"payment": f"{may_expire_at(payment):%Y-%m-%d %H:%M}"}
        )


def reason_of(payment: Payment) -> str:
    """Return why a deposit was held, for staff; "" if it was not."""
    return str(REASONS[HeldReason(payment.held_because)]) if payment.held_because else ""


def bar_of(payment: Payment) -> str:
    """Return what forbids now that a held deposit is credited, apart from limits, for staff; "" if nothing does."""
    if payment.held_because == HeldReason.CREDIT:
        return reason_of(payment)
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_deposits_barred(%s)", [payment.player_id])
        (bar,) = cursor.fetchone()
    return str(REASONS[HeldReason(bar)]) if bar else ""


@transaction.atomic
def ask(payment_id: UUID, *, action: Action, reference: str, reason: str, by: Staff) -> Approval:
    """Request a decision about a held deposit, or about one that is stuck at its provider.

    *reference* is the provider's number of the transfer by which finance has sent the money back. Raises CannotDecide,
    Payment.DoesNotExist, and approvals.AskedTwice while another request for the deposit is open.
    """
    payment = notifications.locked(payment_id)
    if action is Action.EXPIRE:
        _demand_stuck(payment)
    elif payment.state != PaymentState.HELD:
        raise CannotDecide(gettext("This deposit is no longer held."))
    if action is Action.CREDIT and (bar := bar_of(payment)):
        raise CannotDecide(gettext("It cannot be credited now: %(reason)s") % {"reason": bar})
    if action is Action.RETURN and not reference:
        raise CannotDecide(
            gettext("Enter the provider’s number of the transfer by which you have sent the money back.")
        )
    request: dict[str, log.Json] = {
        "payment": str(payment.pk),
        "player": payment.player_id,
        "amount": payment.amount,
        "currency": payment.currency,
        "action": action.value,
        "reference": reference if action is Action.RETURN else "",
    }
    return approvals.ask(kind=KIND, on=str(payment), request=request, by=str(by), person=by.person, reason=reason)


def execute(frozen: Mapping[str, log.Json], verdict: approvals.Verdicted) -> None:
    """Post what was decided, record it and write to the player. Raises approvals.CannotExecute."""
    payment = notifications.locked(UUID(str(frozen["payment"])))
    if frozen["action"] == Action.EXPIRE:
        _expire(payment, verdict)
        return
    if payment.state != PaymentState.HELD:
        raise approvals.CannotExecute(gettext("This deposit is no longer held."))
    try:
        with transaction.atomic():
            journal_id, after = ledger.decide_deposit(verdict.approval_id)
    except ledger.StillBarred as error:
        bar = bar_of(payment) if frozen["action"] == Action.CREDIT else ""
        raise approvals.CannotExecute(
            gettext("It cannot be credited now: %(reason)s") % {"reason": bar}
            if bar
            else gettext("One of the two people no longer has this role.")
        ) from error
    except ledger.LimitReached as error:
        raise approvals.CannotExecute(gettext("It cannot be credited. %(error)s") % {"error": error}) from error
    method = f"approval {verdict.approval_id}"
    data: dict[str, log.Json] = {"journal": journal_id, "reason": verdict.reason, "method": method}
    if frozen["action"] == Action.RETURN:
        notifications.write_return(payment, by=verdict.by, data=data | {"reference": frozen["reference"]})
        return
    payment.refresh_from_db(fields=notifications.MONEY)
    said = notifications.facts_of(payment) | data | {"authorisation": payment.authorisation}
    said |= notifications.balances(payment, after)
    log.record("deposit.released", by=verdict.by, on=str(payment.player), data=said)
    notifications.write(payment, "deposit_credited")


def _expire(payment: Payment, verdict: approvals.Verdicted) -> None:
    """End an open payment for which nothing will come. Money that comes all the same is held."""
    try:
        _demand_stuck(payment)
    except CannotDecide as error:
        raise approvals.CannotExecute(str(error)) from error
    notifications.close(payment, PaymentState.EXPIRED, because=f"approval {verdict.approval_id}", by=verdict.by)


def describe(frozen: Mapping[str, log.Json]) -> approvals.Description:
    """Describe the decision for the approver."""
    amount = format_money(int(str(frozen["amount"])), str(frozen["currency"]), get_language() or "en")
    action, player = Action(str(frozen["action"])), f"player:{frozen['player']}"
    title = {
        Action.CREDIT: (gettext("Credit %(amount)s to %(player)s") % {"amount": amount, "player": player}),
        Action.RETURN: (gettext("%(amount)s of %(player)s sent back") % {"amount": amount, "player": player}),
        Action.EXPIRE: (gettext("%(amount)s of %(player)s will not arrive") % {"amount": amount, "player": player}),
    }[action]
    facts = [
        (gettext("Deposit"), f"payment:{frozen['payment']}"),
        (gettext("Player"), player),
        (gettext("Amount"), amount),
    ]
    if action is Action.RETURN:
        facts.append((gettext("Number of the transfer"), str(frozen["reference"])))
    return approvals.Description(title, facts)


def current_facts(frozen: Mapping[str, log.Json]) -> approvals.Facts:
    """Return why the deposit is held or stuck, and its state now."""
    payment = Payment.objects.get(pk=UUID(str(frozen["payment"])))
    why = reason_of(payment) or gettext("The provider neither cancels it nor answers")
    return (
        (gettext("Held because"), why),
        (gettext("Current state"), in_sentence(payment.get_state_display())),
        (gettext("Provider"), payment.variant),
        (gettext("Authorisation"), payment.authorisation),
    )
