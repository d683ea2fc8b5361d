"""Compare the lines of a statement with the house's payments and withdrawals.

Nothing is written here. The preview and the stored result come from the same function.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext

from wallet.models import (
    PAID,
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
ONCE: Final = (LineKind.DEPOSIT, LineKind.PAYOUT)  # each settles once; a deposit may have several refunds


class TooMuchMissing(Exception):
    """The file cannot be the statement of this interval. The message is a sentence for staff."""


@dataclass(frozen=True)
class Known:
    """The house's record of a payment or withdrawal. *amount* in minor units.

    *is_settled* is true if money moved.
    """

    subject: str  # its name in the event log
    amount: int
    currency: str
    state: str
    is_settled: bool
    authorisation: str

    def stored(self) -> dict[str, Any]:
        """Return it as JSON for storage."""
        return {name: value for name, value in asdict(self).items() if name not in ("subject", "is_settled")}


@dataclass(frozen=True)
class Compared:
    """A statement line with the house's record and the result of the comparison."""

    line: Line
    subject: str
    known: Known | None
    verdict: Verdict
    differences: tuple[DifferenceKind, ...]


@dataclass(frozen=True)
class Total:
    """Totals of one currency and kind at the provider and at the house, for the same days.

    Minor units.
    """

    currency: str
    kind: str
    said_count: int
    said: int
    known_count: int
    known: int

    @property
    def apart(self) -> int:
        """The provider's total minus the house's."""
        return self.said - self.known


@dataclass(frozen=True)
class Comparison:
    """The result of comparing a whole statement."""

    lines: Sequence[Compared]
    missing: Sequence[Known]
    totals: Sequence[Total]

    def count(self, verdict: Verdict) -> int:
        """Return how many lines have this verdict."""
        return sum(compared.verdict is verdict for compared in self.lines)


def compare(lines: Sequence[Line], *, provider: str, since: date, until: date) -> Comparison:
    """Compare a provider's statement for *since* to *until* with the house's records.

    Raises TooMuchMissing.
    """
    known = _Known(lines, provider)
    subjects = {line: found.subject if (found := known.of(line)) else _unknown(line) for line in lines}
    before = _said_before(provider, set(subjects.values()))
    compared, reported_lines = [], ReportedLines(before)
    for line in lines:
        subject, found = subjects[line], known.of(line)
        if reported_lines.earlier(line, subject):
            compared.append(Compared(line, subject, found, Verdict.REPEATED, ()))
            continue
        differences = [
            *_differences(line, found),
            *([DifferenceKind.DUPLICATE] if reported_lines.twice(line, subject) else []),
        ]
        verdict = Verdict.DIFFERS if differences else Verdict.MATCHED
        compared.append(Compared(line, subject, found, verdict, tuple(differences)))
    house = {LineKind.DEPOSIT: _credited(provider, since, until), LineKind.PAYOUT: _paid(provider, since, until)}
    here = {(c.line.kind, c.subject) for c in compared if _is_counted(c)}
    not_here = [(kind, each) for kind, found in house.items() for each in found if (kind, each.subject) not in here]
    earlier = _said_before(provider, {each.subject for _kind, each in not_here})
    reported = {(line.kind, line.subject) for line in earlier if line.status == LineStatus.SETTLED}
    missing = [each for kind, each in not_here if (kind, each.subject) not in reported]
    if len(missing) > MOST_MISSING:
        raise TooMuchMissing(
            gettext(
                "More than %(most_missing)s of our payments in these days are missing from the file. "
                "Check that it is the right file."
            )
            % {"most_missing": f"{MOST_MISSING:,}"}
        )
    # Leave out on both sides what an earlier statement contained and this one does not count again.
    counted = {
        kind: [each for each in found if (kind, each.subject) in here or (kind, each.subject) not in reported]
        for kind, found in house.items()
    }
    return Comparison(compared, missing, _totals(compared, counted))


def _is_counted(compared: Compared) -> bool:
    """Return whether a line reports moved money and is the first to report it."""
    return compared.line.status == LineStatus.SETTLED and compared.verdict is not Verdict.REPEATED


def _differences(line: Line, known: Known | None) -> list[DifferenceKind]:
    """Return how a line differs from the house's record."""
    if known is None:
        return [DifferenceKind.UNKNOWN]
    if line.kind not in ONCE:  # of refunds, the house knows those of held deposits; staff investigate any other
        if line.kind == LineKind.REFUND and known.state == PaymentState.RETURNED and line.amount == known.amount:
            return []
        return [DifferenceKind.TAKEN_BACK] if line.status == LineStatus.SETTLED and known.is_settled else []
    differ = {
        DifferenceKind.AMOUNT: line.amount != known.amount,
        DifferenceKind.CURRENCY: line.currency != known.currency,
        DifferenceKind.STATUS: (line.status == LineStatus.SETTLED) != known.is_settled,
        DifferenceKind.AUTHORISATION: bool(line.authorisation and known.authorisation)
        and line.authorisation != known.authorisation,
    }
    return [kind for kind, differs in differ.items() if differs]


class ReportedLines:
    """Lines seen so far: those of earlier statements and the processed lines of this one."""

    def __init__(self, before: Iterable[StatementLine]) -> None:
        rows = list(before)
        self._earlier = {_said(row, row.subject) for row in rows}
        self._settled = {(row.kind, row.subject) for row in rows if row.status == LineStatus.SETTLED}
        self._claims = {_claim(row, row.subject) for row in rows}
        self._here: set[tuple[Any, ...]] = set()
        self._settled_here: set[tuple[str, str]] = set()

    def earlier(self, line: Line, subject: str) -> bool:
        """Return whether an earlier statement has the identical line."""
        return _said(line, subject) in self._earlier

    def twice(self, line: Line, subject: str) -> bool:
        """Return whether the line repeats an earlier one, and remember it.

        A line with the same numbers and day as one of an earlier statement corrects that one.
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
    """Return the identity of the provider's entry, without amount and status."""
    return (line.kind, subject, line.reference, line.authorisation, line.day)


def _unknown(line: Line) -> str:
    return f"unknown:{line.reference or line.authorisation}"


def _said_before(provider: str, subjects: Collection[str]) -> list[StatementLine]:
    return list(StatementLine.objects.filter(subject__in=subjects, statement__provider=provider))


class _Known:
    """The house's records, found by its own reference or else by the provider's number."""

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
        """Return the house's record for a line, or None."""
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
        payment.state in PAID,
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
    """Return the deposits that arrived in these days, in UTC: credited at once, or held."""
    begin, end = _bounds(since, until)
    arrived = Payment.objects.filter(variant=provider, state__in=PAID)
    at_once = arrived.filter(decided_at__gte=begin, decided_at__lt=end, held_journal=None)
    held = arrived.filter(held_journal__at__gte=begin, held_journal__at__lt=end)
    return [_of_payment(payment) for found in (at_once, held) for payment in found.order_by("decided_at", "pk")]


def _paid(provider: str, since: date, until: date) -> list[Known]:
    """Return the withdrawals paid by the bank in these days, in UTC."""
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
