"""What the page of a recall shows: everything kept of a round beside what comes out when it is worked out again.

Values are texts for staff, in English. One that cannot be worked out again stands alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from games.models import Incident, Round
from games.tables.presentation import RoundView, SpotView
from wallet.models import Journal
from wallet.money import format_money

NOTHING = "none"


@dataclass(frozen=True)
class Fact:
    """One thing that is kept, and what it has to be."""

    what: str
    stored: str
    again: str | None = None  # None: nothing to compare it with

    @property
    def head(self) -> str:
        """What it is, without whose it is."""
        return self.what.rpartition(": ")[2]

    @property
    def differs(self) -> bool:
        """Whether it is not what it has to be."""
        return self.again is not None and self.stored != self.again


@dataclass(frozen=True)
class Row:
    """Something that has several facts, as a bet has stake, payout, commission and result."""

    name: str
    facts: tuple[Fact, ...]

    @property
    def is_compared(self) -> bool:
        """Whether any of it could be worked out again."""
        return any(fact.again is not None for fact in self.facts)


@dataclass(frozen=True)
class PlayerPart:
    """What one player had in a round."""

    player: int
    session: UUID | None
    bets: tuple[Row, ...]
    facts: tuple[Fact, ...]
    returned: str = ""  # what its annulment did, in words


@dataclass(frozen=True)
class Decided:
    """One decision in a coup between guests."""

    at: datetime
    who: str
    by: str
    waited: float | None  # seconds from the question to the answer
    fact: Fact


@dataclass(frozen=True)
class Step:
    """One thing that happened, in order; *due* is the number of the card with which it lies on the table."""

    due: int
    text: str


@dataclass(frozen=True)
class Logged:
    """An event of the round, and which leaf of the sealed log it is (None: it waits for the seal)."""

    id: int
    at: datetime
    kind: str
    by: str
    leaf: int | None


@dataclass(frozen=True)
class Earlier:
    """A round that was dealt from the shoe before this one."""

    id: UUID
    code: str
    first_card: int  # counted from 1
    cards: Fact


@dataclass(frozen=True)
class Deal:
    """A round dealt again: what is said of the deal, of everybody in it, and the table as it looked."""

    obstacle: str = ""  # why it could not be dealt or settled again
    facts: tuple[Fact, ...] = ()
    parts: tuple[PlayerPart, ...] = ()
    coup: tuple[Fact, ...] = ()  # what guests did to each other
    stakes: tuple[Row, ...] = ()
    decisions: tuple[Decided, ...] = ()
    view: RoundView | None = None
    spots: tuple[SpotView, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Recall:
    """Everything there is of a finished round."""

    round: Round
    deal: Deal
    earlier: tuple[Earlier, ...]
    journals: tuple[Journal, ...]
    events: tuple[Logged, ...]
    incidents: tuple[Incident, ...]

    @property
    def differences(self) -> Sequence[Fact]:
        """What of this round is not what it has to be, in the order of the page."""
        return [fact for fact in self._facts() if fact.differs]

    @property
    def earlier_that_differ(self) -> Sequence[Earlier]:
        """The rounds before it in its shoe whose cards are not what the seed gives."""
        return [each for each in self.earlier if each.cards.differs]

    @property
    def players(self) -> Sequence[int]:
        """Whose data it shows."""
        return [part.player for part in self.deal.parts]

    def _facts(self) -> Iterator[Fact]:
        deal = self.deal
        yield from deal.facts
        yield from deal.coup
        for row in deal.stakes:
            yield from row.facts
        for decided in deal.decisions:
            yield decided.fact
        for part in deal.parts:
            for row in part.bets:
                yield from row.facts
            yield from part.facts


def money(minor: int | None, currency: str) -> str:
    """Write an amount of minor units; None is nothing at all."""
    return NOTHING if minor is None else format_money(minor, currency, "en")
