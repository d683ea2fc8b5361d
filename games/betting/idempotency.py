"""The same click, sent again, does nothing again.

A browser sends a POST a second time by itself where a connection that it has used before breaks before an answer comes
(RFC 9112, 9.3.1, has it do so for what is safe to repeat; Chromium does it for any request), and whoever reads that the
house cannot be reached presses the button again. So a page sends a mark of chance with each click, and with that after
a click that was not answered the same; and a place keeps those of the latest clicks that were carried out, in the same
transaction.
"""

from typing import Any, Final, Protocol
from uuid import UUID, uuid5

KEPT: Final = 8
"""Of one place. A script sends one click at a time, and a player has few pages open."""


class Marked(Protocol):
    """A player's place at a table."""

    marks: list[UUID] | None


def bound(mark: UUID | None, *said: Any) -> UUID | None:
    """Return the mark of a click that says this: the same page without a script has one mark for all its buttons, and
    another button is another click.
    """
    return None if mark is None else uuid5(mark, "\0".join(str(each) for each in said))


def is_done(place: Marked, mark: UUID | None) -> bool:
    """Say whether this very click was carried out before. One without a mark never was."""
    return mark is not None and mark in (place.marks or ())


def note(place: Marked, mark: UUID | None) -> None:
    """Keep the mark of what is being carried out at a *place* that is locked. Whoever calls stores it."""
    if mark is not None:
        place.marks = [*(place.marks or ()), mark][-KEPT:]
