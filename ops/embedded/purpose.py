"""Purpose of a pair of embedded servers."""

from enum import Enum


class Purpose(Enum):
    """Chosen by the process that starts the servers; others use them as they are."""

    HOUSE = "house"
    BENCH = "bench"
    TESTS = "tests"

    @property
    def durable(self) -> bool:
        """Whether a commit is on disk when it returns."""
        return self is not Purpose.TESTS

    @property
    def kept(self) -> bool:
        """Whether the data is kept after the last user; otherwise the keeper removes the whole folder."""
        return self is Purpose.HOUSE
