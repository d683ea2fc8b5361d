"""Eligibility at a table: which players it serves and for which mode, by the version in force.

Checked when a player opens the table and when they stake. A player who is no longer eligible
finishes the round and can stake nothing new.
"""

from collections.abc import Iterable
from typing import Final

from audit.raw_rows import fetch_one
from games.betting.rules import plays_on
from games.errors import NotEligibleHere, NotForOperatorPlayers, OtherMoney, TableClosed
from games.models import OPEN_PHASES, LiveTable, Shape, Table, TableVersion
from games.variants import VARIANTS
from players.models import Player
from wallet.models import AccountKind, Mode

# Parameters: players and, one for each, live tables. Returns the pairs of which the player may watch the table:
# it serves them, or they have bets on its latest round and the pause after it is not over, or they have a seat
# there.
MAY_WATCH: Final = f"""
SELECT who.id AS player, live.id AS live_table
FROM unnest(%(players)s::bigint[], %(live_tables)s::bigint[]) AS wanted (player, live_table)
JOIN players_player AS who ON who.id = wanted.player
JOIN games_livetable AS live ON live.id = wanted.live_table
JOIN games_table AS game_table ON game_table.id = live.table_id
JOIN games_tableversion AS version ON version.id = game_table.version_id
WHERE who.jurisdiction_id = ANY (version.jurisdictions) AND live.mode = ANY (version.modes)
    OR EXISTS (SELECT FROM games_liveseat AS own JOIN games_liveround AS round ON round.id = live.round_id
        WHERE own.live_table_id = live.id AND own.player_id = who.id AND own.round_id = round.id
            AND own.stakes <> '{{}}'::jsonb
            AND (round.phase IN {tuple(map(str, OPEN_PHASES))} OR round.deadline > clock_timestamp()))
    OR EXISTS (SELECT FROM games_cheminseat AS own
        WHERE own.live_table_id = live.id AND own.player_id = who.id AND own.left_at IS NULL)
"""  # noqa: S608  (nothing but names of our own)


def is_eligible(version: TableVersion, jurisdiction: str) -> bool:
    """Return whether a table version serves players of a jurisdiction."""
    return jurisdiction in version.jurisdictions


def is_played_for(version: TableVersion, mode: Mode | str) -> bool:
    """Return whether a table version offers the mode."""
    return mode in version.modes


def demand_eligible_here(version: TableVersion | None, player: Player, mode: Mode) -> None:
    """Require that the player may stake under this version.

    Raises NotEligibleHere, OtherMoney; TableClosed if there is no version.
    """
    if version is None:
        raise TableClosed
    if not is_eligible(version, player.jurisdiction_id):
        raise NotEligibleHere
    if not is_played_for(version, mode):
        raise OtherMoney(mode)


def is_in_current_round(player: Player, table: Table, mode: Mode) -> bool:
    """Return whether the player takes part in the current round of a table that no longer serves
    them.

    A solo round is over at once.
    """
    live = LiveTable.objects.filter(table=table, mode=mode).values_list("pk", flat=True).first()
    return live is not None and fetch_one(MAY_WATCH, asked([(player.pk, live)])) is not None


def asked(pairs: Iterable[tuple[int, int]]) -> dict[str, list[int]]:
    """Return the parameters of `MAY_WATCH` for pairs of a player and a live table."""
    found = list(pairs)
    return {"players": [player for player, _ in found], "live_tables": [live_table for _, live_table in found]}


def uses_operator_wallet(player: Player, mode: Mode) -> bool:
    """Return whether the player plays with an operator's money."""
    return player.uses_operator_wallet and mode is Mode.REAL


def demand_possible(table: Table, player: Player, mode: Mode) -> None:
    """Refuse an operator's player at a table that does not support the operator wallet
    (`is_possible`).

    Raises NotForOperatorPlayers.
    """
    if uses_operator_wallet(player, mode) and not is_possible(table):
        raise NotForOperatorPlayers


def is_possible(table: Table) -> bool:
    """Return whether the operator wallet can be used at a table.

    The table must hold no money between rounds and have one player.
    """
    return table.shape == Shape.SOLO and plays_on(VARIANTS[table.variant]) is AccountKind.CASH
