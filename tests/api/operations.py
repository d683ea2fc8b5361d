"""Every operation of the API description, with valid and invalid requests for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jsonschema_rs
from django.urls import resolve

from casino.api import described
from players.api.views import StaffApiView

AN_ID = "00000000-0000-4000-8000-000000000000"
WRITES = ("post", "put", "patch", "delete")
POSITIONS = {"slug": "baccarat", "mode": "real", "variant": "baccarat", "level": "0", "name": "csv", "studio": "studio"}


@dataclass(frozen=True)
class Operation:
    """A method of an address, with its description."""

    method: str
    address: str
    said: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.said["operationId"])

    @property
    def is_write(self) -> bool:
        """True if the operation changes something."""
        return self.method in WRITES

    @property
    def statuses(self) -> set[int]:
        """The documented statuses of its answers."""
        return {int(status) for status in self.said["responses"]}

    @property
    def query(self) -> dict[str, dict[str, Any]]:
        """The query parameters, by name."""
        return self._parameters("query")

    @property
    def path_parameters(self) -> dict[str, dict[str, Any]]:
        """The path parameters, by name."""
        return self._parameters("path")

    @property
    def headers(self) -> dict[str, dict[str, Any]]:
        """The header parameters, by name."""
        return self._parameters("header")

    def _parameters(self, place: str) -> dict[str, dict[str, Any]]:
        return {each["name"]: each for each in self.said.get("parameters", []) if each["in"] == place}

    @cached_property
    def body(self) -> dict[str, Any] | None:
        """The schema of what is sent, None where nothing is."""
        sent = self.said.get("requestBody")
        return whole(sent["content"]["application/json"]["schema"]) if sent else None

    def path(self, **other: str) -> str:
        """Return a valid address of the operation, with *other* words in it."""
        words = {
            name: sample(each["schema"], POSITIONS.get(name, "1")) for name, each in self.path_parameters.items()
        } | other
        return self.address.format(**words)

    def good(self) -> dict[str, Any]:
        """Return a body that is valid by itself."""
        body = self.body or {}
        return {name: sample(body["properties"][name]) for name in body.get("required", [])}

    @cached_property
    def is_of_staff(self) -> bool:
        """True if the operation is for staff and not for players."""
        return issubclass(resolve(self.path()).func.cls, StaffApiView)  # type: ignore[attr-defined]


def held_to(schema: dict[str, Any], value: Any) -> str:
    """Return what is wrong with a value by a schema of the description, "" where nothing is."""
    found = jsonschema_rs.validator_for(
        schema | {"components": described()["components"]}, validate_formats=True
    ).iter_errors(value)
    return "; ".join(f"{each.instance_path}: {each.message}"[:300] for each in found)


def component(name: str) -> dict[str, Any]:
    """Return the reference to a component of the description."""
    return {"$ref": f"#/components/schemas/{name}"}


def whole(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that a reference names."""
    while found := schema.get("$ref"):
        schema = described()["components"]["schemas"][found.rpartition("/")[2]]
    if "allOf" in schema:
        (schema,) = map(whole, schema["allOf"])
    return schema


def sample(schema: dict[str, Any], word: str = "tie") -> Any:
    """Return something that the schema allows."""
    schema = whole(schema)
    if "oneOf" in schema:
        return sample(schema["oneOf"][0], word)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    match kind[0] if isinstance(kind, list) else kind:
        case "integer":
            return max(schema.get("minimum", 1), 1)
        case "boolean":
            return True
        case "array":
            return [sample(schema["items"])]
        case "object":
            named = {name: sample(schema["properties"][name]) for name in schema.get("required", [])}
            more = schema.get("additionalProperties")
            return named or ({word: sample(more)} if isinstance(more, dict) else {})
        case _ if schema.get("format") == "uuid":
            return AN_ID
        case _ if schema.get("format") in ("date-time", "date"):
            return "2026-01-01T00:00:00Z"[: 10 if schema["format"] == "date" else None]
        case _:
            return word


def operations() -> Iterator[Operation]:
    """Yield every operation."""
    for address, methods in described()["paths"].items():
        for method, said in methods.items():
            yield Operation(method, address, said)
