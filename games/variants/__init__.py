"""The punto banco games of the house: one folder each, found by looking.

A folder holds `VARIANT` in its `__init__`, and its help texts as `help/<language>.md`. Nothing else has to know of it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from games.engine.bets import Variant

LANGUAGES: Final = ("sv", "da", "ro", "de", "en")
"""Every label and help text exists in each of these."""


class NoHelpText(LookupError):
    """There is no help text for this game in this language."""


def discover() -> Mapping[str, Variant]:
    """All variants by slug, in alphabetical order."""
    folders = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
    variants = (importlib.import_module(f"{__name__}.{folder}").VARIANT for folder in folders)
    return MappingProxyType({variant.slug: variant for variant in variants})


VARIANTS: Final = discover()


def help_text(slug: str, language: str) -> str:
    """The help of a game as raw Markdown, in which lines such as {{ paytable }} stand for tables made from the engine.

    Raises NoHelpText.
    """
    if slug not in VARIANTS or language not in LANGUAGES:
        raise NoHelpText(f"no help for {slug!r} in {language!r}")
    return (Path(__path__[0]) / slug / "help" / f"{language}.md").read_text(encoding="utf-8")
