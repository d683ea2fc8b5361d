"""The properties of every game, whatever its rules: a name in five languages, a
version, its decks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Protocol

from games.engine.chemin.rules import rules_digest


class Game(Protocol):
    """A game as lists and help pages use it."""

    @property
    def slug(self) -> str:
        """The name of the game in URLs and of its folder."""

    @property
    def version(self) -> str:
        """The version of the rules."""

    @property
    def changed(self) -> date:
        """The date of the last change of the rules."""

    @property
    def decks(self) -> int:
        """The number of decks in the shoe."""

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of everything that decides about money."""

    @property
    def labels(self) -> Mapping[str, Mapping[str, str]]:
        """Language, then key, then text."""

    def label(self, language: str, key: str) -> str:
        """Return the text of `name`, `tagline` or another label. Raises KeyError if
        there is none.
        """


@dataclass(frozen=True)
class CheminGame:
    """A game that players play against each other.

    It has no paytable, and its rules are in the engine.
    """

    slug: str
    version: str
    changed: date
    decks: int
    labels: Mapping[str, Mapping[str, str]] = field(repr=False)
    """Language, then key, then text."""

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of everything in the engine that decides about money, and of the version
        of the rules.
        """
        return rules_digest(self.version)

    def label(self, language: str, key: str) -> str:
        """Return the text of `name` or `tagline`. Raises KeyError if there is none."""
        return self.labels[language][key]
