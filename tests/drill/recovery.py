"""Recovery times of the house after each kind of fault."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from tests.drill.plan import Victim

HEADS = ("struck", "times", "up again", "table on", "guests on", "longest wait")
MEANINGS = (
    "(median / worst, seconds: up again after the blow; table on after it was due; Chemin on after it was up"
    " again; of a client for an answer)"
)


@dataclass(frozen=True)
class Recovery:
    """One fault, with times in seconds."""

    victim: Victim
    up: float  # until the part ran again
    table: float  # from when a table was due, and could be moved, until it was
    seated_players: float  # from when it was up again until something was done at the Chemin de Fer table
    wait: float  # longest wait of a client for an answer


def table(recoveries: Iterable[Recovery]) -> Iterable[str]:
    """Format one line for each kind of fault."""
    found = list(recoveries)
    yield _row(HEADS)
    for victim in Victim:
        of_it = [each for each in found if each.victim is victim]
        if of_it:
            times = (
                [each.up for each in of_it],
                [each.table for each in of_it],
                [each.seated_players for each in of_it],
                [each.wait for each in of_it],
            )
            yield _row((victim, str(len(of_it)), *(f"{median(each):.1f} / {max(each):.1f}" for each in times)))
    yield MEANINGS


def _row(cells: Sequence[str]) -> str:
    return f"{cells[0]:<22}{cells[1]:>6}" + "".join(f"{cell:>16}" for cell in cells[2:])
