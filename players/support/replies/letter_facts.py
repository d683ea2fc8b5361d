"""Registry of subjects for messages to players, such as a removed chat message or a withdrawal.

A subject determines the template and the values of its placeholders. The app that knows a kind of
subject registers it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from players.models import Player

UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
ABOUT: Final = re.compile(rf"([a-z_]{{1,20}}):([0-9]{{1,18}}|{UUID})")  # the subject in the URL of a new message


@dataclass(frozen=True)
class Given:
    """A template's name, and values for its placeholders in the active language."""

    template: str
    facts: Mapping[str, str]


Source = Callable[[Player, str], Given | None]  # (player, id) -> template and values in the active language

_sources: Final[dict[str, Source]] = {}


def register(kind: str, source: Source) -> None:
    """Register the source for a *kind* of subject. *source* must return None for subjects of other players."""
    _sources[kind] = source


def given(about: str, player: Player) -> Given | None:
    """Return the template and values for a subject, or None if the player has no such subject."""
    found = ABOUT.fullmatch(about)
    source = _sources.get(found[1]) if found else None
    return source(player, found[2]) if found and source else None
