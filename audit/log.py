"""Writing events: `record` in the current transaction, `record_refusal` in a transaction of its
own.

An event contains only the salted hash of personal data. The value itself is in the one erasable
table, so that erasing it at a person's request leaves every proof valid.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Final, TypeAlias

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

# The values that an event may contain. Decimals are written as text: a float has no canonical JSON.
Json: TypeAlias = bool | int | str | Sequence["Json"] | Mapping[str, "Json"] | None

# Called with the kind and the data of every event before it is written.
HEARD_BY: Final[list[Callable[[str, Mapping[str, Json]], None]]] = []


def canonical(value: Json) -> str:
    """Return *value* as canonical JSON: sorted keys, no white space, UTF-8 unescaped.

    Raises TypeError on a float, a key that is not text, or anything else without a unique
    representation.
    """
    _refuse_ambiguous(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def personal_hash(salt: bytes, value: str) -> str:
    """Return the hash of a personal *value* in an event: hex SHA-256 of the 16-byte salt followed by its UTF-8."""
    return hashlib.sha256(salt + value.encode()).hexdigest()


@dataclass(frozen=True)
class Event:
    """Arguments of ``audit_record``, for statements that record and do something else, such as
    finishing a round. Created by `event`.
    """

    kind: str
    by: str
    on: str
    rest: str
    personal: str | None


def event(kind: str, *, by: str, on: str, data: Mapping[str, Json], personal: Mapping[str, str] | None = None) -> Event:
    """Build an event in canonical form, without the time, which the database adds.

    *kind* is a dotted verb (``round.settled``), *by* the actor (``player:12``, ``staff:3``,
    ``system``), *on* the subject. People in *data* are named the same way: the access log records
    that a reader of the event has seen them.
    """
    count(kind, data)
    personal_values = [
        {"field": field, "salt": secrets.token_hex(16), "value": value}
        for field, value in sorted((personal or {}).items())
    ]
    rest: dict[str, Json] = {"by": by, "data": data, "kind": kind, "on": on}
    if personal_values:
        rest["personal"] = {
            line["field"]: personal_hash(bytes.fromhex(line["salt"]), line["value"]) for line in personal_values
        }
    return Event(kind, by, on, canonical(rest), json.dumps(personal_values) if personal_values else None)


def count(kind: str, data: Mapping[str, Json]) -> None:
    """Call the listeners for an event that a function of the database writes by itself."""
    for each in HEARD_BY:
        each(kind, data)


def record(
    kind: str,
    *,
    by: str,
    on: str,
    data: Mapping[str, Json],
    personal: Mapping[str, str] | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> int:
    """Write an event in the current transaction of the alias *using* and return its ID; see `event`
    for the arguments.
    """
    return _record(connections[using], event(kind, by=by, on=on, data=data, personal=personal))


def record_refusal(
    kind: str, *, by: str, on: str, data: Mapping[str, Json], personal: Mapping[str, str] | None = None
) -> int:
    """Write an event that survives a rollback of the current transaction, about something that was refused."""
    own = connections[DEFAULT_DB_ALIAS].copy()
    try:
        return _record(own, event(kind, by=by, on=on, data=data, personal=personal))
    finally:
        own.close()


def _record(database: BaseDatabaseWrapper, written: Event) -> int:
    with database.cursor() as cursor:
        cursor.execute("SELECT audit_record(%s, %s, %s, %s, %s::jsonb)", astuple(written))
        event_id: int = cursor.fetchone()[0]
    return event_id


def _refuse_ambiguous(value: Json) -> None:
    if value is None or isinstance(value, str | int):
        return
    if isinstance(value, float):
        raise TypeError(f"{value!r}: a float has no canonical spelling; write a whole number or text")
    if isinstance(value, Mapping):
        for key, part in value.items():
            if not isinstance(key, str):
                raise TypeError(f"{key!r}: a key is text; JSON would turn it into text silently")
            _refuse_ambiguous(part)
    elif isinstance(value, Sequence):
        for part in value:
            _refuse_ambiguous(part)
