"""URL converter of the kind of money: ``real`` or ``free``, for pages and the API."""

from django.urls import register_converter

from wallet.models import Mode


class ModeConverter:
    """Path converter between the word in the URL and the mode of the ledger."""

    regex = "real|free"

    def to_python(self, value: str) -> Mode:
        """Return the mode of a word."""
        return Mode[value.upper()]

    def to_url(self, value: Mode) -> str:
        """Return the word of a mode."""
        return Mode(value).name.lower()


register_converter(ModeConverter, "mode")
