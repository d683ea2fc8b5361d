"""Streaming ZIP writer: needs no memory or file for the whole archive."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any


class _Outlet(io.RawIOBase):
    """Write-only buffer that hands over its content; ZIP writing does not need to seek."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._waiting += data
        return len(data)

    def take(self) -> bytes:
        """Return and clear what was written since the last call."""
        taken = bytes(self._waiting)
        self._waiting.clear()
        return taken


def zipped(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield a ZIP of *files* (name, chunks of content) while it is written."""
    outlet = _Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in files:
            with archive.open(name, "w") as file:
                for piece in pieces:
                    file.write(piece)
                    if taken := outlet.take():
                        yield taken
    yield outlet.take()
