"""Filters of the lobby, read from the URL query. Unknown values are ignored."""

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
    """The filters of the lobby. An empty value does not filter."""

    money: str = ""  # "free": free money
    game: str = ""
    company: str = ""
    lowest: str = ""  # minor units: the table's minimum is at most this
    chat: str = ""
    open: str = ""
    favourites: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> "Wish":
        """Read the filters from a URL query."""
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
        """True if any filter except the kind of money is set."""
        return self != Wish(money=self.money)

    @property
    def query(self) -> str:
        """The filters as a URL query string; empty without filters."""
        words = urlencode({name: word for name, word in asdict(self).items() if word})
        return f"?{words}" if words else ""

    @property
    def for_real(self) -> "Wish":
        """The same filters for real-money tables."""
        return replace(self, money="")

    @property
    def for_free(self) -> "Wish":
        """The same filters for free-money tables."""
        return replace(self, money=FREE)

    @property
    def without_choice(self) -> "Wish":
        """Only the kind of money, without other filters."""
        return Wish(money=self.money)

    def fits(self, table: LobbyTable) -> bool:
        """Return True if the table matches the filters."""
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
    """The values of each filter among some tables; empty if all tables have the same value."""

    games: tuple[tuple[str, str], ...]  # slug and name
    companies: bool
    lowest: tuple[int, ...]  # minor units, ascending
    currency: str
    chats: tuple[str, ...]

    @classmethod
    def among(cls, tables: Iterable[LobbyTable]) -> "Choices":
        """Return the values by which these tables differ."""
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
