"""What a program may say: JSON without any guessing. A typing error in a stake is told, not interpreted."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any, Final, NoReturn
from uuid import UUID

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from players import date_field
from players.api.problems import TOO_LARGE, Problem

LARGEST: Final = 10**15  # minor units, as on every form of the house
DEEPEST: Final = 8  # objects and lists within each other
READ: Final = "query_is_read"  # attribute of a request


class StrictJSON(BaseParser):
    """Reads a JSON object in UTF-8: no key twice, no ``NaN``, no half of a surrogate pair, nothing too deep."""

    media_type = "application/json"

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the object. Raises ParseError; Problem where it is too large."""
        raw = stream.read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
        if len(raw) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise Problem(TOO_LARGE)
        try:
            text = raw.decode()
            _demand_shallow(text)
            found = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
            json.dumps(found, ensure_ascii=False).encode()  # a lone surrogate has no UTF-8
        except (ValueError, RecursionError) as error:
            raise ParseError from error
        if not isinstance(found, dict):
            raise ParseError
        return found


class Strict(serializers.Serializer[Any]):
    """An object of which every field is known."""

    def to_internal_value(self, data: Any) -> Any:
        """Read it. Raises ValidationError, for fields that are not in the schema as well."""
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, Mapping) else []
        if unknown:
            raise serializers.ValidationError({name: [_unknown()] for name in unknown})
        return super().to_internal_value(data)


class Whole(serializers.IntegerField):
    """A number that is one: no text, no ``true``, no ``1.0``."""

    def to_internal_value(self, data: Any) -> int:
        """Read it. Raises ValidationError."""
        if type(data) is not int:
            self.fail("invalid")
        return int(super().to_internal_value(data))


class Flag(serializers.BooleanField):
    """``true`` or ``false``, and no word or number for it."""

    def to_internal_value(self, data: Any) -> bool:
        """Read it. Raises ValidationError."""
        if type(data) is not bool:
            self.fail("invalid", input=data)
        return data


class Id(serializers.UUIDField):
    """An id as it is written: text of 36 characters, and no number or braces."""

    def to_internal_value(self, data: Any) -> UUID:
        """Read it. Raises ValidationError."""
        if not isinstance(data, str):
            self.fail("invalid", value=data)
        found: UUID = super().to_internal_value(data)
        if str(found) != data.lower():
            self.fail("invalid", value=data)
        return found


class Day(serializers.DateField):
    """A day that clocks of every zone can tell the beginning and the end of."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators += [MinValueValidator(date_field.FIRST), MaxValueValidator(date_field.LAST)]


class Moment(serializers.DateTimeField):
    """A moment of such a day, by UTC where no zone is said."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        first, last = (datetime.combine(day, time(), UTC) for day in (date_field.FIRST, date_field.LAST))
        self.validators += [MinValueValidator(first), MaxValueValidator(last)]


class MinorUnits(Whole):
    """An amount of money in whole minor units of its currency, from *min_value* up to what the house takes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"min_value": 1, "max_value": LARGEST} | options))


class Text(serializers.CharField):
    """Text that was sent as text."""

    def to_internal_value(self, data: Any) -> str:
        """Read it. Raises ValidationError."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


def body_of(request: Request, kind: type[Strict]) -> dict[str, Any]:
    """Return what a call sent, checked. Raises ValidationError."""
    asked = kind(data=request.data)
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


def query_of(request: Request, kind: type[Strict]) -> dict[str, Any]:
    """Return what stands behind the ``?``, checked: each name once. Raises ValidationError with pointers ``/?name``."""
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
    """Raises ValidationError where a call says something behind the ``?`` that nobody has read with `query_of`."""
    if READ not in vars(request):
        query_of(request, Strict)


def _unknown() -> Any:
    return serializers.ErrorDetail(_("There is no such field, or it stands here twice."), code="unknown")


def _demand_shallow(text: str) -> None:
    """Raises ValueError where objects and lists stand too deep in each other; brackets in texts count as well, since
    no call of ours has many.
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
