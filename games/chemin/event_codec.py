"""Event codec: events of a table as JSON, as stored in moves.

Moves are public, so they contain no balances: a balance is known only to its player and the ledger.
A decoded event has 0 in place of a balance.
"""

from __future__ import annotations

import types
from collections.abc import Hashable, Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Any, Final, Union, cast, get_args, get_origin, get_type_hints

from games.engine.cards import Card
from games.engine.chemin import events
from games.engine.chemin.events import BalanceSet, Event, PlayerJoined, PlayerLeft

StoredEvent = dict[str, Any]

KINDS: Final[Mapping[str, type[Event]]] = types.MappingProxyType({kind.__name__: kind for kind in get_args(Event)})
PRIVATE: Final = (PlayerJoined, PlayerLeft, BalanceSet)
"""Events that contain a balance."""


def write(event: Event) -> StoredEvent:
    """Return an event as JSON: its name under "event", and all its fields except balances."""
    names = [field.name for field in fields(event) if not (isinstance(event, PRIVATE) and field.name == "balance")]
    return {"event": type(event).__name__, **{name: _plain(getattr(event, name)) for name in names}}


def read(stored: StoredEvent) -> Event:
    """Return the event that `write` encoded. Raises KeyError for an unknown event name."""
    kind = KINDS[stored["event"]]
    hints: Mapping[str, Any] = _hints(cast("Hashable", kind))
    return kind(**{name: _value(hint, stored.get(name, 0)) for name, hint in hints.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, Card):
        return value.code
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "__dataclass_fields__"):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


def _value(hint: Any, plain: Any) -> Any:
    """Return the JSON value *plain* as the type of the event's field."""
    if get_origin(hint) in (Union, types.UnionType):
        return None if plain is None else _value(get_args(hint)[0], plain)
    if get_origin(hint) is tuple:
        return tuple(_value(get_args(hint)[0], each) for each in plain)
    if hint is Card:
        return Card.parse(plain)
    if hasattr(hint, "__dataclass_fields__"):
        return hint(**{name: _value(kind, plain[name]) for name, kind in _hints(hint).items()})
    return hint(plain)


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind, vars(events))
