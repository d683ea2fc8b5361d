"""What a drill does, chosen before it begins: whom it kills, in which phase of a round, and at which moment of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random

MOST_BLOWS = 3  # in one round
JUST_NOW, LATE = 0.0, 1.3  # moments, as parts of a phase's time: its end is when it is due to be moved on


class Victim(StrEnum):
    """What is killed. Web, worker and beat are children of the launcher; the servers are the keeper's."""

    WEB = "web"
    WORKER = "worker"
    BEAT = "beat"
    BROKER = "broker"
    POSTGRESQL = "postgresql"


class Stage(StrEnum):
    """The phases of a round, in their order."""

    BETTING = "betting"
    CLOSED = "closed"
    DEALT = "dealt"
    SETTLED = "settled"


@dataclass(frozen=True)
class Blow:
    """One death."""

    victim: Victim
    stage: Stage
    moment: float

    def __str__(self) -> str:
        return f"{self.victim} at {self.moment:.2f} of {self.stage}"


Round = tuple[Blow, ...]  # what befalls one round, in the order of its phases

SHORT: tuple[Round, ...] = (
    (
        Blow(Victim.POSTGRESQL, Stage.BETTING, 0.5),
        Blow(Victim.WORKER, Stage.CLOSED, 0.3),
        Blow(Victim.WEB, Stage.DEALT, 0.3),
        Blow(Victim.BEAT, Stage.SETTLED, 0.3),
    ),
    (Blow(Victim.BROKER, Stage.CLOSED, 0.3),),
)
"""Every victim and every phase."""


def every_death() -> Iterator[Round]:
    """Every victim in every phase, just as the phase begins, a victim a round."""
    for victim in Victim:
        yield tuple(Blow(victim, stage, JUST_NOW) for stage in Stage)


def chosen(seed: int, rounds: int) -> Iterator[Round]:
    """So many rounds, always the same ones for a seed: first every victim in every phase, then at random."""
    chance = Random(seed)
    yield from list(every_death())[:rounds]
    for _ in range(rounds - len(Victim)):
        stages = chance.sample(list(Stage), chance.randint(1, MOST_BLOWS))
        yield tuple(
            Blow(chance.choice(list(Victim)), stage, chance.uniform(JUST_NOW, LATE))
            for stage in sorted(stages, key=list(Stage).index)
        )
