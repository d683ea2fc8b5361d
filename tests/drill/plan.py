"""The plan of a drill, chosen before it begins: each fault, the phase of the round, and the moment in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

MOST_BLOWS = 3  # in one round
JUST_NOW, LATE = 0.0, 1.3  # moments, as parts of a phase's time: its end is when it is due to be moved on


class Victim(StrEnum):
    """The part that gets a fault. Web, worker, beat, signer and dealer are children of the launcher, the servers are
    the keeper's, and the sealer has its own keeper.
    """

    WEB = "web"
    WORKER = "worker"
    BEAT = "beat"
    SIGNER = "signer"
    DEALER = "dealer"
    SEALER = "sealer"
    BROKER = "broker"
    DATA = "broker and its data"
    POSTGRESQL = "postgresql"
    COMMITS = "lines at COMMIT"  # between the processes and PostgreSQL: no process is killed


class Stage(StrEnum):
    """The phases of a round of the shared table, in their order."""

    BETTING = "betting"
    CLOSED = "closed"
    DEALT = "dealt"
    SETTLED = "settled"


class Asked(StrEnum):
    """The phases of a coup at the Chemin de Fer table, in which somebody is asked."""

    CALLS = "calls"
    STAKES = "stakes"
    CARDS = "cards"
    PUNTER = "punter"
    CHOICE = "choice"


@dataclass(frozen=True)
class Blow:
    """One fault, in a phase of either table. A Chemin de Fer phase has no moment, because the player may answer
    at any time.
    """

    victim: Victim
    stage: Stage | Asked
    moment: float

    def __str__(self) -> str:
        return f"{self.victim} at {self.moment:.2f} of {self.stage}"


Round = tuple[Blow, ...]  # the faults of one round, in the order of its phases

SHORT: tuple[Round, ...] = (
    (
        Blow(Victim.POSTGRESQL, Stage.BETTING, 0.5),
        Blow(Victim.WORKER, Stage.CLOSED, 0.3),
        Blow(Victim.BEAT, Stage.DEALT, 0.3),
        Blow(Victim.WEB, Stage.SETTLED, 0.3),
    ),
    (
        Blow(Victim.COMMITS, Stage.BETTING, 0.3),
        Blow(Victim.DATA, Stage.CLOSED, 0.3),
        Blow(Victim.BROKER, Stage.DEALT, 0.3),
        Blow(Victim.SIGNER, Stage.SETTLED, 0.3),
    ),
    (
        Blow(Victim.WORKER, Asked.CARDS, JUST_NOW),
        Blow(Victim.POSTGRESQL, Asked.STAKES, JUST_NOW),
        Blow(Victim.SEALER, Stage.SETTLED, 0.3),
    ),
    (Blow(Victim.DEALER, Stage.CLOSED, 0.3), Blow(Victim.DEALER, Stage.SETTLED, 0.3)),
)
"""Every victim, every phase of a round, and a coup between players with money on the table. Without web, signer and
sealer the table continues: they come last in a round, or the next phase would be over when they are back. Without the
dealer it waits for its cards.
"""
AT_CHEMIN = 0.25  # of the rounds that are chosen at random have a fault at the Chemin de Fer table


def every_death(victims: Sequence[Victim]) -> Iterator[Round]:
    """Yield rounds with a fault in every phase, as the phase begins: another victim in each phase of a round, and all
    victims within the first rounds.
    """
    stages = list(Stage)
    for turn in range(len(stages)):
        for first in range(turn, len(victims), len(stages)):
            yield tuple(
                Blow(victims[(first + place) % len(victims)], stage, JUST_NOW) for place, stage in enumerate(stages)
            )


def chosen(seed: int, rounds: int) -> Iterator[Round]:
    """So many rounds, always the same ones for a seed: first every victim in every phase, then at random."""
    chance = Random(seed)
    first = list(every_death(chance.sample(list(Victim), len(Victim))))
    yield from first[:rounds]
    for _ in range(rounds - len(first)):
        if chance.random() < AT_CHEMIN:
            asked = chance.sample(list(Asked), chance.randint(1, MOST_BLOWS))
            yield tuple(Blow(chance.choice(list(Victim)), each, JUST_NOW) for each in asked)
            continue
        stages = chance.sample(list(Stage), chance.randint(1, MOST_BLOWS))
        yield tuple(
            Blow(chance.choice(list(Victim)), stage, chance.uniform(JUST_NOW, LATE))
            for stage in sorted(stages, key=list(Stage).index)
        )
