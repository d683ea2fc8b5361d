"""OpenAPI description of the API, with every problem that a call can return."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar, cast

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema_serializer
from rest_framework import serializers

from players.api import problems
from players.api.calls import HEADER, LONGEST
from players.api.reading import MinorUnits, Strict

WRITES: Final = ("post", "put", "patch", "delete")


class FieldErrorSchema(Strict):
    """Error in one field."""

    pointer = serializers.CharField(help_text="JSON pointer of the field in the body, or /?name in the query")
    code = serializers.CharField()
    detail = serializers.CharField()


class ProblemSchema(serializers.Serializer[Any]):
    """A refusal (RFC 9457)."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField(help_text="stable, for API clients")
    detail = serializers.CharField(required=False, help_text="a sentence for people, in the language asked for")
    errors = FieldErrorSchema(many=True, required=False)  # type: ignore[assignment]  # a name of the framework's own


Kind = TypeVar("Kind", bound=type[serializers.Serializer[Any]])


def example(**members: Any) -> Callable[[Kind], Kind]:
    """Add an example to the description of a serializer. A test validates it against the schema."""
    decorate: Callable[[Kind], Kind] = extend_schema_serializer(examples=[OpenApiExample("Example", members)])
    return decorate


class Link(NamedTuple):
    """An OpenAPI link: the next operation and its parameters, as runtime expressions."""

    operation: str
    parameters: Mapping[str, str] = {}
    body: Mapping[str, str] = {}


class Linked(OpenApiResponse):
    """A response with OpenAPI links, by name."""

    def __init__(self, response: Any, description: str = "", /, **links: Link) -> None:
        super().__init__(response, description)
        self.links = links


class Streamed(OpenApiResponse):
    """A response that is an event stream, with the schema of each event by name.

    OpenAPI 3.1 cannot describe this, so the schema has it as ``x-events``.
    """

    def __init__(self, description: str, /, **events: Any) -> None:
        super().__init__(OpenApiTypes.STR, description)
        self.events = events


@cache
def page_of(kind: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Return the schema of a page of a list of *kind*."""
    members = {
        "items": kind(many=True),
        "next": serializers.CharField(allow_null=True, help_text="the cursor of the next page; null at the end"),
    }
    return type(f"{kind.__name__.removesuffix('Schema')}Page", (serializers.Serializer,), members)


def refusals(*codes: str) -> dict[tuple[int, str], OpenApiResponse]:
    """Return these problem codes as documented responses, by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(int(problems.KINDS[code].status), []).append(code)
    return {
        (status, problems.MEDIA_TYPE): OpenApiResponse(ProblemSchema, " · ".join(f"`{code}`" for code in found))
        for status, found in by_status.items()
    }


class HouseSchema(AutoSchema):
    """Adds the possible problems to each call, and the idempotency key to each write."""

    def get_override_parameters(self) -> list[Any]:
        """Return the request headers of the call."""
        language = OpenApiParameter(
            "Accept-Language", OpenApiTypes.STR, OpenApiParameter.HEADER, description="sv, da, ro, de or en"
        )
        if self.method.lower() not in WRITES or not self._has_keys():
            return [language]
        key = OpenApiParameter(
            HEADER,
            {"type": "string", "minLength": 1, "maxLength": LONGEST, "pattern": "^[ -+--~]+$"},
            OpenApiParameter.HEADER,
            required=True,
            description="of the caller's choice: the same one again gets the first answer",
        )
        return [language, key]

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        """Return the documented responses of the call and the problems common to all calls."""
        bodies = super()._get_response_bodies(direction)
        for (status, media), shared in refusals(*self._common()).items():
            code = str(status)
            common = self._get_response_for_code(shared, code, (media,), direction)
            own = bodies.setdefault(code, common)
            if own is not common:
                own["description"] = " · ".join(filter(None, (own["description"], common["description"])))
        return bodies

    def _common(self) -> list[str]:
        codes = [problems.MALFORMED, problems.INVALID, problems.NO_TOKEN, problems.FORBIDDEN, problems.TOO_OFTEN]
        if "{" in self.path:
            codes.append(problems.NOT_FOUND)
        if self.method.lower() in WRITES:
            codes += [problems.MEDIA, problems.TOO_LARGE, problems.TOO_SLOW]
            if self._has_keys():
                codes += [problems.KEY_MISSING, problems.KEY_REUSED]
        return codes

    def _has_keys(self) -> bool:
        return bool(cast("Any", self.view).has_keys)

    def _get_response_for_code(
        self, serializer: Any, status_code: str, media_types: Any = None, direction: Any = "response"
    ) -> Any:
        described = super()._get_response_for_code(serializer, status_code, media_types, direction)
        if isinstance(serializer, Linked):
            described["links"] = {
                name: {"operationId": link.operation, "parameters": dict(link.parameters)}
                | ({"requestBody": dict(link.body)} if link.body else {})
                for name, link in serializer.links.items()
            }
        if isinstance(serializer, Streamed):
            described["x-events"] = {
                name: self.resolve_serializer(kind, direction).ref for name, kind in serializer.events.items()
            }
        return described


class StrictScheme(OpenApiSerializerExtension):
    """Describes a `Strict` serializer in OpenAPI."""

    target_class = Strict
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        """Return its schema, without additional properties."""
        found: dict[str, Any] = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return found | {"additionalProperties": False}


class ByTokenScheme(OpenApiAuthenticationExtension):
    """Describes token authentication in OpenAPI."""

    target_class = "players.api.views.ByToken"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the OpenAPI security scheme."""
        return {"type": "http", "scheme": "bearer", "description": "a key of yours, which begins with sabot_"}


__all__ = ["HouseSchema", "Link", "Linked", "MinorUnits", "ProblemSchema", "Streamed", "example", "page_of", "refusals"]
