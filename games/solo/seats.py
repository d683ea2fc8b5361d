"""A player's place at a table: taken once, read with the table and the version in force there, committed to round after
round.
"""

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
# Whether the player may play at this table now: their law lets them play at several at once, or this is the one they
# opened last. That row is shared until the round is whole, so that of two deals at two tables it decides for one.
SITS = """(SELECT law.may_play_in_parallel FROM players_player AS whose
        JOIN players_jurisdiction AS law ON law.code = whose.jurisdiction_id WHERE whose.id = %(player)s)
    OR EXISTS (SELECT FROM last WHERE last.table_id = place.table_id AND last.mode = place.mode)"""
# The table first: the row is shared among those who play and kept from whoever changes it, until the round is whole. A
# change that this statement had to wait for has a version it cannot see yet: the table row names it, the join does not.
# The account that the game plays on comes last; each row is locked as it stands once it has been waited for. Before any
# of them it is asked whether the player may play, and whether anybody may.
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
    """A place whose rows stay as they are until the transaction ends, with the account that the game plays on."""

    place: NextRound
    account_id: int
    balance: int  # minor units
    held: int  # of the balance: set aside, so that it covers nothing
    bar: str | None  # what keeps the player from playing, by `players.protection.eligibility.Code`
    is_stopped: bool  # the whole house
    room: LimitReached | None  # the limit that leaves least for a stake
    sits: bool  # whether it is here that they play, where they may play at one table at a time


def read(player: Player, table_id: int, mode: Mode) -> NextRound | None:
    """Return the place with its table and version, None where none was taken."""
    row = fetch_one(READ, [player.pk, table_id, mode.value])
    return None if row is None else _place(player, row)


def lock(player: Player, table_id: int, mode: Mode, session: UUID | None = None) -> Locked | None:
    """Lock the place and the account, and the table against changes; None where no place was taken. An exclusion of the
    player waits until the transaction ends, and so does a stop of the house.

    Raises TableChanged where a change of the table was committed just now.
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
    """Take a place with its table and version from a row. Raises TableChanged where the version cannot be seen yet."""
    place, table, version = instance(NextRound, row), instance(Table, row), instance(TableVersion, row)
    if table.version_id is not None and version.pk is None:
        raise TableChanged
    place.player, place.table, table.version = player, table, version if version.pk else None
    return place


def take(player: Player, table_id: int, mode: Mode) -> None:
    """Commit to a first round there, unless another tab has come first: then its round is the one."""
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
    """Have the player play here from now on, and at no other table."""
    with connection.cursor() as cursor:
        cursor.execute(SIT, [player.pk, table_id, mode.value])


def keep_value(place: NextRound, value: str) -> None:
    """Keep what the player has written into the shuffle, for this round and those after it, until it is changed."""
    if value != place.player_value:
        place.player_value = value
        with connection.cursor() as cursor:
            cursor.execute(KEEP_VALUE, [value, place.pk])


def takes_bets(table: Table, mode: Mode | str) -> bool:
    """Say whether a round may begin there for that kind of money: the table is open and played for it, and this program
    plays the rules it was put live with.
    """
    return table.is_open and _is_playable(table, mode)


def pauses(table: Table, mode: Mode | str) -> bool:
    """Say whether rounds would begin there for that kind of money but for the table's pause."""
    return table.status == Status.PAUSED and _is_playable(table, mode)


def as_shown(table: Table, mode: Mode | str, *, is_house_stopped: bool) -> tuple[bool, bool]:
    """Return whether the table takes bets for that kind of money, and whether it would but for its pause or a stop of
    the whole house.
    """
    would = takes_bets(table, mode)
    return would and not is_house_stopped, (would and is_house_stopped) or pauses(table, mode)


def _is_playable(table: Table, mode: Mode | str) -> bool:
    version = table.version
    if version is None or version.rules_digest != GAMES[table.variant].digest:
        return False
    return is_played_for(version, mode)


def touch(place: NextRound) -> None:
    """Note that the player does something there, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(TOUCH, [place.pk])


def succeed(place: NextRound, *, last_stakes: Mapping[str, int], standing: Mapping[str, int]) -> None:
    """Have *place* commit to the round after the one just played, with the *standing* bets on the table. What finishes
    the round stores it.
    """
    seed = new_sealed_seed()
    place.last_round = place.unseen = place.round_id
    place.round_id, place.commitment, place.sealed_seed = seed.round_id, seed.commitment, seed.sealed
    place.slip, place.undo, place.slip_version = dict(standing), [], 0
    place.last_stakes = dict(last_stakes)
