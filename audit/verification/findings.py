"""Findings of a verification of the event log."""

from dataclasses import dataclass

from audit.verification.verify import plain


@dataclass(frozen=True)
class Finding:
    """A discrepancy: *stands* is what was found, *follows* what it contradicts. The event, leaf and
    field say where, if it concerns a single one.
    """

    stands: str
    follows: str
    event: int | None = None
    leaf: int | None = None
    field: str = ""

    def __str__(self) -> str:
        where = [
            f"event {self.event}" if self.event is not None else "",
            f"leaf {self.leaf}" if self.leaf is not None else "",
            self.field,
        ]
        place = ", ".join(filter(None, where))
        return plain(f"{place + ': ' if place else ''}{self.stands}; {self.follows}.")
