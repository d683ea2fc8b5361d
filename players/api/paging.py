"""Cursor pagination for API lists. A cursor is opaque to clients."""

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from django.utils.translation import gettext as _
from rest_framework import serializers

from players.api.reading import Strict

MOST: Final = 100
USUAL: Final = 25
Row = TypeVar("Row")
NUMBER: Final = re.compile("[1-9][0-9]{0,17}", re.ASCII)
WHOLE: Final = re.compile("-?(0|[1-9][0-9]{0,17})", re.ASCII)


class Cursor(serializers.CharField):
    """An opaque cursor: base64 of numbers or texts, joined by commas."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the parts that `written` encoded. Raises ValidationError."""
        text = super().to_internal_value(data)
        try:
            return tuple(
                base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode().split(",")
            )
        except (binascii.Error, ValueError) as error:
            raise _strange() from error


class NumberCursor(Cursor):
    """A cursor with one part: the number of the last row of the previous page."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the number. Raises ValidationError."""
        parts = super().to_internal_value(data)
        if len(parts) != 1 or not NUMBER.fullmatch(parts[0]):
            raise _strange()
        return int(parts[0])


class Limit(serializers.IntegerField):
    """The number of rows asked for, as a plain decimal number."""

    def to_internal_value(self, data: Any) -> int:
        """Return the number. Raises ValidationError."""
        if not WHOLE.fullmatch(str(data)):
            self.fail("invalid")
        return int(super().to_internal_value(data))


class Paged(Strict):
    """Query parameters of a list."""

    cursor = Cursor(required=False, max_length=200)
    limit = Limit(required=False, min_value=1, max_value=MOST, default=USUAL)


class Numbered(Paged):
    """Query parameters of a list whose rows are identified by a number."""

    cursor = NumberCursor(required=False)


def written(*parts: object) -> str:
    """Return the cursor for these parts."""
    return base64.urlsafe_b64encode(",".join(map(str, parts)).encode()).decode().rstrip("=")


def page(items: list[Any], following: str | None) -> dict[str, Any]:
    """Return the JSON body of a page. *following* is the cursor of the next page, None at the end."""
    return {"items": items, "next": following}


def numbered(rows: Sequence[Row], limit: int, number: Callable[[Row], int]) -> tuple[Sequence[Row], str | None]:
    """Return the first *limit* of *rows* and the cursor of the next page. *rows* was read with one row more."""
    shown = rows[:limit]
    return shown, written(number(shown[-1])) if len(rows) > limit else None


def _strange() -> serializers.ValidationError:
    return serializers.ValidationError(_("This cursor does not belong to this list."), code="cursor")
