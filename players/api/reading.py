"""Strict fields and parsers of API requests, and cursor pagination of lists.

A wrong type is an error and is never converted. A cursor is opaque to clients.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any, Final, NoReturn, TypeVar
from uuid import UUID

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from players import datetime_format
from players.api.problems import TOO_LARGE, Problem

LARGEST: Final = 10**15  # minor units, as in all forms
DEEPEST: Final = 8  # nested objects and lists
READ: Final = "query_is_read"  # attribute of a request


class StrictJSON(BaseParser):
    """Parses a JSON object in UTF-8. Refuses duplicate keys, ``NaN``, lone surrogates and deep nesting."""

    media_type = "application/json"

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the object. Raises ParseError; Problem if it is too large."""
        raw = stream.read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
        if len(raw) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise Problem(TOO_LARGE)
        try:
            text = raw.decode()
            _demand_shallow(text)
            found = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
            json.dumps(found, ensure_ascii=False).encode()  # a lone surrogate cannot be encoded
        except (ValueError, RecursionError) as error:
            raise ParseError from error
        if not isinstance(found, dict):
            raise ParseError
        return found


class Strict(serializers.Serializer[Any]):
    """A serializer that refuses unknown fields."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated object. Raises ValidationError, also for unknown fields."""
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, Mapping) else []
        if unknown:
            raise serializers.ValidationError({name: [_unknown()] for name in unknown})
        return super().to_internal_value(data)


class Whole(serializers.IntegerField):
    """A JSON integer: no string, no ``true``, no ``1.0``."""

    def to_internal_value(self, data: Any) -> int:
        """Return the number. Raises ValidationError."""
        if type(data) is not int:
            self.fail("invalid")
        return int(super().to_internal_value(data))


class Flag(serializers.BooleanField):
    """JSON ``true`` or ``false``; no string or number."""

    def to_internal_value(self, data: Any) -> bool:
        """Return the value. Raises ValidationError."""
        if type(data) is not bool:
            self.fail("invalid", input=data)
        return data


class Id(serializers.UUIDField):
    """A UUID as a string of 36 characters; no number, no braces."""

    def to_internal_value(self, data: Any) -> UUID:
        """Return the UUID. Raises ValidationError."""
        if not isinstance(data, str):
            self.fail("invalid", value=data)
        found: UUID = super().to_internal_value(data)
        if str(found) != data.lower():
            self.fail("invalid", value=data)
        return found


class Day(serializers.DateField):
    """A date between `date_field.FIRST` and `date_field.LAST`, which is valid in every time zone."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators += [MinValueValidator(datetime_format.FIRST), MaxValueValidator(datetime_format.LAST)]


class Moment(serializers.DateTimeField):
    """A time within the range of `Day`, in UTC if no time zone is given."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        first, last = (datetime.combine(day, time(), UTC) for day in (datetime_format.FIRST, datetime_format.LAST))
        self.validators += [MinValueValidator(first), MaxValueValidator(last)]


class MinorUnits(Whole):
    """An amount in whole minor units of its currency, from *min_value* (1 by default) to `LARGEST`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"min_value": 1, "max_value": LARGEST} | options))


class Text(serializers.CharField):
    """A JSON string; numbers are not converted."""

    def to_internal_value(self, data: Any) -> str:
        """Return the text. Raises ValidationError."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class Hex(Text):
    """A number of *length* lower-case hex digits."""

    def __init__(self, *, length: int, **options: Any) -> None:
        validators = [RegexValidator(f"^[0-9a-f]{{{length}}}$")]
        super().__init__(min_length=length, max_length=length, validators=validators, **options)


def body_of(request: Request, kind: type[Strict]) -> dict[str, Any]:
    """Return the validated body of a call. Raises ValidationError."""
    asked = kind(data=request.data)
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


def query_of(request: Request, kind: type[Strict]) -> dict[str, Any]:
    """Return the validated query parameters; each may occur once.

    Raises ValidationError with pointers ``/?name``.
    """
    vars(request)[READ] = True
    said = {name: values[-1] for name, values in request.query_params.lists()}
    twice = [name for name, values in request.query_params.lists() if len(values) > 1]
    if twice:
        raise serializers.ValidationError({f"?{name}": [_unknown()] for name in twice})
    asked = kind(data=said)
    if not asked.is_valid():
        raise serializers.ValidationError({f"?{name}": found for name, found in asked.errors.items()})
    return dict(asked.validated_data)


def demand_read_query(request: Request) -> None:
    """Raises ValidationError if the call has query parameters that no view has read with `query_of`."""
    if READ not in vars(request):
        query_of(request, Strict)


def _unknown() -> Any:
    return serializers.ErrorDetail(_("This field does not exist, or was sent twice."), code="unknown")


def _demand_shallow(text: str) -> None:
    """Raises ValueError if objects and lists are nested too deeply.

    Brackets inside strings count too, because no valid call has many.
    """
    depth = deepest = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    if deepest > DEEPEST:
        raise ValueError("too deep")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


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
