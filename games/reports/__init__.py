"""Reports on play."""

from audit.reports import kinds
from games.reports import performance, reconciliation, statements, voids


def register() -> None:
    """Register the reports."""
    for kind in (
        performance.PERFORMANCE,
        performance.REVENUE,
        performance.REVENUE_TOGETHER,
        voids.KIND,
        reconciliation.KIND,
        statements.KIND,
    ):
        kinds.register(kind)
