"""How a mode is written in an address: ``real`` or ``free``."""

from wallet.models import Mode


class ModeConverter:
    """Path converter between the word in the address and the mode of the ledger."""

    regex = "real|free"

    def to_python(self, value: str) -> Mode:
        """Read the word."""
        return Mode[value.upper()]

    def to_url(self, value: Mode) -> str:
        """Write the word."""
        return Mode(value).name.lower()
