"""Report kinds for tests of the report framework."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta

from django.db import connections

from audit.models import Report
from audit.reports import kinds, runner
from audit.reports.kinds import Answer, Asked, Choice, Column, Form, Interval, Kind, Period, Row
from audit.reports.requests import ask, clock

COLUMNS = (
    Column("what", "What"),
    Column("count", "Count", Form.NUMBER),
    Column("currency", "Currency"),
    Column("amount", "Amount", Form.MONEY),
    Column("share", "Share", Form.SHARE),
    Column("at", "When", Form.TIME),
)
ROW: Row = ("bread", 3, "SEK", 123_456, "0.9876", "2026-07-01T10:00:00+00:00")


def a_kind(name: str = "sales", answer: Callable[[Asked], Answer] | None = None, **more: object) -> Kind:
    """Return a kind with one row, or the rows of *answer*."""
    given = {"title": "Sales", "purpose": "What was sold.", "clause": "GLI-19 v3.0, 2.9.2", "columns": COLUMNS} | more
    return Kind(name=name, answer=answer or (lambda asked: Answer([ROW], of=1)), **given)  # type: ignore[arg-type]


def a_broken_kind(name: str) -> Kind:
    """Return a kind whose reports fail: its second row has no cells."""
    return a_kind(name, lambda asked: Answer([ROW, ()]))


@contextmanager
def registered(*these: Kind) -> Iterator[None]:
    """Register only these kinds."""
    before = dict(kinds._kinds)
    kinds._kinds.clear()
    try:
        for kind in these:
            kinds.register(kind)
        yield
    finally:
        kinds._kinds.clear()
        kinds._kinds.update(before)


def asked(kind: str = "sales", **more: object) -> Report:
    """Return a waiting report on an hour that ended long enough ago."""
    now = clock().replace(minute=0, second=0, microsecond=0)
    given = {
        "interval": Interval(now - timedelta(hours=2), now - timedelta(hours=1)),
        "zone": "Europe/Stockholm",
        "by": "staff:1",
    }
    return ask(kind=kind, **{"period": Period.OWN, "choices": {}, **given, **more})  # type: ignore[arg-type]


SHOP = Choice("shop", "Shop", lambda: [("north", "The northern one"), ("south", "The southern one")])


def made_here(report: Report) -> Report:
    """Make the report at once, in the transaction of the test."""
    runner.make(report.pk, connections["default"], nullcontext)
    report.refresh_from_db()
    return report
