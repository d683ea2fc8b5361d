"""What is found wrong with a round of a shared table while it is dealt and settled: reasons to stop the table.

Whoever raises a `Doubt` has changed nothing that lasts; `games.shared.phases` stops the table and calls the supervisor.
"""

from typing import ClassVar

from games.models import IncidentKind
from games.rounds.redeal import Finding


class Doubt(Exception):
    """Something is not as it has to be; the message is a sentence for staff."""

    kind: ClassVar[IncidentKind]

    def __init__(self, cause: str, *found: Finding) -> None:
        super().__init__(cause)
        self.found = found


class NotReproduced(Doubt):
    """The seed does not give what is stored."""

    kind = IncidentKind.NOT_REPRODUCED


class WrongCard(Doubt):
    """The shoe is not what was shuffled, or was not dealt in order."""

    kind = IncidentKind.WRONG_CARD


class NotRecomputed(Doubt):
    """A settlement is not what the rules make of the stakes."""

    kind = IncidentKind.NOT_RECOMPUTED


class RulesUnknown(Doubt):
    """The program does not know the rules that a round was opened under."""

    kind = IncidentKind.RULES_UNKNOWN


class Overdue(Doubt):
    """A round stood still long after its deadline."""

    kind = IncidentKind.OVERDUE
