"""The same click, sent again, does nothing again.

A browser sends a POST a second time by itself where a connection that it has used before breaks before an answer comes
(RFC 9112, 9.3.1, has it do so for what is safe to repeat; Chromium does it for any request); so a page writes a mark of
chance into each click, and a place keeps those of the latest clicks that were carried out, in the same transaction.
"""

from typing import Final, Protocol
from uuid import UUID

KEPT: Final = 8
"""Of one place: a page sends one click at a time, and a player has few pages open."""


class Marked(Protocol):
    """A player's place at a table, locked."""

    marks: list[UUID] | None


def is_done(place: Marked, mark: UUID | None) -> bool:
    """Say whether this very click was carried out before. One without a mark never was."""
    return mark is not None and mark in (place.marks or ())


def note(place: Marked, mark: UUID | None) -> None:
    """Keep the mark of what is being carried out. Whoever calls stores the place."""
    if mark is not None:
        place.marks = [*(place.marks or ()), mark][-KEPT:]
