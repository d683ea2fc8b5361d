"""Tiles stored in the database."""

from audit.models import Tile


class StoredTiles:
    """Reads tiles from `audit_tile`, each once. Use a new instance for each operation: a tile that
    has grown is not read again.
    """

    def __init__(self) -> None:
        self._read: dict[tuple[int, int], bytes] = {}

    def read(self, level: int, number: int) -> bytes:
        """Return the hashes of a tile, concatenated; empty where there is no such tile."""
        if (level, number) not in self._read:
            found = Tile.objects.filter(level=level, number=number).values_list("hashes", flat=True).first()
            self._read[level, number] = bytes(found or b"")
        return self._read[level, number]
