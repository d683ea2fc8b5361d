"""A player's seat at a solo table: create, read and lock it, and commit it to the next round."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction

from audit.raw_rows import Value, array, columns, fetch_first, fetch_last, fetch_one, instance
from games.betting.eligibility import is_played_for
from games.betting.rules import plays_on
from games.deals import Commitment, Reason, commit
from games.engine.commitments import Purpose
from games.models import SoloSeat, Status, Table, TableVersion
from games.rounds.database_refusals import round_refusals
from games.variants import GAMES, VARIANTS
from players.models import Player
from players.protection import eligibility
from players.protection.play_sessions import PlaySessionState, totals
from wallet.ledger import LimitReached
from wallet.models import AccountKind, Mode

READ = f"""
SELECT {columns(SoloSeat, "solo_seat")}, {columns(Table, "game_table")}, own.seconds
FROM games_soloseat AS solo_seat JOIN games_table AS game_table ON game_table.id = solo_seat.table_id
CROSS JOIN games_wait_of(solo_seat.player_id, solo_seat.mode) AS own
WHERE solo_seat.player_id = %s AND solo_seat.table_id = %s AND solo_seat.mode = %s
"""  # noqa: S608  (nothing but names of our own columns)


def sits(row: str) -> str:
    """Return the SQL condition that the player plays at the table of *row*, an alias with table_id and mode.

    It is true if the jurisdiction allows play at several tables, or the player opened this one last.
    The statement reads that choice as ``last``, with a share lock until the round is stored, so that
    two deals at two tables see one value.
    """
    return f"""(SELECT law.may_play_in_parallel FROM players_player AS whose
        JOIN players_jurisdiction AS law ON law.code = whose.jurisdiction_id WHERE whose.id = %(player)s)
    OR EXISTS (SELECT FROM last WHERE last.table_id = {row}.table_id AND last.mode = {row}.mode)"""  # noqa: S608  (nothing but names of our own columns)


LOCK = f"""
SELECT {columns(SoloSeat, "(seat)")}, {columns(Table, "(of_table)")},
    account, balance, held, reason, is_stopped, room, sits, elsewhere, wait, has_announcements, has_void_notices,
    {totals("(play_session)", "moment")}
FROM games_lock_solo_seat(%(player)s::bigint, %(table)s::bigint, %(mode)s::text, %(purses)s::text[], %(terms)s::text,
    %(session)s::uuid, %(minutes)s::integer, %(deals)s::boolean)
"""  # noqa: S608  (nothing but names of our own columns)
ON_A_PURSE = [slug for slug, variant in VARIANTS.items() if plays_on(variant) is AccountKind.PURSE]
TAKE = "SELECT games_take_solo_seat(%s::bigint, %s::bigint, %s::text, %s::uuid, %s::text, %s::bytea, %s::text)"
RENEW = """
SELECT games_renew_solo_seat(%s::bigint, %s::uuid, %s::text, %s::bytea, %s::uuid, %s::text, %s::bytea, %s::text)
"""
KEEP_SLIP = """
UPDATE games_soloseat SET slip = %s, undo = %s, slip_version = %s, last_chip = %s, idempotency_keys = %s,
    used_at = clock_timestamp()
WHERE id = %s RETURNING id
"""
SIT = """
INSERT INTO games_opentable (player_id, table_id, mode) VALUES (%s, %s, %s)
ON CONFLICT (player_id) DO UPDATE SET table_id = excluded.table_id, mode = excluded.mode, game_session_id = NULL
"""
TOUCH = "UPDATE games_soloseat SET used_at = clock_timestamp() WHERE id = %s"


class Known(NamedTuple):
    """Further values for the page of a locked seat, read or returned by the statements of a click."""

    balance: int  # of the account that the game plays on, minor units
    is_stopped: bool  # house stop
    has_announcements: bool  # a notice of staff to everybody is not over
    has_void_notices: bool  # the player has to be notified of a void round
    play_session: PlaySessionState | None  # None before the play session began


class Locked(NamedTuple):
    """A seat whose rows stay locked until the transaction ends, with the account that the game plays on."""

    seat: SoloSeat
    account_id: int
    balance: int  # minor units
    held: int  # part of the balance that is set aside and cannot be staked
    ineligibility: str | None  # why the player may not play, a `players.protection.eligibility.Code`
    is_stopped: bool  # house stop
    room: LimitReached | None  # the limit that leaves least for a stake
    sits: bool  # whether the player plays here, if only one table at a time is allowed
    elsewhere: str | None  # if so, where a round of the player is in progress


def read(player: Player, table_id: int, mode: Mode) -> SoloSeat | None:
    """Return the seat with its table and version, or None if there is no seat."""
    row = fetch_one(READ, [player.pk, table_id, mode.value])
    if row is None:
        return None
    seat = _seat(player, row)
    seat.wait = next(row)
    return seat


def lock(
    player: Player, table_id: int, mode: Mode, session: UUID | None = None, *, deals: bool = False
) -> Locked | None:
    """Lock the seat and the account, and the table against changes; None if there is no seat.

    An exclusion of the player and a house stop wait until the transaction ends. *deals*: a round is finished in this
    transaction, which does not ask again whether the player may play.
    """
    values: dict[str, Value] = {"table": table_id, "purses": array(ON_A_PURSE), "mode": mode.value, "deals": deals}
    values.update(eligibility.parameters(player, session, real=mode is Mode.REAL))
    row = fetch_first(LOCK, values)
    if row is None:
        return None
    seat = _seat(player, row)
    (
        account_id,
        balance,
        held,
        ineligibility,
        is_stopped,
        room,
        sits,
        elsewhere,
        seat.wait,
        has_announcements,
        has_void_notices,
        *play_session,
    ) = row
    is_check_due = ineligibility == eligibility.Code.CHECK
    totals_so_far = PlaySessionState.of(play_session, is_check_due=is_check_due)
    seat.known = Known(balance, is_stopped, has_announcements, has_void_notices, totals_so_far)
    return Locked(
        seat, account_id, balance, held, ineligibility, is_stopped, room and LimitReached.parse(room), sits, elsewhere
    )


def _seat(player: Player, row: Iterator[Any]) -> SoloSeat:
    """Build a seat with its table and version from a row."""
    seat, table = instance(SoloSeat, row), instance(Table, row)
    seat.player, seat.table = player, table
    if table.version_id is not None:
        table.version = TableVersion.stored(table.version_id)
    return seat


def take(player: Player, table: Table, mode: Mode) -> None:
    """Create the seat and commit to its first round. If another tab was first, its round is kept.

    Raises DealerAway.
    """
    made = commit(Purpose.SOLO, table.pk, VARIANTS[table.variant])
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [player.pk, table.pk, mode.value, made.round_id, made.commitment, made.sealed, made.rules])


def committed(seat: SoloSeat) -> Commitment:
    """Return the round that the seat is committed to."""
    return Commitment(seat.round_id, seat.commitment, bytes(seat.sealed_seed), seat.rules_digest)


def is_of_other_rules(seat: SoloSeat) -> bool:
    """Return whether the seat is committed to a round of other rules than those in force, which this release has."""
    version = seat.table.version
    return version is not None and seat.rules_digest != version.rules_digest == VARIANTS[seat.table.variant].digest


@transaction.atomic
def renew(seat: SoloSeat, reason: Reason, proof: bytes = b"") -> None:
    """Commit the seat to another round, because the dealer does not deal the one it is committed to.

    *proof*: the dealer's, that it does not. Its bets stay. If another request was first, its round is kept.
    Raises DealerAway; NotDealt, NotCommitted if the dealer would deal it.
    """
    made = commit(Purpose.SOLO, seat.table_id, VARIANTS[seat.table.variant])
    with round_refusals(), connection.cursor() as cursor:
        cursor.execute(
            RENEW,
            [seat.pk, seat.round_id, reason.value, proof, made.round_id, made.commitment, made.sealed, made.rules],
        )


def sit(player: Player, table_id: int, mode: Mode) -> None:
    """Make this the only table at which the player plays from now on."""
    with connection.cursor() as cursor:
        cursor.execute(SIT, [player.pk, table_id, mode.value])


def keep_slip(seat: SoloSeat) -> None:
    """Store the slip, and the chip and key of the click that changed it, as the last statement of a transaction."""
    keys = None if seat.idempotency_keys is None else array(map(str, seat.idempotency_keys))
    slip, undo = json.dumps(seat.slip), json.dumps(seat.undo)
    fetch_last(KEEP_SLIP, [slip, undo, seat.slip_version, seat.last_chip, keys, seat.pk])


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


def touch(seat: SoloSeat) -> None:
    """Record that the player is active there, by the database clock."""
    with connection.cursor() as cursor:
        cursor.execute(TOUCH, [seat.pk])


def succeed(
    seat: SoloSeat, following: Commitment, *, last_stakes: Mapping[str, int], remaining: Mapping[str, int]
) -> None:
    """Commit *seat* to the *following* round, with the bets *remaining* on the table.

    The caller stores it when it finishes the round.
    """
    seat.last_round = seat.unseen = seat.round_id
    seat.round_id, seat.commitment, seat.sealed_seed = following.round_id, following.commitment, following.sealed
    seat.rules_digest = following.rules
    seat.slip, seat.undo, seat.slip_version = dict(remaining), [], 0
    seat.last_stakes = dict(last_stakes)
