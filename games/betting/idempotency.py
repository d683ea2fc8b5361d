"""Idempotency keys of clicks: a click that is sent again is not carried out again.

A browser repeats a POST if a reused connection breaks before the answer (RFC 9112, 9.3.1, allows
this for safe requests; Chromium does it for any request). A player who reads that the server cannot
be reached clicks again. So the page sends a random key with each click, and the same key again
after a click without an answer. The seat stores the keys of its latest clicks in the transaction
that carries them out.

A service locks the seat and returns it unchanged if `is_done`. Otherwise it carries the click out,
adds the key with `add_key`, and saves the seat.
"""

from typing import Any, Final, Protocol
from uuid import UUID, uuid5

STORED_KEYS: Final = 8
"""Keys per seat. A script sends one click at a time, and a player has few pages open."""


class HasIdempotencyKeys(Protocol):
    """A player's seat at a table."""

    idempotency_keys: list[UUID] | None


def bound(idempotency_key: UUID | None, *said: Any) -> UUID | None:
    """Derive the key of a click from its content.

    A page without script has one key for all its buttons; another button must be another click.
    """
    return None if idempotency_key is None else uuid5(idempotency_key, "\0".join(str(each) for each in said))


def is_done(seat: HasIdempotencyKeys, idempotency_key: UUID | None) -> bool:
    """Return whether this click was carried out before; always False without a key."""
    return idempotency_key is not None and idempotency_key in (seat.idempotency_keys or ())


def add_key(seat: HasIdempotencyKeys, idempotency_key: UUID | None) -> None:
    """Add the key to a locked seat. The caller saves the seat."""
    if idempotency_key is not None:
        seat.idempotency_keys = [*(seat.idempotency_keys or ()), idempotency_key][-STORED_KEYS:]
