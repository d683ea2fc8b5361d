"""What the house reports of money outside play: what it owes its players, and what they paid in and were paid out."""

from audit.reports import kinds
from wallet.reports import liability, payments


def register() -> None:
    """Make them reports that can be asked for."""
    for kind in (liability.KIND, payments.KIND):
        kinds.register(kind)
