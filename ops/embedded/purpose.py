"""What a pair of servers is for."""

from enum import Enum


class Purpose(Enum):
    """Decided by whoever starts the servers; who joins later takes them as they are."""

    HOUSE = "house"
    BENCH = "bench"
    TESTS = "tests"

    @property
    def durable(self) -> bool:
        """Whether a commit is on the disk when it returns."""
        return self is not Purpose.TESTS

    @property
    def kept(self) -> bool:
        """Whether the data outlives the last user; otherwise the keeper removes the whole folder."""
        return self is Purpose.HOUSE
