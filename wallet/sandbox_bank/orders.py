"""Payment orders at the sandbox bank, and the messages between the bank and its customers."""

import csv
import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from http import HTTPStatus
from typing import Final, Protocol
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.core import signing
from django.db import connection, transaction
from django.db.models import Value
from django.db.models.expressions import CombinedExpression, F
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from players import key_rotation
from wallet.models import BankNotice, BankOrder, BankPayout, Behaviour, DeclineReason, Funding, OrderState

HEADER = "Sandbox-Bank-Signature"
SECONDS_GOOD = 300  # maximum age of a signed message; an older one is a replay
SALT = "sandbox-bank.request"


class BadRequestToBank(Exception):
    """The text is not a valid request of a customer of the bank."""


class BadNotice(Exception):
    """The message is not from the bank, or its time is outside the window."""


@dataclass(frozen=True)
class PayRequest:
    """A payee's payment request, signed, passed through the payer's browser."""

    reference: UUID  # the payee's reference
    payee: str
    amount: int  # minor units
    currency: str
    callback_url: str  # URL for the bank's webhooks
    return_path: str  # path for the payer's return
    refuses_credit: bool = False  # whether the payee may take no credit


def seal(request: PayRequest, key: str) -> str:
    """Serialise and sign a request.

    *key* may contain several keys, here and below, so that one can be replaced. The first one
    signs; all are accepted.
    """
    return signing.dumps(asdict(request) | {"reference": str(request.reference)}, key=_first(key), salt=SALT)


def unseal(text: str, key: str) -> PayRequest:
    """Verify and parse a request. Raises BadRequestToBank."""
    try:
        fields = signing.loads(text, key=_first(key), salt=SALT, fallback_keys=[*key_rotation.keys_of(key)[1:]])
    except signing.BadSignature as error:
        raise BadRequestToBank from error
    return PayRequest(**fields | {"reference": UUID(fields["reference"])})


def sign(body: bytes, key: str, *, at: int) -> str:
    """Return the signature header of a message sent *at* (seconds since 1970)."""
    return f"t={at},v1={_digest(body, _first(key), at)}"


def check(body: bytes, header: str, key: str, *, now: int) -> None:
    """Verify a message's signature and time. Raises BadNotice."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    at = parts.get("t", "")
    if not (at.isascii() and at.isdecimal() and len(at) < 12):
        raise BadNotice("no time")
    said = parts.get("v1", "").encode()
    if not any(hmac.compare_digest(_digest(body, each, int(at)).encode(), said) for each in key_rotation.keys_of(key)):
        raise BadNotice("wrong signature")
    if abs(now - int(at)) > SECONDS_GOOD:
        raise BadNotice("not of now")


def seconds_now() -> int:
    """Return the database's time as seconds since 1970."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::bigint")
        (seconds,) = cursor.fetchone()
    return int(seconds)


def _digest(body: bytes, key: str, at: int) -> str:
    return hmac.new(key.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()


def _first(key: str) -> str:
    return key_rotation.keys_of(key)[0]


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
    import requests  # 6 MB in each process, and only the sandbox bank sends with it

    body = text.encode()
    headers = {"Content-Type": "application/json", HEADER: sign(body, settings.SANDBOX_BANK_KEY, at=seconds_now())}
    try:
        answer = requests.post(address, data=body, headers=headers, timeout=SECONDS_TO_ANSWER, allow_redirects=False)
    except requests.RequestException:
        return False
    return answer.status_code == HTTPStatus.OK


SECONDS_LATE = 45
SECONDS_BETWEEN = 3  # from the decision to the "received" that should have come before it

Statement = Mapping[str, str | int]


class Answer(StrEnum):
    """The payer's decision."""

    APPROVE = "approve"
    DECLINE = "decline"
    LEAVE = "leave"


STATE_AFTER = {
    Answer.APPROVE: OrderState.APPROVED,
    Answer.DECLINE: OrderState.DECLINED,
    Answer.LEAVE: OrderState.CANCELLED,
}


@transaction.atomic
def answer(
    *, request: PayRequest, said: Answer, behaviour: Behaviour, reason: str = "", funding: str = ""
) -> BankOrder:
    """Decide a payment, once, and queue the webhooks that *behaviour* prescribes.

    *reason* is a `DeclineReason`, or "" where the bank gives none. *funding* is a `Funding`, which the bank knows from
    the card's BIN; it declines credit where the payee refuses it. A decided order is unchanged.
    """
    if said is Answer.APPROVE and funding == Funding.CREDIT and request.refuses_credit:
        said, reason = Answer.DECLINE, DeclineReason.CREDIT
    order = _locked(request)
    if order.state != OrderState.OPEN:
        return order
    received = statement_of(order)
    order.funding = funding
    order.state, order.sequence, order.decided_at = STATE_AFTER[said], order.sequence + 1, Now()
    if said is Answer.DECLINE:
        order.decline_reason = reason
    if said is Answer.APPROVE:
        order.authorisation = f"SB{secrets.randbelow(10**10):010}"
    order.save()
    _owe(order, received, behaviour)
    return order


@transaction.atomic
def cancel(request: PayRequest) -> BankOrder:
    """Cancel a payment for the payee. A decided order is unchanged."""
    order = _locked(request)
    if order.state == OrderState.OPEN:
        order.state, order.sequence, order.decided_at = OrderState.CANCELLED, order.sequence + 1, Now()
        order.save()
    return order


@transaction.atomic
def refund(reference: UUID) -> BankOrder | None:
    """Send an approved payment back to its payer. Returns None if it was not approved; once is enough."""
    order = BankOrder.objects.select_for_update().filter(pk=reference).first()
    if order is not None and order.state == OrderState.APPROVED:
        order.state, order.sequence, order.refunded_at = OrderState.REFUNDED, order.sequence + 1, Now()
        order.save()
    return order if order is not None and order.state == OrderState.REFUNDED else None


def _locked(request: PayRequest) -> BankOrder:
    """Return the order of a request, locked, and make it if the payer never opened the page."""
    facts = {"amount": request.amount, "currency": request.currency, "callback_url": request.callback_url}
    BankOrder.objects.bulk_create([BankOrder(reference=request.reference, **facts)], ignore_conflicts=True)
    return BankOrder.objects.select_for_update().get(pk=request.reference)


def statement(reference: UUID) -> Statement | None:
    """Return the status of an order in the form of the webhooks.

    None if the payer never opened the page.
    """
    order = BankOrder.objects.filter(pk=reference).first()
    return statement_of(order) if order else None


def statement_of(order: BankOrder) -> Statement:
    """Return the webhook body of an order."""
    return {
        "reference": str(order.reference),
        "state": order.state,
        "amount": order.amount,
        "currency": order.currency,
        "authorisation": order.authorisation,
        "sequence": order.sequence,
        "reason": order.decline_reason,
        "funding": order.funding,
    }


def _owe(order: BankOrder, received: Statement, behaviour: Behaviour) -> None:
    decided = statement_of(order)
    due: tuple[tuple[Statement, int], ...] = {
        Behaviour.PROMPT: ((received, 0), (decided, 0)),
        Behaviour.LATE: ((decided, SECONDS_LATE),),
        Behaviour.TWICE: ((decided, 0), (decided, 0)),
        Behaviour.SHUFFLED: ((decided, 0), (received, SECONDS_BETWEEN)),
        Behaviour.NEVER: (),
    }[behaviour]
    for said, seconds in due:
        BankNotice.objects.create(order=order, body=json.dumps(said), due_at=in_seconds(seconds))
    if due:
        transaction.on_commit(ask_for_the_post)


COLUMNS: Final = ("reference", "authorisation", "kind", "amount", "currency", "date", "status")
SETTLED: Final = "settled"
STATUS_OF: Final = {
    OrderState.OPEN: "pending",
    OrderState.APPROVED: SETTLED,
    OrderState.DECLINED: "failed",
    OrderState.CANCELLED: "failed",
    OrderState.REFUNDED: SETTLED,
}
STATUS_OF_PAYOUT: Final = {"accepted": "pending", "paid": SETTLED, "refused": "failed"}


class Paper(Protocol):
    """Anything that a statement can be written to."""

    def write(self, text: str, /) -> object:
        """Write the next piece."""


def write_statement(paper: Paper, *, since: date, until: date) -> None:
    """Write every deposit, refund and payout of the days from *since* to *until* as CSV.

    Both days included, in UTC.
    """
    rows = csv.writer(paper)
    rows.writerow(COLUMNS)
    rows.writerows(_deposits(since, until))
    rows.writerows(_refunds(since, until))
    rows.writerows(_payouts(since, until))


def _deposits(since: date, until: date) -> Iterator[tuple[str, ...]]:
    orders = BankOrder.objects.filter(decided_at__date__gte=since, decided_at__date__lte=until)
    for order in orders.order_by("decided_at", "pk"):
        status = STATUS_OF[OrderState(order.state)]
        names = str(order.reference), order.authorisation
        yield (*names, "deposit", *_money(order.amount, order.currency), _day(order.decided_at), status)


def _refunds(since: date, until: date) -> Iterator[tuple[str, ...]]:
    orders = BankOrder.objects.filter(refunded_at__date__gte=since, refunded_at__date__lte=until)
    for order in orders.order_by("refunded_at", "pk"):
        names = str(order.reference), order.authorisation
        yield (*names, "refund", *_money(order.amount, order.currency), _day(order.refunded_at), SETTLED)


def _payouts(since: date, until: date) -> Iterator[tuple[str, ...]]:
    payouts = BankPayout.objects.filter(due_at__date__gte=since, due_at__date__lte=until)
    for payout in payouts.order_by("due_at", "pk"):
        names = str(payout.reference), payout.number
        money = _money(payout.amount, payout.currency)
        yield (*names, "payout", *money, _day(payout.due_at), STATUS_OF_PAYOUT[payout.state])


def _money(minor: int, currency: str) -> tuple[str, str]:
    return f"{minor // 100}.{minor % 100:02}", currency


def _day(at: datetime | None) -> str:
    return at.date().isoformat() if at else ""
