"""Holds the lines of a statement against what the house has. Nothing is written here: the preview and what is stored
come from the same answer.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID

from wallet.models import (
    DifferenceKind,
    LineKind,
    LineStatus,
    Payment,
    PaymentState,
    StatementLine,
    Verdict,
    Withdrawal,
    WithdrawalStatus,
    WithdrawalStep,
)
from wallet.provider_statements.parser import Line

MOST_MISSING: Final = 20_000
ONCE: Final = (LineKind.DEPOSIT, LineKind.PAYOUT)  # which settle once; of one deposit there may be several refunds


class TooMuchMissing(Exception):
    """The statement cannot be the one of this interval. The message is a sentence for staff."""


@dataclass(frozen=True)
class Known:
    """What the house has of something, of *amount* minor units; *is_settled* where money moved."""

    subject: str  # as the event log names it
    amount: int
    currency: str
    state: str
    is_settled: bool
    authorisation: str

    def stored(self) -> dict[str, Any]:
        """Return it as JSON keeps it."""
        return {name: value for name, value in asdict(self).items() if name not in ("subject", "is_settled")}


@dataclass(frozen=True)
class Compared:
    """A line with what it is about and what came of it."""

    line: Line
    subject: str
    known: Known | None
    verdict: Verdict
    differences: tuple[DifferenceKind, ...]


@dataclass(frozen=True)
class Total:
    """What the provider counts in one currency and kind, and what the house counts in the same days. Minor units."""

    currency: str
    kind: str
    said_count: int
    said: int
    known_count: int
    known: int

    @property
    def apart(self) -> int:
        """By how much the provider counts more."""
        return self.said - self.known


@dataclass(frozen=True)
class Comparison:
    """Everything that came of a statement."""

    lines: Sequence[Compared]
    missing: Sequence[Known]
    totals: Sequence[Total]

    def count(self, verdict: Verdict) -> int:
        """Return how many lines came to this."""
        return sum(compared.verdict is verdict for compared in self.lines)


def compare(lines: Sequence[Line], *, provider: str, since: date, until: date) -> Comparison:
    """Hold *lines* of a provider's statement for the days from *since* to *until* against the house.

    Raises TooMuchMissing.
    """
    known = _Known(lines, provider)
    subjects = {line: found.subject if (found := known.of(line)) else _unknown(line) for line in lines}
    before = _said_before(provider, set(subjects.values()))
    compared, seen = [], Seen(before)
    for line in lines:
        subject, found = subjects[line], known.of(line)
        if seen.earlier(line, subject):
            compared.append(Compared(line, subject, found, Verdict.REPEATED, ()))
            continue
        differences = [*_differences(line, found), *([DifferenceKind.DUPLICATE] if seen.twice(line, subject) else [])]
        verdict = Verdict.DIFFERS if differences else Verdict.MATCHED
        compared.append(Compared(line, subject, found, verdict, tuple(differences)))
    house = {LineKind.DEPOSIT: _credited(provider, since, until), LineKind.PAYOUT: _paid(provider, since, until)}
    here = {(c.line.kind, c.subject) for c in compared if _is_counted(c)}
    not_here = [(kind, each) for kind, found in house.items() for each in found if (kind, each.subject) not in here]
    earlier = _said_before(provider, {each.subject for _kind, each in not_here})
    told = {(line.kind, line.subject) for line in earlier if line.status == LineStatus.SETTLED}
    missing = [each for kind, each in not_here if (kind, each.subject) not in told]
    if len(missing) > MOST_MISSING:
        raise TooMuchMissing(
            f"More than {MOST_MISSING:,} payments of the house in these days are not in the file. Is it the right one?"
        )
    # What an earlier statement told and this one does not count again is left out on both sides.
    counted = {
        kind: [each for each in found if (kind, each.subject) in here or (kind, each.subject) not in told]
        for kind, found in house.items()
    }
    return Comparison(compared, missing, _totals(compared, counted))


def _is_counted(compared: Compared) -> bool:
    """Whether a line says of money that it moved, and is the first to say so."""
    return compared.line.status == LineStatus.SETTLED and compared.verdict is not Verdict.REPEATED


def _differences(line: Line, known: Known | None) -> list[DifferenceKind]:
    """Say in what a line differs from what the house has of it."""
    if known is None:
        return [DifferenceKind.UNKNOWN]
    if line.kind not in ONCE:  # the house has no movement of the kind: where money was credited, people look into it
        return [DifferenceKind.TAKEN_BACK] if line.status == LineStatus.SETTLED and known.is_settled else []
    differ = {
        DifferenceKind.AMOUNT: line.amount != known.amount,
        DifferenceKind.CURRENCY: line.currency != known.currency,
        DifferenceKind.STATUS: (line.status == LineStatus.SETTLED) != known.is_settled,
        DifferenceKind.AUTHORISATION: bool(line.authorisation and known.authorisation)
        and line.authorisation != known.authorisation,
    }
    return [kind for kind, differs in differ.items() if differs]


class Seen:
    """What has been said already: by earlier statements, and by the lines of this one so far."""

    def __init__(self, before: Iterable[StatementLine]) -> None:
        rows = list(before)
        self._earlier = {_said(row, row.subject) for row in rows}
        self._settled = {(row.kind, row.subject) for row in rows if row.status == LineStatus.SETTLED}
        self._claims = {_claim(row, row.subject) for row in rows}
        self._here: set[tuple[Any, ...]] = set()
        self._settled_here: set[tuple[str, str]] = set()

    def earlier(self, line: Line, subject: str) -> bool:
        """Whether an earlier statement has the very same line."""
        return _said(line, subject) in self._earlier

    def twice(self, line: Line, subject: str) -> bool:
        """Whether the same was said before, and remember that it is said now. What an earlier statement said under the
        same numbers of the same day, this one corrects.
        """
        key, said = (line.kind, subject), _said(line, subject)
        is_settled = line.status == LineStatus.SETTLED
        before = key in self._settled and _claim(line, subject) not in self._claims
        found = said in self._here or (is_settled and line.kind in ONCE and (before or key in self._settled_here))
        self._here.add(said)
        if is_settled:
            self._settled_here.add(key)
        return found


def _said(line: Line | StatementLine, subject: str) -> tuple[Any, ...]:
    return (
        line.kind,
        subject,
        line.reference,
        line.authorisation,
        line.amount,
        line.currency,
        line.day,
        line.status,
    )


def _claim(line: Line | StatementLine, subject: str) -> tuple[Any, ...]:
    """Return which of the provider's own entries a line is, whatever it says of it."""
    return (line.kind, subject, line.reference, line.authorisation, line.day)


def _unknown(line: Line) -> str:
    return f"unknown:{line.reference or line.authorisation}"


def _said_before(provider: str, subjects: Collection[str]) -> list[StatementLine]:
    return list(StatementLine.objects.filter(subject__in=subjects, statement__provider=provider))


class _Known:
    """What the house has of what lines name: by its own reference first, else by the provider's number."""

    def __init__(self, lines: Sequence[Line], provider: str) -> None:
        payouts = [line for line in lines if line.kind == LineKind.PAYOUT]
        deposits = [line for line in lines if line.kind != LineKind.PAYOUT]
        self._by_reference: dict[tuple[bool, str], Known] = {}
        self._by_number: dict[tuple[bool, str], Known] = {}
        mine = Payment.objects.filter(variant=provider)
        for payment in (*mine.filter(pk__in=_ids(deposits)), *mine.filter(authorisation__in=_numbers(deposits))):
            known = _of_payment(payment)
            self._by_reference[False, str(payment.pk)] = known
            if payment.authorisation:
                self._by_number[False, payment.authorisation] = known
        numbers = _numbers(payouts)
        steps = WithdrawalStep.objects.filter(after=WithdrawalStatus.PAID, handler=provider, reason__in=numbers)
        named = Withdrawal.objects.filter(reference__in=_ids(payouts))
        paid = {step.withdrawal_id: step.reason for step in steps}
        last = WithdrawalStep.objects.filter(after=WithdrawalStatus.PAID, withdrawal__in=named)
        paid |= dict(last.values_list("withdrawal_id", "reason"))
        for withdrawal in (*named, *Withdrawal.objects.filter(pk__in=paid)):
            known = _of_withdrawal(withdrawal, paid.get(withdrawal.pk, ""))
            self._by_reference[True, str(withdrawal.reference)] = known
            if known.authorisation:
                self._by_number[True, known.authorisation] = known

    def of(self, line: Line) -> Known | None:
        """Return what the house has of a line, None where it has nothing of the kind."""
        is_payout = line.kind == LineKind.PAYOUT
        by_reference = self._by_reference.get((is_payout, line.reference.lower()))
        return by_reference or (None if line.reference else self._by_number.get((is_payout, line.authorisation)))


def _ids(lines: Iterable[Line]) -> list[UUID]:
    found = []
    for line in lines:
        try:
            found.append(UUID(line.reference))
        except ValueError:
            continue
    return found


def _numbers(lines: Iterable[Line]) -> list[str]:
    return [line.authorisation for line in lines if line.authorisation and not line.reference]


def _of_payment(payment: Payment) -> Known:
    return Known(
        str(payment),
        payment.amount,
        payment.currency,
        payment.state,
        payment.state == PaymentState.CREDITED,
        payment.authorisation,
    )


def _of_withdrawal(withdrawal: Withdrawal, number: str) -> Known:
    return Known(
        str(withdrawal),
        withdrawal.amount,
        withdrawal.currency,
        withdrawal.status,
        withdrawal.status == WithdrawalStatus.PAID,
        number,
    )


def _credited(provider: str, since: date, until: date) -> list[Known]:
    """Return the deposits that the house credited in these days, in UTC."""
    begin, end = _bounds(since, until)
    found = Payment.objects.filter(
        decided_at__gte=begin, decided_at__lt=end, variant=provider, state=PaymentState.CREDITED
    )
    return [_of_payment(payment) for payment in found.order_by("decided_at", "pk")]


def _paid(provider: str, since: date, until: date) -> list[Known]:
    """Return the withdrawals that the bank paid in these days, in UTC."""
    begin, end = _bounds(since, until)
    steps = WithdrawalStep.objects.filter(at__gte=begin, at__lt=end, after=WithdrawalStatus.PAID, handler=provider)
    return [
        _of_withdrawal(step.withdrawal, step.reason) for step in steps.select_related("withdrawal").order_by("at", "pk")
    ]


def _bounds(since: date, until: date) -> tuple[datetime, datetime]:
    begin = datetime.combine(since, time(), tzinfo=UTC)
    return begin, datetime.combine(until, time(), tzinfo=UTC) + timedelta(days=1)


def _totals(compared: Iterable[Compared], house: Mapping[LineKind, Sequence[Known]]) -> list[Total]:
    said: Counter[tuple[str, str]] = Counter()
    said_count: Counter[tuple[str, str]] = Counter()
    for each in compared:
        if _is_counted(each):
            said[each.line.currency, each.line.kind] += each.line.amount
            said_count[each.line.currency, each.line.kind] += 1
    known: Counter[tuple[str, str]] = Counter()
    known_count: Counter[tuple[str, str]] = Counter()
    for kind, rows in house.items():
        for row in rows:
            known[row.currency, kind.value] += row.amount
            known_count[row.currency, kind.value] += 1
    return [Total(*key, said_count[key], said[key], known_count[key], known[key]) for key in sorted({*said, *known})]
