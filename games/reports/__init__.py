"""What the house reports of play."""

from audit.reports import kinds
from games.reports import performance


def register() -> None:
    """Make them reports that can be asked for."""
    kinds.register(performance.KIND)
