"""Faults found while a shared table's round is dealt and settled: reasons to stop the table.

Code that raises a `Doubt` has changed nothing permanent. `games.shared.phases` stops the table and
alerts the supervisor.
"""

from typing import ClassVar

from games.models import IncidentKind
from games.rounds.redeal import Finding


class Doubt(Exception):
    """Something is wrong with the round; the message is a sentence for staff."""

    kind: ClassVar[IncidentKind]

    def __init__(self, cause: str, *found: Finding) -> None:
        super().__init__(cause)
        self.found = found


class NotReproduced(Doubt):
    """The seed does not reproduce what is stored."""

    kind = IncidentKind.NOT_REPRODUCED


class WrongCard(Doubt):
    """The shoe is not what was shuffled, or was not dealt in order."""

    kind = IncidentKind.WRONG_CARD


class NotDealt(Doubt):
    """The dealer does not deal this, or says something that does not fit what is stored."""

    kind = IncidentKind.NOT_DEALT


class NotRecomputed(Doubt):
    """A settlement does not follow from the stakes and the rules."""

    kind = IncidentKind.NOT_RECOMPUTED


class RulesUnknown(Doubt):
    """This release does not have the rules that a round was opened under."""

    kind = IncidentKind.RULES_UNKNOWN


class Overdue(Doubt):
    """A round did not move on long after its deadline."""

    kind = IncidentKind.OVERDUE
