"""Tables of the dashboard: play by game, table and country, and the players who won and lost most."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from babel import Locale
from django.urls import reverse
from django.utils.translation import get_language, gettext

from backoffice.dashboard.figures import NOTHING, Totals
from backoffice.dashboard.money import Board, amount, money, percent, rounds_address
from games.labels import variant_label
from games.models import Table, TableVersion
from games.variants import GAMES

SEE_PLAYERS: Final = "players.view_player"
"""Permission to see who won and lost most, in addition to that of the dashboard."""
MOST: Final = 8  # lines of a table; the report on revenue has all


Key = TypeVar("Key")


@dataclass(frozen=True)
class Line:
    """A line of a table: its name and its address, "" if it has none, and the formatted figures."""

    name: str
    address: str
    cells: Sequence[str]


@dataclass(frozen=True)
class Breakdown:
    """A table: its title, the headings of the figures, and the lines, the largest first.

    *rest* is the number of lines that were left out.
    """

    title: str
    first: str  # heading of the first column
    headings: Sequence[str]
    lines: Sequence[Line]
    rest: int = 0


def breakdowns(board: Board) -> list[Breakdown]:
    """Return the play of the board's currency by game, by table and by country."""
    versions = TableVersion.objects.select_related("table").in_bulk({each.version_id for each in board.now.played})
    tables = {version_id: version.table for version_id, version in versions.items()}
    played = list(board.now.play(board.currency))

    def game(version_id: int) -> str:
        return tables[version_id].variant

    def table(version_id: int) -> Table:
        return tables[version_id]

    return [
        _of_play(board, gettext("By game"), gettext("Game"), _grouped(played, game), _game_name),
        _of_play(board, gettext("By table"), gettext("Table"), _grouped(played, table), lambda each: each.name, _table),
        _by_country(board),
    ]


def _grouped(played: Sequence[tuple[int, Totals]], key: Callable[[int], Key]) -> dict[Key, Totals]:
    found: dict[Key, Totals] = {}
    for version_id, totals in played:
        found[key(version_id)] = found.get(key(version_id), NOTHING) + totals
    return {of: totals for of, totals in found.items() if totals != NOTHING}  # all of the others were voided


def _of_play(
    board: Board,
    title: str,
    first: str,
    groups: dict[Key, Totals],
    name: Callable[[Key], str],
    address: Callable[[Board, Key], str] = lambda _board, _key: "",
) -> Breakdown:
    ordered = sorted(groups.items(), key=lambda item: (-item[1].turnover, -item[1].ggr, name(item[0])))
    lines = [
        Line(
            name(key),
            address(board, key),
            (
                amount(totals.turnover),
                amount(totals.ggr),
                percent(totals.hold),
                f"{totals.rounds}",
            ),
        )
        for key, totals in ordered[:MOST]
    ]
    headings = (gettext("Turnover"), gettext("GGR"), gettext("Hold"), gettext("Rounds"))
    return Breakdown(title, first, headings, lines, len(ordered) - len(lines))


def _game_name(slug: str) -> str:
    game = GAMES.get(slug)
    return variant_label(game, "name", get_language() or "en") if game else slug


def _table(board: Board, table: Table) -> str:
    return f"{rounds_address(board.span, board.filter)}&table={table.pk}"


def _by_country(board: Board) -> Breakdown:
    names = Locale(get_language() or "en").territories
    found = board.now.countries(board.currency)
    found.sort(key=lambda item: (-item[1].turnover, item[0]))
    lines = [
        Line(
            names.get(country, country),
            "",
            (
                f"{totals.players}",
                amount(totals.turnover),
                amount(totals.ggr),
            ),
        )
        for country, totals in found[:MOST]
    ]
    headings = (gettext("Players"), gettext("Turnover"), gettext("GGR"))
    return Breakdown(gettext("By country"), gettext("Country"), headings, lines, len(found) - len(lines))


@dataclass(frozen=True)
class PlayerLine:
    """A player who won or lost much: the net result of the player, the turnover, and the number of rounds."""

    player_id: int
    address: str
    result: str
    turnover: str
    rounds: int


def winners_and_losers(board: Board) -> tuple[list[PlayerLine], list[PlayerLine]]:
    """Return the players who won most and those who lost most in the board's currency, the first of each first.

    The caller records the access.
    """
    named = board.now.players(board.currency)
    won = [_player(*each) for each in named if each[1].ggr < 0]
    lost = [_player(*each) for each in reversed(named) if each[1].ggr > 0]
    return won, lost


def _player(player_id: int, totals: Totals) -> PlayerLine:
    return PlayerLine(
        player_id,
        reverse("staff_player", args=[player_id]),
        amount(-totals.ggr),
        amount(totals.turnover),
        totals.rounds,
    )


@dataclass(frozen=True)
class BetweenPlayers:
    """Play between players, which is no turnover: the formatted stakes and rake."""

    stakes: str
    rake: str


def between_players(board: Board) -> BetweenPlayers | None:
    """Return the play between players of the board's currency; None if there was none."""
    totals = board.now.whole.get(board.currency, NOTHING)
    if not totals.between_players:
        return None
    return BetweenPlayers(money(totals.between_players, board.currency), money(totals.rake, board.currency))
