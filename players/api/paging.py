"""Lists without page numbers: a cursor says where to go on, and means nothing to whoever sends it back."""

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
    """Where a list goes on: text outside, whole numbers or texts inside, joined by commas."""

    def to_internal_value(self, data: Any) -> Any:
        """Return what `written` was given. Raises ValidationError."""
        text = super().to_internal_value(data)
        try:
            return tuple(
                base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode().split(",")
            )
        except (binascii.Error, ValueError) as error:
            raise _strange() from error


class NumberCursor(Cursor):
    """A cursor that is the number of the row which the page before ended with."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the number. Raises ValidationError."""
        parts = super().to_internal_value(data)
        if len(parts) != 1 or not NUMBER.fullmatch(parts[0]):
            raise _strange()
        return int(parts[0])


class Limit(serializers.IntegerField):
    """How many rows are asked for: digits as in all of the API, and no others."""

    def to_internal_value(self, data: Any) -> int:
        """Return the number. Raises ValidationError."""
        if not WHOLE.fullmatch(str(data)):
            self.fail("invalid")
        return int(super().to_internal_value(data))


class Paged(Strict):
    """The query of a list."""

    cursor = Cursor(required=False, max_length=200)
    limit = Limit(required=False, min_value=1, max_value=MOST, default=USUAL)


class Numbered(Paged):
    """The query of a list whose rows are told apart by a number."""

    cursor = NumberCursor(required=False)


def written(*parts: object) -> str:
    """Return the cursor that says these parts."""
    return base64.urlsafe_b64encode(",".join(map(str, parts)).encode()).decode().rstrip("=")


def page(items: list[Any], following: str | None) -> dict[str, Any]:
    """Return a page of a list as it is sent: *following* is the cursor of the next one, None at the end."""
    return {"items": items, "next": following}


def numbered(rows: Sequence[Row], limit: int, number: Callable[[Row], int]) -> tuple[Sequence[Row], str | None]:
    """Return the first *limit* of *rows*, which were read with one more, and the cursor of what follows."""
    shown = rows[:limit]
    return shown, written(number(shown[-1])) if len(rows) > limit else None


def _strange() -> serializers.ValidationError:
    return serializers.ValidationError(_("This cursor is none of this list’s."), code="cursor")
