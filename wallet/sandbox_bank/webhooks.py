"""The sandbox bank's webhooks: signed HTTP requests, retried until accepted or `MOST_TRIES` is reached."""

from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus

import requests
from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import Value
from django.db.models.expressions import CombinedExpression, F
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from wallet.models import BankNotice
from wallet.sandbox_bank.protocol import HEADER, seconds_now, sign

SECONDS_TO_ANSWER = 10
MOST_TRIES = 6
SECONDS_BETWEEN_TRIES = 20
EXPIRES = 60  # seconds; the periodic task finds what a dropped hint missed


def in_seconds(seconds: int) -> CombinedExpression:
    """Return the database's time plus *seconds*."""
    return Now() + Value(timedelta(seconds=seconds))


def ask_for_the_post() -> None:
    """Start the webhook task. If the hint is lost, the periodic task sends the webhooks."""
    with suppress(OperationalError):
        current_app.send_task("wallet.tasks.send_bank_notices", retry=False, expires=EXPIRES)


def send_due() -> None:
    """Send the due webhooks, each in its own transaction. Several workers can run it."""
    while _send_next():
        pass


@transaction.atomic
def _send_next() -> bool:
    due = BankNotice.objects.filter(sent_at=None, tries__lt=MOST_TRIES, due_at__lte=Now()).order_by("due_at", "id")
    notice = due.select_for_update(skip_locked=True, of=("self",)).select_related("order").first()
    if notice is None:
        return False
    notice.tries = F("tries") + 1
    if deliver(notice.order.callback_url, notice.body):
        notice.sent_at = Now()
    else:
        notice.due_at = in_seconds(SECONDS_BETWEEN_TRIES)
    notice.save(update_fields=["tries", "sent_at", "due_at"])
    return True


def deliver(address: str, text: str) -> bool:
    """Post a signed message and return whether it was accepted."""
    body = text.encode()
    headers = {"Content-Type": "application/json", HEADER: sign(body, settings.SANDBOX_BANK_KEY, at=seconds_now())}
    try:
        answer = requests.post(address, data=body, headers=headers, timeout=SECONDS_TO_ANSWER, allow_redirects=False)
    except requests.RequestException:
        return False
    return answer.status_code == HTTPStatus.OK
