"""Decide what a provider says about a payment, when it notifies us and when we ask.

Notifications come from the provider's callback, the player's return, or a status query. `decide` is
the only place with the rules. `on_notice` applies the decision in one transaction, under the
payment's lock.

The rules, and why:

- Money is credited once, when the provider reports it as authorised, for exactly the requested
  amount and currency.
- A notification with another amount or currency decides nothing. The provider is queried. If it
  repeats that, staff investigate.
- A notification older than the latest one changes nothing. Neither does a repeated one.
- The database decides where authorised money goes (`wallet_credit_deposit`). If the payment is over,
  if it would exceed a deposit limit, or if the player is excluded or locked, it is held and not
  credited. `held_deposits.return_due` has the provider send it back, or two people decide.
- A payment that nobody decides in time is cancelled at the provider. Until the provider confirms
  that nothing will come, the payment stays open and takes room under the limits.
- A notification that contradicts an earlier decision decides nothing. The provider is queried, and
  its answer holds. But money that has arrived stays where it is whatever the answer is; staff find
  `payment.contradicted` in the event log.
"""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid5

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError
from payments import PaymentStatus

from audit import log
from players import mail
from wallet import ledger, limits
from wallet.ledger import accounts
from wallet.models import PAID, HeldReason, Mode, NoticePath, Payment, PaymentNotice, PaymentState
from wallet.money import format_money
from wallet.payments import providers
from wallet.payments.providers import StatusReport

logger = logging.getLogger(__name__)

EXPIRES = 60  # seconds; an older hint is dropped


def ask_for_an_answer() -> None:
    """Start the task that queries undecided payments."""
    _start("ask_undecided_payments")


def ask_for_a_return() -> None:
    """Start the task that has held deposits sent back."""
    _start("return_held_deposits")


def _start(task: str) -> None:
    with suppress(OperationalError):
        current_app.send_task(f"wallet.tasks.{task}", retry=False, expires=EXPIRES)


class Decision(StrEnum):
    """Result of a notification."""

    CREDITED = "credited"
    LATE = "late"  # authorised after the payment was over
    HELD = "held"  # authorised, but not credited
    RETURNED = "returned"  # held, and the provider has sent it back
    DECLINED = "declined"
    ABANDONED = "abandoned"
    EXPIRED = "expired"
    NOT_CANCELLED = "not cancelled"  # the house gave up, but the provider may still take the money
    NOTED = "noted"  # no decision by the provider yet
    REPEATED = "repeated"
    OUTDATED = "outdated"
    CONTRADICTED = "contradicted"
    MISMATCHED = "mismatched"  # another amount or currency
    REFUSED = "refused"  # not authentic, or not understood
    UNKNOWN = "unknown"  # no such payment


OUTCOME = {
    PaymentStatus.CONFIRMED: Decision.CREDITED,
    PaymentStatus.REJECTED: Decision.DECLINED,
    PaymentStatus.ERROR: Decision.DECLINED,
    PaymentStatus.CANCELLED: Decision.ABANDONED,
    PaymentStatus.REFUNDED: Decision.DECLINED,
}
GIVEN_UP = (PaymentState.EXPIRED, PaymentState.ERROR)


@dataclass(frozen=True)
class Known:
    """The house's data of a payment when a notification arrives."""

    state: str
    amount: int
    currency: str
    last_sequence: int
    authorisation: str


def decide(known: Known, status_report: StatusReport, path: NoticePath) -> Decision:
    """Return what *status_report* means.

    The response to a query (`NoticePath.QUERY`) is the provider's final word.
    """
    if status_report.amount not in (None, known.amount) or status_report.currency != known.currency:
        return Decision.MISMATCHED
    is_latest = path is NoticePath.QUERY
    if 0 < status_report.sequence < known.last_sequence and not is_latest:
        return Decision.OUTDATED
    outcome = OUTCOME.get(status_report.word)
    if outcome is None:
        return Decision.NOTED
    if known.state in PAID:
        return _decide_paid(known, status_report)
    if known.state == PaymentState.WAITING:
        return outcome
    if outcome.value == known.state or (known.state, outcome) == (PaymentState.EXPIRED, Decision.ABANDONED):
        return Decision.REPEATED  # the house gives up by cancelling
    if known.state in GIVEN_UP or is_latest:
        return Decision.LATE if outcome is Decision.CREDITED else outcome
    return Decision.CONTRADICTED


def _decide_paid(known: Known, status_report: StatusReport) -> Decision:
    """Return what *status_report* means for a payment whose money has arrived."""
    if status_report.word == PaymentStatus.REFUNDED and known.state != PaymentState.CREDITED:
        return Decision.RETURNED if known.state == PaymentState.HELD else Decision.REPEATED
    is_the_same = (
        OUTCOME[status_report.word] is Decision.CREDITED and status_report.authorisation == known.authorisation
    )
    return Decision.REPEATED if is_the_same else Decision.CONTRADICTED


def locked(payment_id: UUID) -> Payment:
    """Lock a payment until the transaction ends. Raises Payment.DoesNotExist."""
    found = Payment.objects.select_for_update(of=("self",)).select_related("player__user", "player__jurisdiction")
    return found.get(pk=payment_id)


def on_notice(payment: Payment, status_report: StatusReport, path: NoticePath, raw: bytes) -> Decision:
    """Decide what *status_report* about a `locked` payment means, apply it and store it.

    A repetition changes nothing.
    """
    known = Known(payment.state, payment.amount, payment.currency, payment.last_sequence, payment.authorisation)
    decision = decide(known, status_report, path)
    match decision:
        case Decision.CREDITED | Decision.LATE:
            Payment.objects.filter(pk=payment.pk).update(funding=status_report.funding)
            decision = _credit(payment, status_report)
        case Decision.RETURNED:
            record_return(payment)
        case Decision.DECLINED | Decision.ABANDONED:
            payment.decline_reason = status_report.reason if decision is Decision.DECLINED else ""
            close(payment, PaymentState(decision.value), because=status_report.reason or status_report.word)
        case Decision.CONTRADICTED | Decision.MISMATCHED:
            _doubt(payment, status_report, path, decision)
    if path is NoticePath.QUERY:
        payment.is_disputed = False
    payment.last_sequence = max(payment.last_sequence, status_report.sequence)
    payment.save(update_fields=["is_disputed", "asked_at", "last_sequence"])
    keep(payment.variant, path, raw, decision, payment=payment, status_report=status_report)
    return decision


def keep(
    variant: str,
    path: NoticePath,
    raw: bytes,
    decision: Decision,
    *,
    payment: Payment | None = None,
    status_report: StatusReport | None = None,
) -> None:
    """Store a notification and its decision. Without *status_report* it was not believed."""
    PaymentNotice.objects.create(
        payment=payment,
        variant=variant,
        path=path,
        raw_hash=hashlib.sha256(raw).digest(),
        is_authentic=decision is not Decision.REFUSED,
        word=status_report.word if status_report else "",
        sequence=status_report.sequence if status_report else 0,
        decision=decision,
    )


def journal_key(payment_id: UUID) -> UUID:
    """Return the idempotency key under which a payment is credited."""
    return uuid5(payment_id, "deposit")


def close(payment: Payment, state: PaymentState, *, because: str, by: str = "system") -> None:
    """End a payment without money, and release its reservation under the player's limits."""
    payment.state, payment.decided_at = state, Now()
    payment.save(update_fields=["state", "decline_reason", "decided_at"])
    limits.release_deposit(key=journal_key(payment.pk))
    log.record(f"payment.{state.value}", by=by, on=str(payment.player), data=facts_of(payment, because=because))
    if state is PaymentState.DECLINED:
        write(payment, "deposit_declined")


def _credit(payment: Payment, status_report: StatusReport) -> Decision:
    """Post authorised money. Returns `Decision.CREDITED`, or `Decision.HELD` where the database did not credit it."""
    player, authorisation = payment.player, status_report.authorisation
    accounts.player_account(player.pk, Mode.REAL)
    journal_id, after, held = ledger.credit_deposit(
        payment.pk, key=journal_key(payment.pk), authorisation=authorisation
    )
    payment.refresh_from_db(fields=MONEY)
    data = facts_of(payment, authorisation=authorisation, journal=journal_id, method=payment.variant)
    if held is not None:
        log.record("deposit.held", by=str(player), on=str(player), data=data | {"because": held})
        write(payment, "deposit_held", reason=HeldReason(held).label)
        transaction.on_commit(ask_for_a_return)
        return Decision.HELD
    log.record("deposit.posted", by=str(player), on=str(player), data=data | balances(payment, after))
    write(payment, "deposit_credited")
    return Decision.CREDITED


def balances(payment: Payment, after: int) -> dict[str, log.Json]:
    """Return what events say of the balance that a deposit was credited to. *after* is in minor units."""
    return {"mode": Mode.REAL.value, "balance_before": after - payment.amount, "balance_after": after}


def record_return(payment: Payment) -> None:
    """Post that the provider has sent the money of a held, locked payment back, and write to the player."""
    journal_id, _left = ledger.return_deposit(payment.pk, reference=payment.authorisation)
    write_return(payment, by="system", data={"journal": journal_id, "reference": payment.authorisation})


def write_return(payment: Payment, *, by: str, data: dict[str, log.Json]) -> None:
    """Record that money was sent back, and write to the player."""
    payment.refresh_from_db(fields=MONEY)
    log.record("deposit.returned", by=by, on=str(payment.player), data=facts_of(payment) | data)
    write(payment, "deposit_returned", reason=HeldReason(payment.held_because).label)  # in the language of the mail


def _doubt(payment: Payment, status_report: StatusReport, path: NoticePath, decision: Decision) -> None:
    """Record a contradiction and have the provider queried.

    If the query repeats it, staff investigate.
    """
    said = {
        "state": payment.state,
        "word": status_report.word,
        "said_amount": status_report.amount,
        "said_currency": status_report.currency,
    }
    data = facts_of(payment, path=path.value, said_authorisation=status_report.authorisation, **said)
    log.record(f"payment.{decision.value}", by="system", on=str(payment.player), data=data)
    if path is not NoticePath.QUERY:
        payment.is_disputed, payment.asked_at = True, None
        transaction.on_commit(ask_for_an_answer)
    elif decision is Decision.MISMATCHED and payment.is_open:
        close(payment, PaymentState.ERROR, because="another amount")


def facts_of(payment: Payment, **more: log.Json) -> dict[str, log.Json]:
    """Return what events say of a payment."""
    facts: dict[str, log.Json] = {
        "payment": str(payment.pk),
        "provider": payment.variant,
        "amount": payment.amount,
        "currency": payment.currency,
    }
    return facts | more


def write(payment: Payment, template: str, **more: object) -> None:
    user = payment.player.user
    amount = format_money(payment.amount, payment.currency, user.language)
    mail.write(user=user, template=template, context={"amount": amount, "payment": payment, **more})


MONEY = ("state", "decided_at", "journal", "authorisation", "held_because", "held_journal", "funding")

# Disputed payments are due at once, and those of players who may not deposit any more; the others after a wait.
DUE = """
SELECT id, begun_at < %(now)s - %(give_up)s * interval '1 second' OR wallet_deposits_barred(player_id) IS NOT NULL
FROM wallet_payment
WHERE (is_disputed OR state = 'waiting' AND (
        begun_at < %(now)s - %(after)s * interval '1 second' OR wallet_deposits_barred(player_id) IS NOT NULL))
  AND (asked_at IS NULL OR asked_at < %(now)s - %(after)s * interval '1 second')
ORDER BY begun_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""
ASKED = "UPDATE wallet_payment SET asked_at = clock_timestamp() WHERE id = %s"
LATER = b""  # raw bytes stored when no message carried the answer


def ask_undecided() -> None:
    """Query all due payments, each in its own transaction. Several workers can run it.

    A payment that fails is logged and asked about later. It delays no other.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    while _ask_next(now):
        pass


@transaction.atomic
def ask_about(payment_id: UUID) -> Payment:
    """Query the provider about one payment, due or not, and return its new state."""
    with connection.cursor() as cursor:
        cursor.execute(ASKED, [payment_id])
    payment = locked(payment_id)
    _ask(payment)
    return payment


@transaction.atomic
def _ask_next(now: datetime) -> bool:
    times = {"now": now, "after": settings.PAYMENT_ASK_SECONDS, "give_up": settings.PAYMENT_GIVE_UP_SECONDS}
    with connection.cursor() as cursor:
        cursor.execute(DUE, times)
        row = cursor.fetchone()
        if row is None:
            return False
        cursor.execute(ASKED, [row[0]])
    with one_alone(row[0]):
        payment = locked(row[0])
        _ask(payment)
        if payment.is_open and row[1]:
            _give_up(payment)
    return True


@contextmanager
def one_alone(payment_id: UUID) -> Iterator[None]:
    """Take back and log what fails in the block, so that the next payment gets its turn."""
    try:
        with transaction.atomic():
            yield
    except Exception:
        logger.exception("payment %s waits", payment_id)


def _give_up(payment: Payment) -> None:
    """Cancel a payment at its provider, and end it if the provider confirms that nothing will come."""
    try:
        providers.cancel(payment)
    except (providers.NoProvider, providers.ProviderFailed) as error:
        if not payment.notices.filter(decision=Decision.NOT_CANCELLED).exists():
            keep(payment.variant, NoticePath.QUERY, LATER, Decision.NOT_CANCELLED, payment=payment)
            data = facts_of(payment, reason=type(error).__name__)
            log.record("payment.not_cancelled", by="system", on=str(payment.player), data=data)
        return
    close(payment, PaymentState.EXPIRED, because="nobody decided")
    keep(payment.variant, NoticePath.QUERY, LATER, Decision.EXPIRED, payment=payment)


def _ask(payment: Payment) -> None:
    """Query the provider and apply the answer. Record it if there is none."""
    try:
        status_report = providers.ask(payment)
        if status_report is not None:
            on_notice(payment, status_report, NoticePath.QUERY, payment.extra_data.encode())
    except (providers.NoProvider, providers.ProviderFailed) as error:
        data: dict[str, log.Json] = {
            "payment": str(payment.pk),
            "provider": payment.variant,
            "reason": type(error).__name__,
        }
        log.record("payment.not_answered", by="system", on=str(payment.player), data=data)
