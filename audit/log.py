"""The way into the event log: `record` in the transaction of what it records, `record_refusal` in one of its own.

Personal data never stands in an event, only its salted hash; the value itself lies in the one erasable table, so that
erasing it on a person's request leaves every proof valid.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Final, TypeAlias

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

# What an event may hold. Fractions of a number are written as text: a float has no canonical JSON.
Json: TypeAlias = bool | int | str | Sequence["Json"] | Mapping[str, "Json"] | None

# Called with the kind and the data of every event that this process is about to write.
HEARD_BY: Final[list[Callable[[str, Mapping[str, Json]], None]]] = []


def canonical(value: Json) -> str:
    """Write *value* as canonical JSON: keys sorted, no white space, UTF-8 as itself.

    Raises TypeError on a float, a key that is no text, or anything else that has no single spelling.
    """
    _refuse_ambiguous(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def personal_hash(salt: bytes, value: str) -> str:
    """Return what stands in an event for a personal *value*: hex SHA-256 of the 16-byte salt followed by its UTF-8."""
    return hashlib.sha256(salt + value.encode()).hexdigest()


@dataclass(frozen=True)
class Event:
    """The arguments of ``audit_record``, for a statement that does more than record, as the one that finishes a round
    does. `event` makes them.
    """

    kind: str
    by: str
    on: str
    rest: str
    personal: str | None


def event(kind: str, *, by: str, on: str, data: Mapping[str, Json], personal: Mapping[str, str] | None = None) -> Event:
    """Return an event as the database is given it: canonical, but for the time that the database puts in front.

    *kind* is a dotted verb (``round.settled``), *by* who did it (``player:12``, ``staff:3``, ``system``), *on* what
    it was done to. People in *data* are called so, too: who reads an event is put on record as having seen whom it
    names.
    """
    for each in HEARD_BY:
        each(kind, data)
    kept = [
        {"field": field, "salt": secrets.token_hex(16), "value": value}
        for field, value in sorted((personal or {}).items())
    ]
    rest: dict[str, Json] = {"by": by, "data": data, "kind": kind, "on": on}
    if kept:
        rest["personal"] = {line["field"]: personal_hash(bytes.fromhex(line["salt"]), line["value"]) for line in kept}
    return Event(kind, by, on, canonical(rest), json.dumps(kept) if kept else None)


def record(
    kind: str,
    *,
    by: str,
    on: str,
    data: Mapping[str, Json],
    personal: Mapping[str, str] | None = None,
    using: str = DEFAULT_DB_ALIAS,
) -> int:
    """Write an event into the current transaction, that of the alias *using*, and return its id; what the words mean
    stands at `event`.
    """
    return _record(connections[using], event(kind, by=by, on=on, data=data, personal=personal))


def record_refusal(
    kind: str, *, by: str, on: str, data: Mapping[str, Json], personal: Mapping[str, str] | None = None
) -> int:
    """Write an event that outlives the current transaction: what it speaks of was refused and rolls back."""
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
