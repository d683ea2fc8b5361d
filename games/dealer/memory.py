"""What the dealer remembers of its commitments: which were dealt, as which deal, for what request.

Commitments are numbered in the order in which they were made. The memory has a fixed number of
bytes for each, and forgets the oldest.
"""

from array import array
from typing import Final

DIGEST_BYTES: Final = 20  # of a request; nobody finds two requests with the same one
KEPT: Final = 4_000_000  # commitments: at most 112 MB


class Forgotten(Exception):
    """The commitment is older than those that are remembered."""


class Memory:
    """The last commitments of an epoch."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = max(kept, 4)
        self._first = 0  # number of the oldest commitment that is remembered
        self._deals = array("Q")  # number of the deal; 0: not dealt yet
        self._digests = bytearray()

    def add(self) -> int:
        """Remember one more commitment and return its number."""
        if len(self._deals) >= self._kept:
            self._forget(self._kept // 4)
        self._deals.append(0)
        self._digests.extend(bytes(DIGEST_BYTES))
        return self._first + len(self._deals) - 1

    def dealt(self, number: int) -> tuple[int, bytes] | None:
        """Return the deal of a commitment and the digest of its request; None if it was not dealt.

        Raises Forgotten, and LookupError for a number that no commitment has.
        """
        place = self._place(number)
        deal = self._deals[place]
        return (deal, bytes(self._digests[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES])) if deal else None

    def note(self, number: int, deal: int, digest: bytes) -> None:
        """Remember that a commitment was dealt. Raises as `dealt` does."""
        place = self._place(number)
        self._deals[place] = deal
        self._digests[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES] = digest[:DIGEST_BYTES]

    def _place(self, number: int) -> int:
        if number < self._first:
            raise Forgotten
        if number >= self._first + len(self._deals):
            raise LookupError(number)
        return number - self._first

    def _forget(self, oldest: int) -> None:
        del self._deals[:oldest]
        del self._digests[: oldest * DIGEST_BYTES]
        self._first += oldest
