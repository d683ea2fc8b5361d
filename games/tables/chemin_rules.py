"""What the version of a guests' table fixes: places, the smallest and the largest bank, house players, and the pace."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, TypedDict

from games.engine.chemin import RulesError, TableRules
from games.engine.chemin.rules import FEWEST_PLACES, MOST_PLACES
from games.tables.clock import LONGEST, SHORTEST, ClockError

MOST_MISSED: Final = 20
"""After so many missed turns in a row at the latest a guest is away."""

LONGEST_AWAY: Final = 3_600_000
"""Milliseconds for which a place is kept for whoever is away, at most."""


class StoredGuests(TypedDict):
    """The limits of a guests' table as its version keeps them, in the one currency of the table: minor units."""

    places: int
    minimum: int
    maximum: int
    house_players: int


StoredGuestLimits = dict[str, StoredGuests]


class GuestRulesError(ValueError):
    """Figures under which no guests' table can be opened, in a sentence for staff."""


@dataclass(frozen=True)
class GuestRules:
    """What a guests' table fixes. `minimum` and `maximum` are those of a bank, in minor units of the currency.

    Raises GuestRulesError.
    """

    currency: str
    places: int
    minimum: int
    maximum: int
    house_players: int = 0
    """So many places the house plays while a guest is there; 0 at every table for real money."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name != "currency" and type(value) is not int:
                raise GuestRulesError(f"{name}: a whole number, not {value!r}.")
        try:
            rules = self.table_rules
        except RulesError:
            raise GuestRulesError(
                f"{self.currency}: a table has {FEWEST_PLACES} to {MOST_PLACES} places, not {self.places}, and its"
                f" smallest bank lies above 0 and not above its largest, not from {self.minimum} to {self.maximum}."
            ) from None
        if not 0 <= self.house_players < rules.places:
            raise GuestRulesError(
                f"{self.currency}: of {self.places} places the house plays 0 to {self.places - 1}, so that one is left"
                f" for a guest, not {self.house_players}."
            )

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "GuestRules":
        """Read the limits of a table version.

        Shape: ``{"SEK": {"places": 9, "minimum": 10000, "maximum": 1000000, "house_players": 0}}``, one currency and
        no other. Raises GuestRulesError.
        """
        if len(stored) != 1:
            raise GuestRulesError(f"A guests' table has one currency, not {len(stored)}.")
        ((currency, entry),) = stored.items()
        names = StoredGuests.__required_keys__
        if not isinstance(entry, Mapping) or entry.keys() != names:
            raise GuestRulesError(f"{currency}: {', '.join(sorted(names))}, and nothing else.")
        return cls(currency=currency, **entry)

    def stored(self) -> StoredGuestLimits:
        """Return what a table version keeps."""
        entry = StoredGuests(
            places=self.places, minimum=self.minimum, maximum=self.maximum, house_players=self.house_players
        )
        return {self.currency: entry}

    @property
    def table_rules(self) -> TableRules:
        """The same for the engine. Raises RulesError."""
        return TableRules(places=self.places, minimum=self.minimum, maximum=self.maximum)

    @property
    def is_practice(self) -> bool:
        """Whether guests play against house players here, and so for free money alone."""
        return self.house_players > 0


@dataclass(frozen=True)
class GuestClock:
    """How long each question waits for its answer, in milliseconds. Raises ClockError."""

    ask: int  # to take the bank, to bid, to call, to stake
    decide: int  # to draw or stand
    deal: int  # for the banker to draw the cards
    choice: int  # to keep the bank or pass it on
    pause: int  # to look at a coup that is over; added to the first question after it
    house_player: int  # that a house player thinks
    missed: int  # turns in a row that a guest lets pass before being away: a count
    removal: int  # that a place is kept for whoever is away

    def __post_init__(self) -> None:
        longest = {"missed": MOST_MISSED, "removal": LONGEST_AWAY}
        for name, value in asdict(self).items():
            least, most = 1 if name == "missed" else SHORTEST, longest.get(name, LONGEST)
            if type(value) is not int or not least <= value <= most:
                unit = "turns" if name == "missed" else "milliseconds"
                raise ClockError(f"{name}: from {least} to {most} {unit}, not {value}.")
        if self.house_player >= min(self.ask, self.decide, self.deal, self.choice):
            raise ClockError("house_player: a house player thinks for less time than any question waits.")

    @classmethod
    def of(cls, stored: Mapping[str, int]) -> "GuestClock":
        """Read the clock of a table version. Raises ClockError."""
        names = [field.name for field in fields(cls)]
        if stored.keys() != set(names):
            raise ClockError(f"The clock of a guests' table has {', '.join(names)}, and nothing else.")
        return cls(**stored)

    def stored(self) -> dict[str, int]:
        """Return what a table version keeps."""
        return asdict(self)
