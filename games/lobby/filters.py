"""What a reader of the lobby wants to see, as its address says it. What an address says that nobody can choose asks for
nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final
from urllib.parse import urlencode

from games.lobby.selectors import LobbyTable
from games.variants import GAMES
from wallet.models import Mode

FREE: Final = Mode.FREE.name.lower()
OTHERS, ALONE = "others", "alone"
YES = "1"


@dataclass(frozen=True)
class Wish:
    """A kind of money, and which of its tables. An empty word asks for nothing."""

    money: str = ""  # "free": play money
    game: str = ""
    company: str = ""
    lowest: str = ""  # minor units: the least on Player and Banker, or in a bank, is no more than that
    chat: str = ""
    open: str = ""
    favourites: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> "Wish":
        """Read the query of an address."""
        lowest = asked.get("lowest", "")
        return cls(
            money=_among(asked.get("money", ""), [FREE]),
            game=_among(asked.get("game", ""), GAMES),
            company=_among(asked.get("company", ""), (OTHERS, ALONE)),
            lowest=lowest if lowest.isascii() and lowest.isdecimal() and len(lowest) < 16 else "",
            chat=asked.get("chat", "")[:2],
            open=_among(asked.get("open", ""), [YES]),
            favourites=_among(asked.get("favourites", ""), [YES]),
        )

    @property
    def mode(self) -> Mode:
        """The kind of money."""
        return Mode.FREE if self.money else Mode.REAL

    @property
    def is_choosy(self) -> bool:
        """Whether any table of its kind of money may be left out."""
        return self != Wish(money=self.money)

    @property
    def query(self) -> str:
        """The end of the address that asks for it, empty for a lobby as it stands."""
        words = urlencode({name: word for name, word in asdict(self).items() if word})
        return f"?{words}" if words else ""

    @property
    def for_real(self) -> "Wish":
        """The same among the tables for real money."""
        return replace(self, money="")

    @property
    def for_free(self) -> "Wish":
        """The same among the tables for play money."""
        return replace(self, money=FREE)

    @property
    def without_choice(self) -> "Wish":
        """The whole lobby of the same kind of money."""
        return Wish(money=self.money)

    def fits(self, table: LobbyTable) -> bool:
        """Say whether the reader wants to see the table."""
        return (
            self.game in ("", table.variant)
            and self.company in ("", ALONE if table.is_solo else OTHERS)
            and (not self.lowest or table.lowest <= int(self.lowest))
            and self.chat in ("", table.chat_language)
            and (not self.open or (table.is_open and not table.is_stopped))
            and (not self.favourites or table.is_favourite)
        )


@dataclass(frozen=True)
class Choices:
    """What there is to choose from among some tables: nothing where all of them are alike."""

    games: tuple[tuple[str, str], ...]  # slug and name
    companies: bool
    lowest: tuple[int, ...]  # minor units, ascending
    currency: str
    chats: tuple[str, ...]

    @classmethod
    def among(cls, tables: Iterable[LobbyTable]) -> "Choices":
        """Return what tells these tables apart."""
        tables = tuple(tables)
        games = {table.variant: table.game for table in tables}
        lowest = sorted({table.lowest for table in tables})
        return cls(
            games=tuple(games.items()) if len(games) > 1 else (),
            companies=len({table.is_solo for table in tables}) > 1,
            lowest=tuple(lowest) if len(lowest) > 1 else (),
            currency=tables[0].currency if tables else "",
            chats=tuple(sorted({table.chat_language for table in tables} - {""})),
        )


def _among(word: str, known: Iterable[str]) -> str:
    return word if word in known else ""
