"""What the house reports of play."""

from audit.reports import kinds
from games.reports import performance, reconciliation, revenue, statements, voids


def register() -> None:
    """Make them reports that can be asked for."""
    for kind in (performance.KIND, revenue.KIND, voids.KIND, reconciliation.KIND, statements.KIND):
        kinds.register(kind)
