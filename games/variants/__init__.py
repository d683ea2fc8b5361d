"""The games of the house.

Each game is a folder, found automatically.

The `__init__` of a folder has a `VARIANT` for a punto banco game, else a `GAME`. Help texts are in
`help/<language>.md`. No other registration is needed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from games.engine.bets import Variant
from games.variants.common import Game

LANGUAGES: Final = ("sv", "da", "ro", "de", "en")
"""Every label and help text exists in each of these languages."""


class NoHelpText(LookupError):
    """There is no help text for this game in this language."""


def discover() -> Mapping[str, Game]:
    """Return all games by slug: punto banco games first, each kind in alphabetical order."""
    folders = [module.name for module in pkgutil.iter_modules(__path__) if module.ispkg]
    modules = [importlib.import_module(f"{__name__}.{folder}") for folder in folders]
    games: list[Game] = [getattr(module, "VARIANT", None) or module.GAME for module in modules]
    games.sort(key=lambda game: (not isinstance(game, Variant), game.slug))
    return MappingProxyType({game.slug: game for game in games})


GAMES: Final = discover()
"""All games, by slug."""

VARIANTS: Final[Mapping[str, Variant]] = MappingProxyType(
    {slug: game for slug, game in GAMES.items() if isinstance(game, Variant)}
)
"""The punto banco games, by slug."""


def help_text(slug: str, language: str) -> str:
    """Return the help of a game as Markdown, with placeholders such as {{ paytable }} that the
    engine fills.

    Raises NoHelpText.
    """
    if slug not in GAMES or language not in LANGUAGES:
        raise NoHelpText(f"no help for {slug!r} in {language!r}")
    (folder,) = importlib.import_module(f"{__name__}.{slug}").__path__
    return (Path(folder) / "help" / f"{language}.md").read_text(encoding="utf-8")
