"""Settings of a Chemin de Fer table version: seats, smallest and largest bank, house players, and pace."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, TypedDict

from games.engine.chemin import RulesError, TableRules
from games.engine.chemin.rules import FEWEST_SEATS, MOST_SEATS
from games.tables.clock import LONGEST, SHORTEST, ClockError

MOST_MISSED: Final = 20
"""The most missed turns in a row before a player is away."""

LONGEST_AWAY: Final = 3_600_000
"""The longest time that the seat of an away player is kept, in milliseconds."""


class StoredChemin(TypedDict):
    """The limits of a Chemin de Fer table as its version stores them, in the table's one currency:
    minor units.
    """

    seat_count: int
    minimum: int
    maximum: int
    house_players: int


StoredCheminLimits = dict[str, StoredChemin]


class CheminRulesError(ValueError):
    """Settings under which no Chemin de Fer table can be opened, as a sentence for staff."""


@dataclass(frozen=True)
class CheminRules:
    """The limits of a Chemin de Fer table. `minimum` and `maximum` are those of a bank, in minor
    units of the currency.

    Raises CheminRulesError.
    """

    currency: str
    seat_count: int
    minimum: int
    maximum: int
    house_players: int = 0
    """Seats that the house plays while a player is there; 0 at every real-money table."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name != "currency" and type(value) is not int:
                raise CheminRulesError(f"{name}: a whole number, not {value!r}.")
        try:
            rules = self.table_rules
        except RulesError:
            raise CheminRulesError(
                f"{self.currency}: a table has {FEWEST_SEATS} to {MOST_SEATS} seats, not {self.seat_count}, and its"
                " smallest bank must be above 0 and not above its largest bank, not from "
                f"{self.minimum} to {self.maximum}."
            ) from None
        if not 0 <= self.house_players < rules.seat_count:
            raise CheminRulesError(
                f"{self.currency}: of {self.seat_count} seats, 0 to {self.seat_count - 1} can be house players,"
                f" not {self.house_players}."
            )

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "CheminRules":
        """Read the limits of a table version.

        Shape: ``{"SEK": {"seat_count": 9, "minimum": 10000, "maximum": 1000000, "house_players": 0}}``, one currency
        and no other. Raises CheminRulesError.
        """
        if len(stored) != 1:
            raise CheminRulesError(f"A Chemin de Fer table has one currency, not {len(stored)}.")
        ((currency, entry),) = stored.items()
        names = StoredChemin.__required_keys__
        if not isinstance(entry, Mapping) or entry.keys() != names:
            raise CheminRulesError(f"{currency}: {', '.join(sorted(names))}, and nothing else.")
        return cls(currency=currency, **entry)

    def stored(self) -> StoredCheminLimits:
        """Return the form that a table version stores."""
        entry = StoredChemin(
            seat_count=self.seat_count, minimum=self.minimum, maximum=self.maximum, house_players=self.house_players
        )
        return {self.currency: entry}

    @property
    def table_rules(self) -> TableRules:
        """The rules for the engine. Raises RulesError."""
        return TableRules(seat_count=self.seat_count, minimum=self.minimum, maximum=self.maximum)

    @property
    def is_practice(self) -> bool:
        """True if players play against house players here, and so for free money only."""
        return self.house_players > 0


@dataclass(frozen=True)
class CheminClock:
    """Time for the answer to each question, in milliseconds. Raises ClockError."""

    ask: int  # to take the bank, to bid, to call, to stake
    decide: int  # to draw or stand
    deal: int  # for the banker to draw the cards
    choice: int  # to keep the bank or pass it on
    pause: int  # to look at a finished coup; added to the first question after it
    house_player: int  # thinking time of a house player
    missed: int  # missed turns in a row before a player is away: a count
    removal: int  # time that the seat of an away player is kept

    def __post_init__(self) -> None:
        longest = {"missed": MOST_MISSED, "removal": LONGEST_AWAY}
        for name, value in asdict(self).items():
            least, most = 1 if name == "missed" else SHORTEST, longest.get(name, LONGEST)
            if type(value) is not int or not least <= value <= most:
                unit = "turns" if name == "missed" else "milliseconds"
                raise ClockError(f"{name}: from {least} to {most} {unit}, not {value}.")
        if self.house_player >= min(self.ask, self.decide, self.deal, self.choice):
            raise ClockError("house_player: the response time must be shorter than the time to act.")

    @classmethod
    def of(cls, stored: Mapping[str, int]) -> "CheminClock":
        """Read the clock of a table version. Raises ClockError."""
        names = [field.name for field in fields(cls)]
        if stored.keys() != set(names):
            raise ClockError(f"The clock of a Chemin de Fer table has {', '.join(names)}, and nothing else.")
        return cls(**stored)

    def stored(self) -> dict[str, int]:
        """Return the form that a table version stores."""
        return asdict(self)
