"""How a mode is written in an address, of a page or of the API: ``real`` or ``free``."""

from django.urls import register_converter

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


register_converter(ModeConverter, "mode")
