"""Date field of forms.

It excludes the first and last dates of Python's range: in another time zone they would lie outside
it, and no date comes before or after them.
"""

from datetime import date
from typing import Any, Final

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator

FIRST: Final = date(2000, 1, 1)
LAST: Final = date(2999, 12, 31)


class Day(forms.DateField):
    """A date in the format that browsers send."""

    def __init__(self, label: Any, *, required: bool = False) -> None:
        super().__init__(
            label=label,
            required=required,
            input_formats=["%Y-%m-%d"],
            widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
            validators=[MinValueValidator(FIRST), MaxValueValidator(LAST)],
        )
