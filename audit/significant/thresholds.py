"""From which amounts on something is significant: data, per currency, changed with a reason and on record."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """In minor units: a single amount, and the sum over so many days."""

    single: int
    summed: int
    days: int


def threshold(what: str, currency: str) -> Limit | None:
    """Return from when on *what* is significant in *currency*, None where nobody has said so."""
    raise NotImplementedError
