"""What the house reports of play."""

from audit.reports import kinds
from games.reports import performance, reconciliation


def register() -> None:
    """Make them reports that can be asked for."""
    for kind in (performance.KIND, reconciliation.KIND):
        kinds.register(kind)
