"""Report: operator liability (GLI-19 v3.0, 2.9.3), at the beginning and the end of an interval.

Balances are sums of entries, so they are exact for any moment. Money on hold for bets on shared
tables is current state without a history. It is known from hourly account snapshots (`AccountSnapshot`),
and for the present moment.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db.models import Sum

from audit import replica
from audit.reports import kinds
from audit.reports.kinds import Answer, Asked, Column, Form, Interval, Row
from wallet.ledger import hourly_totals
from wallet.models import Account, AccountKind, AccountSnapshot, Currency, Mode
from wallet.reports.choices import CURRENCY

HELD_FOR_PLAYERS: Final = (
    AccountKind.CASH,
    AccountKind.PURSE,
    AccountKind.BANK,
    AccountKind.ESCROW,
    AccountKind.STAKES,
    AccountKind.PENDING,
)
NOW: Final = timedelta(minutes=1)  # an interval that ended less than this ago counts as ending now

COLUMNS: Final = (
    Column("currency", "Currency"),
    Column("moment", "Point"),
    Column("at", "Time", Form.TIME),
    Column("total", "Total held for players", Form.MONEY),
    Column("available", "Available", Form.MONEY),
    Column("held", "Held", Form.MONEY),
    Column("pending", "Pending withdrawal", Form.MONEY),
    Column("cash", "Cash", Form.MONEY),
    Column("purse", "In Golden Baccarat", Form.MONEY),
    Column("set_aside", "Held for bets", Form.MONEY),
    Column("stakes", "Stakes in rounds", Form.MONEY),
    Column("banks", "Banks at Chemin de Fer", Form.MONEY),
    Column("set_aside_at", "Held as of", Form.TIME),
)


@dataclass(frozen=True)
class Aside:
    """The amounts on hold for bets at a moment, by currency, in minor units."""

    at: datetime
    amounts: Mapping[str, int]


def answer(asked: Asked) -> Answer:
    """Return what was held for players by currency at both ends of the interval."""
    return Answer(rows=_rows(asked), notes=lambda: NOTES)


NOTES: Final = (
    "Real money only. All amounts except held bets are the sum of ledger entries before that time.",
    "Held is the sum of held bets, stakes in unsettled rounds and banks at Chemin de Fer.",
    "Held bets are not recorded in the ledger; they are as of the time in the last column.",
)


def _rows(asked: Asked) -> Iterator[Row]:
    chosen = asked.choices.get("currency", "")
    opening = _lying(asked.interval.since)
    closing = opening + _read_totals(asked.interval)
    for word, moment, lying in (("beginning", asked.interval.since, opening), ("end", asked.interval.until, closing)):
        aside = _aside(moment)
        for currency in Currency.values:
            if chosen in ("", currency) and any(code == currency for code, _ in opening | closing):
                yield _row(word, moment, currency, lying, aside)


def _row(word: str, moment: datetime, currency: str, lying: "Lying", aside: Aside | None) -> Row:
    cash, purse, bank, escrow, stakes, pending = (lying[currency, kind] for kind in HELD_FOR_PLAYERS)
    spendable = cash + purse
    set_aside = min(aside.amounts.get(currency, 0), spendable) if aside else 0
    held = set_aside + escrow + stakes + bank
    return (
        currency,
        word,
        moment.astimezone(UTC).isoformat(),
        spendable + bank + escrow + stakes + pending,
        spendable - set_aside,
        held,
        pending,
        cash,
        purse,
        set_aside if aside else None,
        escrow + stakes,
        bank,
        aside.at.astimezone(UTC).isoformat() if aside else None,
    )


Lying = Counter[tuple[str, str]]
"""Minor units by currency and kind of account."""


def _lying(moment: datetime) -> Lying:
    return _read_totals(Interval(hourly_totals.BEGINNING, moment))


def _read_totals(interval: Interval) -> Lying:
    found = Lying()
    for sums in hourly_totals.read_totals(interval):
        if sums.mode == Mode.REAL and sums.account_kind in HELD_FOR_PLAYERS:
            found[sums.currency, sums.account_kind] += sums.amount
    return found


def _aside(moment: datetime) -> Aside | None:
    """Return the amounts on hold at *moment*: current, or of the last snapshot before it."""
    now = replica.as_of()
    if moment > now - NOW:
        held = Account.objects.filter(owner__isnull=False, mode=Mode.REAL).values("currency").annotate(sum=Sum("held"))
        return Aside(now, {row["currency"]: row["sum"] for row in held})
    return aside_before(moment)


def aside_before(moment: datetime) -> Aside | None:
    """Return the amounts on hold in the last snapshot before *moment*, or None."""
    snapshots = AccountSnapshot.objects.filter(mode=Mode.REAL, at__lte=moment)
    last = snapshots.order_by("-at").values_list("at", flat=True).first()
    if last is None:
        return None
    then = snapshots.filter(at=last).values("currency").annotate(sum=Sum("held"))
    return Aside(last, {row["currency"]: row["sum"] for row in then})


KIND: Final = kinds.Kind(
    name="liability",
    title="Operator liability",
    purpose="Player liability by currency at the start and end of the interval.",
    clause="GLI-19 v3.0, 2.9.3",
    columns=COLUMNS,
    answer=answer,
    choices=(CURRENCY,),
)
