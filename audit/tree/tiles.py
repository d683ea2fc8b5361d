"""The tiles of the tree as the database holds them."""

from audit.models import Tile


class StoredTiles:
    """The tiles of `audit_tile`, each read once. Make one for every question: what it has read, it does not read
    again, though the tile may have grown.
    """

    def __init__(self) -> None:
        self._read: dict[tuple[int, int], bytes] = {}

    def read(self, level: int, number: int) -> bytes:
        """Return the hashes of a tile, one after another; nothing where there is no such tile."""
        if (level, number) not in self._read:
            found = Tile.objects.filter(level=level, number=number).values_list("hashes", flat=True).first()
            self._read[level, number] = bytes(found or b"")
        return self._read[level, number]
