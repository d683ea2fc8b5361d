"""Data shown on the verification page: each stored value with its recomputed value.

Values are English texts for staff. A value that cannot be recomputed is shown alone.
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
    """A stored value and the value recomputed from the seed."""

    what: str
    stored: str
    again: str | None = None  # None: nothing to compare it with

    @property
    def head(self) -> str:
        """The name of the value without the name of the player."""
        return self.what.rpartition(": ")[2]

    @property
    def differs(self) -> bool:
        """True if the stored value is not the recomputed one."""
        return self.again is not None and self.stored != self.again


@dataclass(frozen=True)
class Row:
    """Several facts about one thing, for example stake, payout, commission and result of a bet."""

    name: str
    facts: tuple[Fact, ...]

    @property
    def is_compared(self) -> bool:
        """True if any of the facts could be recomputed."""
        return any(fact.again is not None for fact in self.facts)


@dataclass(frozen=True)
class PlayerPart:
    """One player's part in a round."""

    player: int
    session: UUID | None
    bets: tuple[Row, ...]
    facts: tuple[Fact, ...]
    returned: str = ""  # what the voiding of the round did, as text


@dataclass(frozen=True)
class Decided:
    """One decision in a coup of Chemin de Fer."""

    at: datetime
    who: str
    by: str
    waited: float | None  # seconds from the question to the answer
    fact: Fact


@dataclass(frozen=True)
class Step:
    """One step of the round, in order. *due* is the number of the card that is dealt with it."""

    due: int
    text: str


@dataclass(frozen=True)
class Logged:
    """An event of the round with its leaf in the event log (None: not sealed yet)."""

    id: int
    at: datetime
    kind: str
    by: str
    leaf: int | None


@dataclass(frozen=True)
class Earlier:
    """An earlier round from the same shoe."""

    id: UUID
    code: str
    first_card: int  # counted from 1
    cards: Fact


@dataclass(frozen=True)
class Deal:
    """A round dealt again: facts of the deal, each player's part, and the table view."""

    obstacle: str = ""  # why it could not be dealt or settled again
    facts: tuple[Fact, ...] = ()
    parts: tuple[PlayerPart, ...] = ()
    coup: tuple[Fact, ...] = ()  # Chemin de Fer only
    stakes: tuple[Row, ...] = ()
    decisions: tuple[Decided, ...] = ()
    view: RoundView | None = None
    spots: tuple[SpotView, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class RoundVerification:
    """The result of verifying a finished round, with all records that belong to it."""

    round: Round
    deal: Deal
    earlier: tuple[Earlier, ...]
    journals: tuple[Journal, ...]
    events: tuple[Logged, ...]
    incidents: tuple[Incident, ...]

    @property
    def differences(self) -> Sequence[Fact]:
        """The facts of this round that differ, in the order of the page."""
        return [fact for fact in self._facts() if fact.differs]

    @property
    def earlier_that_differ(self) -> Sequence[Earlier]:
        """The earlier rounds of the shoe whose stored cards differ from those of the seed."""
        return [each for each in self.earlier if each.cards.differs]

    @property
    def players(self) -> Sequence[int]:
        """The ids of the players whose data is shown, for the access log."""
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
    """Format an amount of minor units; None becomes "none"."""
    return NOTHING if minor is None else format_money(minor, currency, "en")
