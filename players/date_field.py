"""A day in a form. The first and the last days that Python knows are none: no clock of another zone can tell when they
begin, and nothing comes before one or after the other.
"""

from datetime import date
from typing import Any, Final

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator

FIRST: Final = date(2000, 1, 1)
LAST: Final = date(2999, 12, 31)


class Day(forms.DateField):
    """A day as browsers send it."""

    def __init__(self, label: Any, *, required: bool = False) -> None:
        super().__init__(
            label=label,
            required=required,
            input_formats=["%Y-%m-%d"],
            widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
            validators=[MinValueValidator(FIRST), MaxValueValidator(LAST)],
        )
