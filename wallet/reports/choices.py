"""Filters of the money reports."""

from typing import Final

from audit.reports.kinds import Choice
from wallet.models import Currency, Mode

CURRENCY: Final = Choice("currency", "Currency", lambda: tuple((code, code) for code in Currency.values))
MODE: Final = Choice("mode", "Money", lambda: tuple((mode.value, mode.label) for mode in Mode))
