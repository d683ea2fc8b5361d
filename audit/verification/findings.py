"""What a check of the log finds."""

from dataclasses import dataclass

from audit.verification.verify import plain


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be: what *stands* there, and what *follows* from the rest that should; where,
    as far as it is about one event, one leaf, one field.
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
