"""The texts that may stand as they are in English: a short list that someone has looked at."""

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Allowed:
    """``locale/allowed.toml``: what may be equal to the English per language, and what templates may say outright."""

    equal: dict[str, frozenset[str]]
    outright: frozenset[str]

    @classmethod
    def read(cls, path: Path) -> "Allowed":
        """Read the file; where there is none, nothing is allowed."""
        if not path.exists():
            return cls({}, frozenset())
        lists = tomllib.loads(path.read_text(encoding="utf-8"))
        equal = {language: frozenset(texts) for language, texts in lists.get("equal", {}).items()}
        return cls(equal, frozenset(lists.get("outright", ())))
