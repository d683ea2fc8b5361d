"""The signer's memory, as it lies in the signer's folder: the last tree that it signed, and all the trees before."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from audit.verification.findings import Finding
from audit.verification.verify import Tree, Unproven, read

SIGNED_MEANWHILE: Final = 3  # times that the two files are read, so that they are of one moment

Signed = tuple[int, bytes]
"""A tree that was signed: how many leaves, and their root."""


@dataclass(frozen=True)
class Memory:
    """What the signer remembers: the note in ``latest``, "" before it has signed, and the lines of ``history``."""

    latest: str
    lines: list[bytes]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read both while the signer may be writing. Raises OSError; Unproven or UnicodeDecodeError where ``latest`` is
        no text.
        """
        latest = read(folder / "latest")
        for _ in range(SIGNED_MEANWHILE):
            lines = history(folder)
            before, latest = latest, read(folder / "latest")
            if latest == before:
                break
        return cls(latest, lines)

    def trees(self) -> Iterator[Signed | Finding | str]:
        """Yield the trees of the history; a finding for each line that cannot be read, or a remark where it is only the
        beginning of the one after it: the signer was stopped while it wrote, and wrote the line again.
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
        """Return how a line of the last tree begins: it is all that can be broken off at the history's end."""
        return b" ".join(self.latest.encode().split(b"\n")[1:3]) + b" "


def history(folder: Path) -> list[bytes]:
    """Return the lines of the history as they stand. Raises OSError."""
    content = (folder / "history").read_bytes()
    return content.removesuffix(b"\n").split(b"\n") if content else []


def signed(line: bytes) -> Signed | None:
    """Read a line of the history; None where it is none."""
    try:
        size, root, at = line.decode("ascii").split(" ")
        tree = Tree.of(f"-\n{size}\n{root}\n")
    except (Unproven, ValueError):
        return None
    return (tree.size, tree.root) if at.isdecimal() else None
