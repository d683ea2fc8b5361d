"""Seats of players at shared tables: take a seat, read it with its round, store its slip.

PostgreSQL checks every bet again (``games/sql/functions/live_bets.sql``). Lock order: round, seat,
accounts, total.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from audit.raw_rows import Value, columns, fetch_one, fetch_together, instance
from games.betting.eligibility import demand_eligible_here
from games.betting.rules import Slip, plays_on
from games.engine.settle import BadStake
from games.errors import (
    BetTooLate,
    HouseStopped,
    NotEligible,
    NotEligibleHere,
    NotEnoughBalance,
    OtherMoney,
    OverLiability,
    OverLimit,
    TableStopped,
)
from games.models import LiveRound, LiveSeat, LiveTable, Phase, Table, TableVersion
from games.rounds import receipts
from games.rounds.database_refusals import start_refusal
from games.rounds.receipts import Written
from games.rounds.void import HAS_NOTICES
from games.shared.state import READ_OWN, READ_PUBLIC
from games.solo import seats
from games.tables import clock
from games.variants import VARIANTS
from players.account import terms
from players.models import Player
from players.protection import eligibility, play_sessions
from players.protection.play_sessions import PlaySessionState
from wallet import ledger
from wallet.ledger import InsufficientFunds, LimitReached, accounts
from wallet.models import Mode

# The round only while it takes bets. Nothing is locked and eligibility is not checked: PLACE does both.
# The timeout ends the transaction of a web process that hangs, so that it cannot keep betting open.
READ = f"""
WITH last AS (SELECT * FROM games_opentable WHERE player_id = %(player)s)
SELECT {columns(LiveTable, "live_table")}, {columns(Table, "own_table")}, {seats.sits("live_table")},
    %(jurisdiction)s = ANY (current.jurisdictions), live_table.mode = ANY (current.modes),
    {columns(LiveRound, "live")}, {columns(TableVersion, "version")}, {columns(LiveSeat, "own")}
FROM games_livetable AS live_table
JOIN games_table AS own_table ON own_table.id = live_table.table_id
LEFT JOIN games_tableversion AS current ON current.id = own_table.version_id
LEFT JOIN games_liveround AS live ON live.id = %(round)s AND live.live_table_id = live_table.id
    AND live.phase = '{Phase.BETTING}' AND clock_timestamp() < live.deadline
LEFT JOIN games_tableversion AS version ON version.id = live.version_id
LEFT JOIN games_liveseat AS own ON own.live_table_id = live_table.id AND own.player_id = %(player)s
WHERE live_table.id = %(live_table)s
    AND set_config('idle_in_transaction_session_timeout', '{clock.LONGEST_SILENCE}', true) IS NOT NULL
"""  # noqa: S608  (nothing but names of our own columns and codes)
TAKE = "SELECT games_take_seat(%s::bigint, %s::bigint, %s::bigint)"
PLACE = f"""
SELECT {columns(LiveSeat, "own")} FROM games_place_bets(
    %(seat)s::bigint, %(seen)s::integer, %(round)s::uuid, %(stakes)s::jsonb, %(undo)s::jsonb, %(last_chip)s::bigint,
    %(session)s::uuid, %(key)s::uuid, %(terms)s::text, %(minutes)s::integer) AS own
"""  # noqa: S608  (nothing but names of our own columns)
IS_DONE = "SELECT games_is_click_done(%s::bigint, %s::bigint, %s::uuid)"


Row: TypeAlias = dict[str, Any]  # by column name


class Shown(NamedTuple):
    """State of a shared table for one player, as rows of the statements that read it."""

    public: Row  # of `READ_PUBLIC`
    own: Row  # of `READ_OWN`
    play_session: PlaySessionState | None  # None before the play session began
    has_void_notices: bool  # the player has to be notified of a void round
    receipt: Written | None = None  # of the bets that were placed; None where another transaction goes on


class SeatAtTable(NamedTuple):
    """A player's seat at a table and the round it bets on, as they are now; nothing is locked."""

    live_table: LiveTable
    sits: bool  # this is the player's only table, where their jurisdiction allows one at a time
    is_eligible: bool  # by the version in force, whichever the round was opened under
    is_played: bool  # for that kind of money, by the version in force
    live_round: LiveRound | None  # None where the round takes no bets now
    seat: LiveSeat | None


def seat_at(player: Player, live_table: LiveTable) -> LiveSeat:
    """Return the player's seat; create it, and the account the game plays on, at the first visit.

    Raises NotEligible, NotEligibleHere, OtherMoney, TableClosed where there was no seat and the player may not
    take one.
    """
    found = LiveSeat.objects.filter(player=player, live_table=live_table)
    while (seat := found.first()) is None:
        _take(player, live_table)
    seat.player, seat.live_table = player, live_table
    return seat


def open_seat(player: Player, live_table: LiveTable) -> LiveSeat:
    """Return the player's seat at the table whose page they open.

    Where the jurisdiction allows play at one table at a time, this becomes that table. Raises
    NotEligible.
    """
    seat = seat_at(player, live_table)
    if not player.jurisdiction.may_play_in_parallel:
        seats.sit(player, live_table.table_id, Mode(live_table.mode))
    return seat


@transaction.atomic
def _take(player: Player, live_table: LiveTable) -> None:
    """Create a seat, unless another tab has just created it.

    Raises NotEligible, NotEligibleHere, OtherMoney, TableClosed.
    """
    mode = Mode(live_table.mode)
    demand_eligible_here(live_table.table.version, player, mode)
    ineligibility = eligibility.check_play(player, real=mode is Mode.REAL)
    if ineligibility and ineligibility.code is not eligibility.Code.CHECK:  # a reality check is answered at the table
        raise NotEligible(ineligibility)
    kind = plays_on(VARIANTS[live_table.table.variant])
    if kind is not kind.CASH:
        accounts.open_purse(player, mode)
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [live_table.pk, player.pk, accounts.player_account(player.pk, mode, kind)])


def read(player: Player, live_table_id: int, round_id: UUID) -> SeatAtTable | None:
    """Return the player's seat at a table and the round, or None where there is no such table."""
    where = player.jurisdiction_id
    row = fetch_one(READ, {"live_table": live_table_id, "round": round_id, "jurisdiction": where, "player": player.pk})
    if row is None:
        return None
    live_table, live_table.table = instance(LiveTable, row), instance(Table, row)
    sits, is_eligible, is_played = (bool(next(row)) for _ in range(3))
    live_round, version, seat = instance(LiveRound, row), instance(TableVersion, row), instance(LiveSeat, row)
    live_round.version, seat.player, seat.live_table = version, player, live_table
    return SeatAtTable(
        live_table, sits, is_eligible, is_played, live_round if live_round.pk else None, seat if seat.pk else None
    )


def is_done(player: Player, live_table_id: int, idempotency_key: UUID) -> bool:
    """Return whether this click was carried out at the player's seat. Waits for one that is in progress."""
    row = fetch_one(IS_DONE, [live_table_id, player.pk, idempotency_key])
    return row is not None and bool(next(row))


def slip_for(seat: LiveSeat, round_id: UUID) -> Slip:
    """Return the seat's slip for a round; empty where the stored slip belongs to an earlier round."""
    return Slip(seat.stakes, tuple(seat.undo)) if seat.round_id == round_id else Slip()


def last_stakes(seat: LiveSeat, round_id: UUID) -> Mapping[str, int]:
    """Return the stakes that Rebet places: those of the last round before this one that the player bet on."""
    return seat.stakes if seat.round_id != round_id and seat.stakes else seat.last_stakes


def place(
    seat: LiveSeat,
    round_id: UUID,
    slip: Slip,
    *,
    session: UUID | None,
    idempotency_key: UUID | None,
    shows: bool = False,
) -> LiveSeat | None:
    """Store the changed slip of a round, hold its stakes, and return the seat as it is then.

    Returns None if the seat has changed since it was read: the caller reads it again. One statement,
    which is its own transaction unless the caller has one. *shows*: see `games.shared.bets.Click`.

    Raises NotEligible, TableWaits, BetTooLate, NotEligibleHere, OtherMoney, TableStopped, BadStake,
    HouseStopped, NotEnoughBalance, OverLimit, OverLiability, GameTooSoon, ApiClientMayNotPlay.
    """
    values: dict[str, Value] = {
        "seat": seat.pk,
        "seen": seat.version,
        "round": round_id,
        "stakes": json.dumps(dict(slip.stakes)),
        "undo": json.dumps([dict(each) for each in slip.earlier]),
        "last_chip": seat.last_chip,
        "session": session,
        "key": idempotency_key,
        "terms": terms.VERSION,
        "minutes": settings.REALITY_CHECK_MINUTES,
    }
    with _refusals(seat), transaction.atomic() if connection.in_atomic_block else nullcontext():
        row, *shown = fetch_together(
            (PLACE, values),
            *(_questions(seat.live_table_id, seat.player, session) if shows else ()),
            after=(receipts.WRITE, [round_id, seat.player_id]) if shows else None,
        )
    if row is None:
        return None
    stored = instance(LiveSeat, iter(row.values()))
    stored.player, stored.live_table = seat.player, seat.live_table
    stored.shown = _shown(*shown, round_id=round_id) if shows else None
    return stored


def read_shown(live_table_id: int, player: Player, session: UUID | None) -> Shown | None:
    """Return what a table shows to a player who has a seat there; None without one."""
    return _shown(*fetch_together(*_questions(live_table_id, player, session)))


def _questions(
    live_table_id: int, player: Player, session: UUID | None
) -> list[tuple[str, Sequence[Any] | Mapping[str, Any]]]:
    """Return the statements that `_shown` reads."""
    return [
        (READ_PUBLIC, [live_table_id]),
        (READ_OWN, [live_table_id, [player.pk]]),
        (play_sessions.READ, play_sessions.which(player, session)),
        (HAS_NOTICES, [player.pk]),
    ]


def _shown(
    public: dict[str, Any] | None,
    own: dict[str, Any] | None,
    play_session: dict[str, Any] | None,
    notices: dict[str, Any] | None,
    receipt: dict[str, Any] | None = None,
    *,
    round_id: UUID | None = None,
) -> Shown | None:
    if public is None or own is None or notices is None:
        return None
    return Shown(
        public,
        own,
        play_sessions.PlaySessionState(*play_session.values()) if play_session else None,
        notices["has_void_notices"],
        Written(round_id, receipt["said"], bytes(receipt["ticket"])) if receipt and round_id else None,
    )


@contextmanager
def _refusals(seat: LiveSeat) -> Iterator[None]:
    """Translate what the database refuses when a player bets into errors of the table."""
    try:
        with ledger.refusals():
            yield
    except ledger.HouseStopped as stopped:
        raise HouseStopped from stopped
    except InsufficientFunds as short:
        raise NotEnoughBalance from short
    except LimitReached as reached:
        raise OverLimit(reached) from reached
    except DatabaseError as error:
        cause = error.__cause__
        if not isinstance(cause, psycopg.Error) or (named := _named(cause, seat)) is None:
            raise
        raise named from error


def _named(error: psycopg.Error, seat: LiveSeat) -> Exception | None:
    """Return the error of the table for an SQLSTATE of ``live_bets.sql``."""
    detail = error.diag.message_detail or ""
    match error.sqlstate:
        case "SB101":
            return BetTooLate()
        case "SB102":
            return NotEligible(eligibility.explain(seat.player, eligibility.Code(detail)))
        case "SB104" if detail == "stopped":
            return TableStopped()
        case "SB104":
            return NotEligibleHere() if detail == "jurisdiction" else OtherMoney(Mode(seat.live_table.mode))
        case "SB105":
            return BadStake(*seat.stakes)
        case "SB106":
            return OverLiability()
    return start_refusal(error)
