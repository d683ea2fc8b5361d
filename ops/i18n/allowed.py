"""List of texts that may be the same as in English, reviewed by hand."""

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Allowed:
    """``locale/allowed.toml``: texts that may equal the English, by language, and texts that
    templates may hard-code.
    """

    equal: dict[str, frozenset[str]]
    outright: frozenset[str]

    @classmethod
    def read(cls, path: Path) -> "Allowed":
        """Read the file; without it nothing is allowed."""
        if not path.exists():
            return cls({}, frozenset())
        lists = tomllib.loads(path.read_text(encoding="utf-8"))
        equal = {language: frozenset(texts) for language, texts in lists.get("equal", {}).items()}
        return cls(equal, frozenset(lists.get("outright", ())))
