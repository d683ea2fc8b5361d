"""Reports on money outside play: operator liability, and deposits and withdrawals."""

from audit.reports import kinds
from wallet.reports import liability, payments


def register() -> None:
    """Register the reports."""
    for kind in (liability.KIND, payments.KIND):
        kinds.register(kind)
