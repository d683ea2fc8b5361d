"""A ZIP that leaves while it is made: of whatever length, it takes no memory and no file."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any


class _Outlet(io.RawIOBase):
    """Takes what is written and gives it away; it cannot go back, and a ZIP need not."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._waiting += data
        return len(data)

    def take(self) -> bytes:
        """Return what has been written since the last time."""
        taken = bytes(self._waiting)
        self._waiting.clear()
        return taken


def zipped(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield a ZIP of *files*, given by name with their content in pieces, as it comes about."""
    outlet = _Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in files:
            with archive.open(name, "w") as file:
                for piece in pieces:
                    file.write(piece)
                    if taken := outlet.take():
                        yield taken
    yield outlet.take()
