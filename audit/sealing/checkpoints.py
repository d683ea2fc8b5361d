"""The checkpoints that count: those that keys of this house have signed. What else stands in their table is a row that
anybody may have put there who could write there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from audit.models import Checkpoint
from audit.sealing import keys
from audit.verification.checking import is_signed
from audit.verification.verify import Checkpoint as Signed
from audit.verification.verify import Key, Unproven

FEW: Final = 50
MOST: Final = 1000  # rows that are looked through: where none of so many counts, none will, and the table may be long


@dataclass(frozen=True)
class Unsigned:
    """A row that stands above all checkpoints and is none: how many leaves it claims, and what is wrong with it."""

    size: int
    reason: str


def last() -> Checkpoint | None:
    """Return the largest one; None where none counts, as where no key is known."""
    return next(counting(_downwards()), None)


def size() -> int:
    """Return how many leaves the last one covers, 0 without one."""
    found = last()
    return found.size if found else 0


def latest(most: int, *, below: int | None = None) -> list[Checkpoint]:
    """Return the last ones, the largest first; of those with fewer leaves than *below* where that is given."""
    return list(islice(counting(_downwards(below)), most))


def unsigned() -> Unsigned | None:
    """Return the row that stands where the last checkpoint should; None where that does, or no key is known to tell."""
    row, believed = next(_downwards(), None), house_keys()
    if row is None or not believed:
        return None
    try:
        _demand_signed(row, believed)
    except Unproven as wrong:
        return Unsigned(row.size, f"the last checkpoint in the database is none: {wrong}")
    return None


def counting(rows: Iterable[Checkpoint]) -> Iterator[Checkpoint]:
    """Yield those of the *rows* that count."""
    believed = house_keys()
    for row in rows:
        try:
            _demand_signed(row, believed)
        except Unproven:
            continue
        yield row


def _demand_signed(row: Checkpoint, believed: list[Key]) -> None:
    """Demand that the note is signed by the keys and says what the row says. Raises Unproven."""
    tree = Signed.of(row.note, believed, is_signed).tree
    if (tree.origin, tree.size, tree.root) != (keys.origin(believed), row.size, bytes(row.root)):
        raise Unproven(f"the row of {row.size} leaves has the note of another tree, of {tree.size}")


def _downwards(below: int | None = None) -> Iterator[Checkpoint]:
    """Yield the rows, the largest first; more than one is read only where that one does not do."""
    rows = Checkpoint.objects.order_by("-size")
    if below is not None:
        rows = rows.filter(size__lt=below)
    found = list(rows[:1])
    for _ in range(MOST // FEW):
        yield from found
        if not found:
            return
        found = list(rows.filter(size__lt=found[-1].size)[:FEW])


def house_keys() -> list[Key]:
    """Return the keys that the house believes, none where what was given are no keys: the page of the log says so."""
    try:
        return keys.known()
    except Unproven:
        return []
