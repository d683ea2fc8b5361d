"""A player's seat at a solo table: create, read and lock it, and commit it to the next round."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from games.betting.controls import plays_on
from games.betting.eligibility import is_played_for
from games.errors import TableChanged
from games.models import NextRound, Status, Table, TableVersion
from games.raw_rows import Value, columns, fetch_one, instance
from games.seeds import new_sealed_seed
from games.variants import GAMES, VARIANTS
from players.models import Player
from players.protection import eligibility
from wallet.ledger import LimitReached
from wallet.models import AccountKind, Mode

COLUMNS = f"{columns(NextRound, 'place')}, {columns(Table, 'seat')}, {columns(TableVersion, 'version')}"
READ = f"""
SELECT {COLUMNS}
FROM games_nextround AS place
JOIN games_table AS seat ON seat.id = place.table_id
LEFT JOIN games_tableversion AS version ON version.id = seat.version_id
WHERE place.player_id = %s AND place.table_id = %s AND place.mode = %s
"""  # noqa: S608  (nothing but names of our own columns)
# Whether the player may play at this table now: the jurisdiction allows play at several tables, or the player
# opened this one last. That row stays share-locked until the round is stored, so that two deals at two tables see
# one value.
SITS = """(SELECT law.may_play_in_parallel FROM players_player AS whose
        JOIN players_jurisdiction AS law ON law.code = whose.jurisdiction_id WHERE whose.id = %(player)s)
    OR EXISTS (SELECT FROM last WHERE last.table_id = place.table_id AND last.mode = place.mode)"""
# Lock order: the table first. Players share its row lock; a change of the table waits until the round is stored.
# If this statement waited for such a change, it cannot see the new version yet: the table row names it, the join
# does not find it. The account that the game plays on is locked last. Eligibility of the player and the house
# stop are checked before any lock.
LOCK = f"""
WITH gate AS MATERIALIZED (SELECT {eligibility.BARRED} AS bar, wallet_is_stopped() AS is_stopped),
seat AS MATERIALIZED (SELECT * FROM games_table WHERE id = %(table)s FOR SHARE),
last AS MATERIALIZED (SELECT * FROM games_opentable WHERE player_id = %(player)s FOR SHARE)
SELECT {COLUMNS}, own.id, own.balance, own.held, gate.bar, gate.is_stopped,
    CASE place.mode WHEN '{Mode.REAL}' THEN wallet_room(place.player_id, 'stake') END, {SITS}
FROM gate CROSS JOIN games_nextround AS place
JOIN seat ON seat.id = place.table_id
JOIN wallet_account AS own ON own.owner_id = place.player_id AND own.mode = place.mode
    AND own.kind = CASE WHEN seat.variant = ANY (%(purses)s) THEN '{AccountKind.PURSE}' ELSE '{AccountKind.CASH}' END
LEFT JOIN games_tableversion AS version ON version.id = seat.version_id
WHERE place.player_id = %(player)s AND place.table_id = %(table)s AND place.mode = %(mode)s
FOR UPDATE OF place, own
"""  # noqa: S608  (nothing but names of our own columns)
ON_A_PURSE = [slug for slug, variant in VARIANTS.items() if plays_on(variant) is AccountKind.PURSE]
KEEP_VALUE = "UPDATE games_nextround SET player_value = %s WHERE id = %s"
SIT = """
INSERT INTO games_opentable (player_id, table_id, mode) VALUES (%s, %s, %s)
ON CONFLICT (player_id) DO UPDATE SET table_id = excluded.table_id, mode = excluded.mode
"""
TOUCH = "UPDATE games_nextround SET used_at = clock_timestamp() WHERE id = %s"


class Locked(NamedTuple):
    """A seat whose rows stay locked until the transaction ends, with the account that the game plays on."""

    place: NextRound
    account_id: int
    balance: int  # minor units
    held: int  # part of the balance that is set aside and cannot be staked
    bar: str | None  # why the player may not play, a `players.protection.eligibility.Code`
    is_stopped: bool  # house stop
    room: LimitReached | None  # the limit that leaves least for a stake
    sits: bool  # whether the player plays here, if only one table at a time is allowed


def read(player: Player, table_id: int, mode: Mode) -> NextRound | None:
    """Return the seat with its table and version, or None if there is no seat."""
    row = fetch_one(READ, [player.pk, table_id, mode.value])
    return None if row is None else _place(player, row)


def lock(player: Player, table_id: int, mode: Mode, session: UUID | None = None) -> Locked | None:
    """Lock the seat and the account, and the table against changes; None if there is no seat.

    An exclusion of the player and a house stop wait until the transaction ends.

    Raises TableChanged if a change of the table was committed just now.
    """
    values: dict[str, Value] = {"table": table_id, "purses": ON_A_PURSE, "mode": mode.value}
    values.update(eligibility.barred(player, session, real=mode is Mode.REAL))
    row = fetch_one(LOCK, values)
    if row is None:
        return None
    place = _place(player, row)
    account_id, balance, held, bar, is_stopped, room, sits = row
    return Locked(place, account_id, balance, held, bar, is_stopped, room and LimitReached.parse(room), sits)


def _place(player: Player, row: Iterator[Any]) -> NextRound:
    """Build a seat with its table and version from a row. Raises TableChanged if the version is not
    visible yet.
    """
    place, table, version = instance(NextRound, row), instance(Table, row), instance(TableVersion, row)
    if table.version_id is not None and version.pk is None:
        raise TableChanged
    place.player, place.table, table.version = player, table, version if version.pk else None
    return place


def take(player: Player, table_id: int, mode: Mode) -> None:
    """Create the seat and commit to its first round. If another tab was first, its round is kept."""
    seed = new_sealed_seed()
    place = NextRound(
        player=player,
        table_id=table_id,
        mode=mode,
        round_id=seed.round_id,
        commitment=seed.commitment,
        sealed_seed=seed.sealed,
    )
    NextRound.objects.bulk_create([place], ignore_conflicts=True)


def sit(player: Player, table_id: int, mode: Mode) -> None:
    """Make this the only table at which the player plays from now on."""
    with connection.cursor() as cursor:
        cursor.execute(SIT, [player.pk, table_id, mode.value])


def keep_value(place: NextRound, value: str) -> None:
    """Store the player's own value for the shuffle, for this and later rounds until it is changed."""
    if value != place.player_value:
        place.player_value = value
        with connection.cursor() as cursor:
            cursor.execute(KEEP_VALUE, [value, place.pk])


def takes_bets(table: Table, mode: Mode | str) -> bool:
    """Return whether a round may begin there for this mode.

    The table must be open, offer the mode, and its version must use the rules that this release
    plays.
    """
    return table.is_open and _is_playable(table, mode)


def pauses(table: Table, mode: Mode | str) -> bool:
    """Return whether only the table's pause prevents rounds for this mode."""
    return table.status == Status.PAUSED and _is_playable(table, mode)


def as_shown(table: Table, mode: Mode | str, *, is_house_stopped: bool) -> tuple[bool, bool]:
    """Return whether the table takes bets for this mode, and whether only a pause or a house stop
    prevents it.
    """
    would = takes_bets(table, mode)
    return would and not is_house_stopped, (would and is_house_stopped) or pauses(table, mode)


def _is_playable(table: Table, mode: Mode | str) -> bool:
    version = table.version
    if version is None or version.rules_digest != GAMES[table.variant].digest:
        return False
    return is_played_for(version, mode)


def touch(place: NextRound) -> None:
    """Record that the player is active there, by the database clock."""
    with connection.cursor() as cursor:
        cursor.execute(TOUCH, [place.pk])


def succeed(place: NextRound, *, last_stakes: Mapping[str, int], standing: Mapping[str, int]) -> None:
    """Commit the seat *place* to the next round, with the bets *standing* on the table.

    The caller stores it when it finishes the round.
    """
    seed = new_sealed_seed()
    place.last_round = place.unseen = place.round_id
    place.round_id, place.commitment, place.sealed_seed = seed.round_id, seed.commitment, seed.sealed
    place.slip, place.undo, place.slip_version = dict(standing), [], 0
    place.last_stakes = dict(last_stakes)
