"""The signer's state as stored in its folder: the last tree that it signed, and the history of all trees."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from audit.verification.verify import Tree, Unproven, read
from audit.verification.verify_events import Finding

SIGNED_MEANWHILE: Final = 3  # maximum attempts to read both files in a consistent state

Signed = tuple[int, bytes]
"""A signed tree: number of leaves, and root."""


@dataclass(frozen=True)
class Memory:
    """The signer's files: the note in ``latest``, "" before the first signature, and the lines of ``history``."""

    latest: str
    lines: list[bytes]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read both files while the signer may be writing. Raises OSError; Unproven or
        UnicodeDecodeError where ``latest`` is not valid text.
        """
        latest = read(folder / "latest")
        for _ in range(SIGNED_MEANWHILE):
            lines = history(folder)
            before, latest = latest, read(folder / "latest")
            if latest == before:
                break
        return cls(latest, lines)

    def trees(self) -> Iterator[Signed | Finding | str]:
        """Yield the trees of the history, and a finding for each invalid line. A line that is only
        the beginning of the next one gives a remark: the signer was stopped while writing it, and
        wrote it again.
        """
        for number, line in enumerate(self.lines, 1):
            tree = signed(line)
            after = self.lines[number] if number < len(self.lines) else self._due()
            if tree:
                yield tree
            elif line and after.startswith(line):
                yield f"Line {number} of the signer's history was broken off, and is repeated."
            else:
                yield Finding(
                    f"line {number} of the signer's history is {line[:80]!r}", "it holds leaves, their root and a time"
                )

    def _due(self) -> bytes:
        """Return how the line of the last tree begins: only that one can be incomplete at the end of the history."""
        return b" ".join(self.latest.encode().split(b"\n")[1:3]) + b" "


def history(folder: Path) -> list[bytes]:
    """Return the lines of the history, unparsed. Raises OSError."""
    content = (folder / "history").read_bytes()
    return content.removesuffix(b"\n").split(b"\n") if content else []


def signed(line: bytes) -> Signed | None:
    """Parse a line of the history; None where it is invalid."""
    try:
        size, root, at = line.decode("ascii").split(" ")
        tree = Tree.of(f"-\n{size}\n{root}\n")
    except (Unproven, ValueError):
        return None
    return (tree.size, tree.root) if at.isdecimal() else None
