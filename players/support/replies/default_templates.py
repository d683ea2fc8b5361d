"""Built-in reply templates, in five languages."""

import re
from pathlib import Path
from typing import Any, Final

TEXTS: Final = Path(__file__).parents[1] / "texts"
LANGUAGES: Final = ("en", "sv", "da", "ro", "de")  # English first: staff read it
HEAD: Final = re.compile(r"^## (\w+)\n", re.MULTILINE)

SHIPPED: Final = {
    "deposit": ("question", "A deposit has not arrived"),
    "withdrawal": ("question", "A withdrawal is being checked"),
    "identity": ("question", "We have to know who the player is"),
    "round": ("question", "What happened in a round"),
    "annulled": ("question", "A round was annulled"),
    "limits": ("question", "Limits and pauses"),
    "exclusion": ("question", "Self-exclusion, and where there is help"),
    "locked": ("question", "The account is locked"),
    "received": ("complaint", "The complaint was received"),
    "upheld": ("complaint", "The complaint is upheld"),
    "rejected": ("complaint", "The complaint is not upheld, and where to turn"),
    "removed": ("chat", "A message was removed"),
    "ban": ("chat", "The player may not write in the chat"),
    "mute": ("chat", "The player may not write in the chat of one table"),
    "name": ("chat", "The player’s name in the chat was taken away"),
    "decided": ("chat", "What was decided in the chat, as the house itself tells it"),
}


def templates() -> list[dict[str, Any]]:
    """Return the first version of each template."""
    said = {language: _texts(language) for language in LANGUAGES}
    return [
        {
            "name": name,
            "kind": kind,
            "title": title,
            "texts": {language: said[language][name] for language in LANGUAGES},
        }
        for name, (kind, title) in SHIPPED.items()
    ]


def texts(name: str) -> dict[str, str]:
    """Return the text of a template in each language."""
    return {language: _texts(language)[name] for language in LANGUAGES}


def _texts(language: str) -> dict[str, str]:
    parts = HEAD.split((TEXTS / f"replies.{language}.md").read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}
