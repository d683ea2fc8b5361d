"""The sandbox bank's statement of deposits and payouts, as CSV."""

import csv
from collections.abc import Iterator
from datetime import date, datetime
from typing import Final, Protocol

from wallet.models import BankOrder, BankPayout, OrderState

COLUMNS: Final = ("reference", "authorisation", "kind", "amount", "currency", "date", "status")
SETTLED: Final = "settled"
STATUS_OF: Final = {
    OrderState.OPEN: "pending",
    OrderState.APPROVED: SETTLED,
    OrderState.DECLINED: "failed",
    OrderState.CANCELLED: "failed",
}
STATUS_OF_PAYOUT: Final = {"accepted": "pending", "paid": SETTLED, "refused": "failed"}


class Paper(Protocol):
    """Anything that a statement can be written to."""

    def write(self, text: str, /) -> object:
        """Write the next piece."""


def write_statement(paper: Paper, *, since: date, until: date) -> None:
    """Write every deposit and payout of the days from *since* to *until* as CSV. Both days included, in UTC."""
    rows = csv.writer(paper)
    rows.writerow(COLUMNS)
    rows.writerows(_deposits(since, until))
    rows.writerows(_payouts(since, until))


def _deposits(since: date, until: date) -> Iterator[tuple[str, ...]]:
    orders = BankOrder.objects.filter(decided_at__date__gte=since, decided_at__date__lte=until)
    for order in orders.order_by("decided_at", "pk"):
        status = STATUS_OF[OrderState(order.state)]
        names = str(order.reference), order.authorisation
        yield (*names, "deposit", *_money(order.amount, order.currency), _day(order.decided_at), status)


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
