"""Export the result of a statement: lines with verdicts, missing payments, totals.

It uses the report writer, so no cell starts a formula and amounts are exact.
"""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db.models import Prefetch

from audit.reports.files import whole
from audit.reports.heading import Head
from audit.reports.kinds import Column, Form, Row
from wallet.models import Difference, DifferenceKind, ProviderStatement
from wallet.provider_statements.comparison import Total

BATCH = 2000
COLUMNS = (
    Column("line", "Line", Form.NUMBER),
    Column("came_to", "Result"),
    Column("differences", "Differences"),
    Column("kind", "Kind"),
    Column("about", "Subject"),
    Column("reference", "Reference"),
    Column("authorisation", "Authorisation number"),
    Column("date", "Date"),
    Column("status", "Status"),
    Column("currency", "Currency"),
    Column("amount", "Provider amount", Form.MONEY),
    Column("known", "Our amount", Form.MONEY),
    Column("known_currency", "Our currency"),
    Column("state", "Our status"),
    Column("settled", "Settled"),
    Column("words", "Notes"),
)


def written(statement: ProviderStatement, name: str) -> bytes:
    """Return the result of a statement as a file. *name* is csv or xlsx."""
    return whole(name, _head(statement), _rows(statement))


def _head(statement: ProviderStatement) -> Head:
    lines = (
        ("Operator", settings.OPERATOR_NAME),
        ("Statement", str(statement.pk)),
        ("Provider", statement.provider),
        ("From", statement.since.isoformat()),
        ("To (inclusive)", statement.until.isoformat()),
        ("Confirmed by", statement.by),
        ("Confirmed at", statement.at.isoformat()),
        ("File, SHA-256", bytes(statement.digest).hex()),
    )
    totals = [_total(Total(**total)) for total in statement.totals]
    return Head(lines, "UTC", COLUMNS, totals, ("Days are UTC. Totals count settled lines only, each line once.",))


def _total(total: Total) -> Row:
    text = f"{total.said_count} at the provider, {total.known_count} in our records"
    blank = ("",) * 3
    return (
        None,
        text,
        "",
        total.kind,
        *blank,
        "",
        "",
        total.currency,
        total.said,
        total.known,
        total.currency,
        "",
        "",
        "",
    )


def _rows(statement: ProviderStatement) -> Iterator[Row]:
    of_lines = Prefetch("differences", Difference.objects.order_by("pk").prefetch_related("steps"))
    for line in statement.lines.order_by("number").prefetch_related(of_lines).iterator(BATCH):
        found = list(line.differences.all())
        known: dict[str, Any] = next((each.known for each in found if each.known), {})
        yield (
            line.number,
            line.get_verdict_display(),
            ", ".join(each.get_kind_display() for each in found),
            line.kind,
            line.subject,
            line.reference,
            line.authorisation,
            line.day.isoformat(),
            line.status,
            line.currency,
            line.amount,
            known.get("amount"),
            known.get("currency", ""),
            known.get("state", ""),
            *_steps(found),
        )
    lacking = statement.differences.filter(kind=DifferenceKind.MISSING).order_by("pk").prefetch_related("steps")
    for each in lacking.iterator(BATCH):
        blank = ("",) * 5
        said = (None, "", each.get_kind_display(), "", each.subject, *blank)
        known = each.known
        yield (*said[:9], known["currency"], None, known["amount"], known["currency"], known["state"], *_steps([each]))


def _steps(found: list[Difference]) -> tuple[str, str]:
    """Return whether all differences are settled, and the notes."""
    settled = all(any(step.settles for step in each.steps.all()) for each in found)
    words = [
        f"{step.by}: {step.words}" for each in found for step in sorted(each.steps.all(), key=lambda step: step.pk)
    ]
    return ("yes" if settled else "no") if found else "", " / ".join(words)
