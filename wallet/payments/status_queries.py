"""Query providers about payments without a result, and give up after a time."""

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from audit import log
from wallet.models import NoticePath, Payment, PaymentState
from wallet.payments import notifications, providers
from wallet.payments.notifications import Decision

# Disputed payments are due at once, the others after a wait.
DUE = """
SELECT id, begun_at < %(now)s - %(give_up)s * interval '1 second' FROM wallet_payment
WHERE (is_disputed OR state = 'waiting' AND begun_at < %(now)s - %(after)s * interval '1 second')
  AND (asked_at IS NULL OR asked_at < %(now)s - %(after)s * interval '1 second')
ORDER BY begun_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""
ASKED = "UPDATE wallet_payment SET asked_at = clock_timestamp() WHERE id = %s"
LATER = b""  # raw bytes stored when no message carried the answer


def ask_undecided() -> None:
    """Query all due payments, each in its own transaction. Several workers can run it."""
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
    payment = notifications.locked(payment_id)
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
    payment = notifications.locked(row[0])
    _ask(payment)
    if payment.is_open and row[1]:
        notifications.close(payment, PaymentState.EXPIRED, because="nobody decided")
        notifications.keep(payment.variant, NoticePath.QUERY, LATER, Decision.EXPIRED, payment=payment)
    return True


def _ask(payment: Payment) -> None:
    """Query the provider and apply the answer. Record it if there is none."""
    try:
        status_report = providers.ask(payment)
        if status_report is not None:
            notifications.on_notice(payment, status_report, NoticePath.QUERY, payment.extra_data.encode())
    except (providers.NoProvider, providers.ProviderFailed) as error:
        data: dict[str, log.Json] = {
            "payment": str(payment.pk),
            "provider": payment.variant,
            "reason": type(error).__name__,
        }
        log.record("payment.not_answered", by="system", on=str(payment.player), data=data)
