"""What a letter to a player may be about, so that its template and the facts in it are given: a message in the chat
that was removed, a withdrawal that is checked. Each is registered by the floor that knows it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from players.models import Player

UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
ABOUT: Final = re.compile(rf"([a-z_]{{1,20}}):([0-9]{{1,18}}|{UUID})")  # as the address of a new letter says it


@dataclass(frozen=True)
class Given:
    """The name of a template, and what stands for its marks in the language that is active."""

    template: str
    facts: Mapping[str, str]


Source = Callable[[Player, str], Given | None]  # of a player and what is numbered so, in the language that is active

_sources: Final[dict[str, Source]] = {}


def register(kind: str, source: Source) -> None:
    """Have letters begin from things of a *kind*. *source* knows nothing that is not the player's."""
    _sources[kind] = source


def given(about: str, player: Player) -> Given | None:
    """Return what a letter about something has; None where it is nothing that the house knows of this player."""
    found = ABOUT.fullmatch(about)
    source = _sources.get(found[1]) if found else None
    return source(player, found[2]) if found and source else None
