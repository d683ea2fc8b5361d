"""Seats of players at shared tables: take a seat, lock it with its round, store its slip.

Lock order: round, seat, accounts, total.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from django.db import connection, transaction

from games.betting.controls import plays_on
from games.betting.eligibility import demand_eligible_here
from games.betting.rules import Slip
from games.errors import NotEligible
from games.models import LiveRound, LiveSeat, LiveTable, Phase, Table, TableVersion
from games.raw_rows import Value, columns, fetch_one, instance
from games.solo import seats
from games.tables import clock
from games.variants import VARIANTS
from players.models import Player
from players.protection import eligibility
from wallet.ledger import accounts
from wallet.models import Mode

MODE = "SELECT mode FROM games_livetable WHERE id = %s"
# The database's clock decides here whether a click is late. Bettors take a shared lock on the
# round, which keeps the tick from closing it. The lock is taken only while betting is open and in
# time, so a late click waits for no round. After waiting for the lock, the clock is read again. The
# eligibility of the player is checked before the lock. The timeout ends the transaction of a web
# process that hangs, so that it cannot keep betting open.
LOCK = f"""
WITH eligibility AS MATERIALIZED (SELECT {eligibility.REASON} AS bar),
last AS MATERIALIZED (SELECT * FROM games_opentable WHERE player_id = %(player)s FOR SHARE),
live AS MATERIALIZED (
    SELECT r.* FROM games_liveround AS r, eligibility
    WHERE set_config('idle_in_transaction_session_timeout', '{clock.LONGEST_SILENCE}', true) IS NOT NULL
        AND r.id = %(round)s AND r.live_table_id = %(live_table)s AND r.phase = '{Phase.BETTING}'
        AND clock_timestamp() < r.deadline AND coalesce(eligibility.bar, '{eligibility.Code.CHECK}') =
        '{eligibility.Code.CHECK}'
    FOR SHARE OF r
),
own AS MATERIALIZED (
    SELECT * FROM games_liveseat
    WHERE player_id = %(player)s AND live_table_id = %(live_table)s AND EXISTS (SELECT FROM live)
    FOR UPDATE
)
SELECT {columns(LiveTable, "live_table")}, {columns(Table, "own_table")}, eligibility.bar, {seats.sits("live_table")},
    clock_timestamp() < live.deadline, %(jurisdiction)s = ANY (current.jurisdictions),
    live_table.mode = ANY (current.modes),
    {columns(LiveRound, "live")}, {columns(TableVersion, "version")}, {columns(LiveSeat, "own")}
FROM eligibility CROSS JOIN games_livetable AS live_table
JOIN games_table AS own_table ON own_table.id = live_table.table_id
LEFT JOIN games_tableversion AS current ON current.id = own_table.version_id
LEFT JOIN live ON true
LEFT JOIN games_tableversion AS version ON version.id = live.version_id
LEFT JOIN own ON true
WHERE live_table.id = %(live_table)s
"""  # noqa: S608  (nothing but names of our own columns and codes)
# Add bets to the total of a round in one row. Bettors wait for that row, so each sees all bets
# before.
ADD = """
INSERT INTO games_livetotal AS total (round_id, currency, stakes) VALUES (%s, %s, %s::jsonb)
ON CONFLICT (round_id, currency) DO UPDATE SET stakes = (
    SELECT jsonb_object_agg(lies.bet, lies.stake) FROM (
        SELECT each.bet, sum(each.stake::bigint) AS stake FROM (
            SELECT * FROM jsonb_each_text(total.stakes) UNION ALL SELECT * FROM jsonb_each_text(excluded.stakes)
        ) AS each (bet, stake) GROUP BY each.bet
    ) AS lies
)
RETURNING stakes::text
"""


class Locked(NamedTuple):
    """A seat and the round it bets on, locked until the transaction ends.

    Both `live_round` and `seat` are None where the round takes no bets now.
    """

    live_table: LiveTable
    ineligibility: str | None  # why the player may not play, a `players.protection.eligibility.Code`
    sits: bool  # this is the player's only table, where their jurisdiction allows one at a time
    is_eligible: bool  # by the version in force, whichever the round was opened under
    is_played: bool  # for that kind of money, by the version in force
    live_round: LiveRound | None
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
    account_id = accounts.player_account(player.pk, mode, kind)
    seat = LiveSeat(player=player, live_table=live_table, account_id=account_id, currency=player.currency)
    LiveSeat.objects.bulk_create([seat], ignore_conflicts=True)


def lock(player: Player, live_table_id: int, round_id: UUID, session: UUID | None) -> Locked | None:
    """Lock the round against its end and the seat against other tabs; None where there is no such table.

    An exclusion of the player waits until the transaction ends.
    """
    mode = fetch_one(MODE, [live_table_id])
    if mode is None:
        return None
    where = player.jurisdiction_id
    values: dict[str, Value] = {"live_table": live_table_id, "round": round_id, "jurisdiction": where}
    values.update(eligibility.parameters(player, session, real=next(mode) == Mode.REAL))
    row = fetch_one(LOCK, values)
    if row is None:
        return None
    live_table, live_table.table = instance(LiveTable, row), instance(Table, row)
    ineligibility, sits, in_time, is_eligible, is_played = (next(row) for _ in range(5))
    live_round, version, seat = instance(LiveRound, row), instance(TableVersion, row), instance(LiveSeat, row)
    live_round.version, seat.player, seat.live_table = version, player, live_table
    own = seat if in_time and seat.pk else None
    return Locked(
        live_table, ineligibility, sits, bool(is_eligible), bool(is_played), live_round if in_time else None, own
    )


def slip_for(seat: LiveSeat, round_id: UUID) -> Slip:
    """Return the seat's slip for a round; empty where the stored slip belongs to an earlier round."""
    return Slip(seat.stakes, tuple(seat.undo)) if seat.round_id == round_id else Slip()


def last_stakes(seat: LiveSeat, round_id: UUID) -> Mapping[str, int]:
    """Return the stakes that Rebet places: those of the last round before this one that the player bet on."""
    return seat.stakes if seat.round_id != round_id and seat.stakes else seat.last_stakes


def keep(seat: LiveSeat, round_id: UUID, slip: Slip) -> None:
    """Store the changed slip of a round."""
    seat.last_stakes = last_stakes(seat, round_id)
    seat.round_id, seat.stakes, seat.undo = round_id, dict(slip.stakes), [dict(each) for each in slip.earlier]
    seat.version += 1
    seat.save(
        update_fields=[
            "round_id",
            "stakes",
            "undo",
            "last_stakes",
            "version",
            "last_chip",
            "session",
            "idempotency_keys",
        ]
    )


def add_to_total(round_id: UUID, currency: str, more: Mapping[str, int]) -> Mapping[str, int]:
    """Add to the bets on a round in a currency, or subtract where negative, and return the new totals.

    The row stays locked until the transaction ends; it is the last lock taken.
    """
    with connection.cursor() as cursor:
        cursor.execute(ADD, [round_id, currency, json.dumps(more)])
        (stakes,) = cursor.fetchone()
    total: Mapping[str, int] = json.loads(stakes)
    return total
