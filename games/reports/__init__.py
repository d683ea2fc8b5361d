"""Reports on play."""

from audit.reports import kinds
from games.reports import performance, reconciliation, revenue, statements, voids


def register() -> None:
    """Register the reports."""
    for kind in (performance.KIND, revenue.KIND, voids.KIND, reconciliation.KIND, statements.KIND):
        kinds.register(kind)
