"""What moves a shared table: which are due, and the one step that takes a table's round one phase on.

betting → closed → dealt → settled → the next round. Time is the database's, and so is the decision: a tick only asks.
Any worker may ask at any time, twice or late; of two that ask at once one moves the table, and the other goes away. So
a lost message costs a second, and a worker that dies has either moved the table or not.

What may go wrong on the way stops the table and calls the supervisor (`games.shared.malfunction`). What PostgreSQL
itself could not do does not at first: while it is away nothing is known to be wrong, and the next tick asks again.
Where it is there and still cannot when the round is overdue, that is a malfunction like any other.
"""

import json
import logging
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, InternalError, OperationalError, connection, transaction
from structlog.contextvars import bind_contextvars

from games.models import IncidentKind, LiveRound, LiveTable, Phase, Shape, ShoeEnding, VoidReason
from games.rounds.integrity import Doubt, NotReproduced, Overdue
from games.rounds.redeal import Finding
from games.shared import malfunction, planner_settings, rounds, settlement, shoes, void
from games.shared.shoes import SYSTEM
from games.tables import clock
from games.variants import VARIANTS
from wallet import house_stop

logger = logging.getLogger(__name__)

UNABLE = (OperationalError, InterfaceError, InternalError)  # PostgreSQL is away, gave up, or cut this worker off
MOVES_TABLE = 5071  # of advisory locks, with the live table's id: held by whoever moves it

# Whoever falls silent with the lock, being stopped or cut off, loses it: nobody else could move the table, nor find out
# that it stands still.
ALONE = """
SELECT set_config('idle_in_transaction_session_timeout', %s::text, true),
    pg_try_advisory_xact_lock(%s::integer, %s::integer)
"""

# Shared tables whose round is to be moved on now; with the id of one, whether it is.
# A round about which the supervisor has yet to rule stays where it is. A table that was stopped draws no cards and
# opens no round, but what was dealt there before is settled. Rounds open only at open tables of a house that is not
# stopped, for money that they are played for, by rules that this program has; one that has begun is played to its end.
DUE = f"""
SELECT live.id
FROM games_livetable AS live
JOIN games_table AS seat ON seat.id = live.table_id
JOIN games_tableversion AS version ON version.id = seat.version_id
LEFT JOIN games_liveround AS round ON round.id = live.round_id
WHERE (live.id = %(live_table)s::bigint OR %(live_table)s::bigint IS NULL)
    AND seat.shape = %(shape)s
    AND (round.id IS NULL OR round.deadline <= clock_timestamp())
    AND CASE
        WHEN round.phase = 'dealt' THEN true
        WHEN round.phase IN ('betting', 'closed') THEN live.stopped_by_id IS NULL
        ELSE live.stopped_by_id IS NULL AND seat.status = 'open' AND version.clock IS NOT NULL
            AND live.mode = ANY (version.modes) AND version.rules_digest = %(rules)s::jsonb ->> seat.variant
            AND NOT {house_stop.STANDS}
    END
    AND (round.phase IN ('settled', 'void') OR NOT EXISTS (
        SELECT FROM games_incident AS incident
        LEFT JOIN games_incidentruling AS ruling ON ruling.incident_id = incident.id
        WHERE incident.live_round_id = round.id AND ruling.incident_id IS NULL
    ))
ORDER BY round.deadline, live.id
"""  # noqa: S608  (nothing but our own column)

# A round is late since its deadline, or since what was last ruled on it.
OVERDUE = """
SELECT clock_timestamp() > make_interval(secs => %(late)s) + greatest(round.deadline, (
    SELECT max(ruling.at) FROM games_incident AS incident
    JOIN games_incidentruling AS ruling ON ruling.incident_id = incident.id
    WHERE incident.live_round_id = round.id
))
FROM games_liveround AS round WHERE round.id = %(round)s
"""


def due() -> list[int]:
    """Return the shared tables whose next move is due, those first that have waited longest."""
    return _due(None)


def advance(live_table_id: int) -> bool:
    """Move the round of a table one phase on, if it is due; say whether it was moved.

    One transaction, and alone with the table: whoever finds somebody else at it leaves it to them. Whatever a phase
    raises rolls back, and stops the table. Raises `UNABLE` while the database is away, or could not, and the round is
    not overdue yet.
    """
    live_round: LiveRound | None = None
    try:
        with transaction.atomic():
            if not _is_alone_with(live_table_id):
                return False
            planner_settings.read_by_key()
            live_round = _locked(LiveTable.objects.get(pk=live_table_id).round_id)
            bind_contextvars(round_id=str(live_round.pk) if live_round else "")
            live_table = _kept(live_table_id)
            if live_table_id not in _due(live_table_id) or (_is_over(live_round) and house_stop.is_stopped()):
                return False
            doubt = _move(live_table, live_round)
            if live_round and doubt:  # in one transaction: whoever dies in between would leave the table unstopped
                _stop(live_round, doubt)
    except Exception as error:
        if live_round is None:
            raise  # there is nothing yet that anybody could have bet on
        if isinstance(error, UNABLE) and not _is_overdue(live_round):
            raise
        _stop(live_round, error)
        return False
    return True


def _move(live_table: LiveTable, live_round: LiveRound | None) -> Doubt | None:
    """Take the round to its next phase; return what has the table stop although that was done."""
    if live_round is None or _is_over(live_round):
        rounds.open_next(live_table)
        return None
    if live_round.phase == Phase.DEALT:
        return _settle(live_round)
    if live_round.phase == Phase.BETTING and not rounds.has_bets(live_round):
        if not house_stop.is_stopped() and _takes_bets_still(live_table, live_round):
            rounds.take_bets_anew(live_round)
        else:
            rounds.end_void(live_round)
        return None
    if _is_overdue(live_round):
        overdue = _overdue(live_round)
        void.void_live_round(round_id=live_round.pk, reason=VoidReason.OVERDUE, by=SYSTEM)
        return overdue
    if live_round.phase == Phase.BETTING:
        rounds.close(live_round)
    else:
        rounds.deal(live_round)
    return None


def _is_over(live_round: LiveRound | None) -> bool:
    """Say whether the next thing at the table is another round."""
    return live_round is None or live_round.phase in (Phase.SETTLED, Phase.VOID)


def _takes_bets_still(live_table: LiveTable, live_round: LiveRound) -> bool:
    """Say whether a round may have its time for bets again, under the version it was opened under."""
    is_in_force = live_table.table.version_id == live_round.version_id
    return is_in_force and rounds.may_open(live_table.table, live_table.mode)


def _settle(live_round: LiveRound) -> Doubt | None:
    """Pay the round, however late; the last one of a shoe ends it, and the whole shoe is dealt again."""
    doubt = _overdue(live_round) if _is_overdue(live_round) else None
    settlement.settle(live_round, settlement.dealt_again(live_round))
    rounds.finish(live_round)
    if live_round.is_last and (found := shoes.end(live_round.shoe, ShoeEnding.CUT_CARD)):
        return NotReproduced("The seed of the shoe does not deal the rounds that were dealt from it.", *found)
    return doubt


def _is_alone_with(live_table_id: int) -> bool:
    """Take the lock of whoever moves this table, until the transaction ends; say whether it was free."""
    with connection.cursor() as cursor:
        cursor.execute(ALONE, [clock.LONGEST_SILENCE, MOVES_TABLE, live_table_id])
        _, is_free = cursor.fetchone()
    return bool(is_free)


def _locked(round_id: UUID | None) -> LiveRound | None:
    """Wait for those who are placing chips on the round, and keep it from everybody else. Never by SKIP LOCKED: where
    one chip comes after another there would never be a turn.
    """
    if round_id is None:
        return None
    found = LiveRound.objects.select_for_update(of=("self",)).filter(pk=round_id)
    return found.select_related("live_table", "version__table", "shoe").get()


def _kept(live_table_id: int) -> LiveTable:
    """Return a table that nobody pauses, closes or stops until the transaction ends, as it stands once whoever just
    did so is done.
    """
    LiveTable.objects.select_for_update(no_key=True).get(pk=live_table_id)
    return LiveTable.objects.select_related("table__version").get(pk=live_table_id)


def _due(live_table_id: int | None) -> list[int]:
    rules = json.dumps({slug: variant.digest for slug, variant in VARIANTS.items()})
    with connection.cursor() as cursor:
        cursor.execute(DUE, {"live_table": live_table_id, "rules": rules, "shape": Shape.SHARED.value})
        return [each for (each,) in cursor.fetchall()]


def _is_overdue(live_round: LiveRound) -> bool:
    """Say whether the round, as it is stored, should have moved on long ago, and was not waiting for the supervisor's
    ruling.
    """
    with connection.cursor() as cursor:
        cursor.execute(OVERDUE, {"round": live_round.pk, "late": settings.LIVE_LATE_SECONDS})
        (is_overdue,) = cursor.fetchone()
    return bool(is_overdue)


def _overdue(live_round: LiveRound) -> Overdue:
    phase, deadline, moment = live_round.phase, live_round.deadline, clock.now()
    return Overdue(
        f"The round stood still past its deadline ({phase}).",
        Finding("moved on", moment.isoformat(), deadline.isoformat()),
    )


def _stop(live_round: LiveRound, error: Exception) -> None:
    """Stop the table over what was found, in the transaction of the phase, or was raised, in one of its own: that of
    the phase has rolled back then, and what raised in it does so again if this one is not carried out.
    """
    if isinstance(error, Doubt):
        kind, cause, found = error.kind, str(error), error.found
    else:
        kind, cause, found = IncidentKind.PHASE_RAISED, f"{type(error).__name__}: {error}", ()
    logger.exception("live table %s is stopped", live_round.live_table_id, exc_info=error)
    with transaction.atomic():
        malfunction.stop(live_round=live_round, kind=kind, cause=cause, found=found, by=SYSTEM)
