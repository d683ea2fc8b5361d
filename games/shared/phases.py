"""Move shared tables from phase to phase: find the tables that are due and take one step.

betting → closed → dealt → settled → the next round. PostgreSQL's clock decides whether a step is
due; a tick only asks. Any worker may ask at any time, late or twice. If two ask at once, one moves
the table and the other returns. A lost message therefore costs a second, and a worker that dies has
either moved the table or not.

An error in a step stops the table and calls the supervisor (`games.shared.malfunction`). An error
of PostgreSQL itself does not at first, nor does a dealer that does not answer: the next tick tries
again. If that still fails once the round is overdue, it is a malfunction like any other.
"""

import json
import logging
from contextlib import suppress
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, InternalError, OperationalError, connection, transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_noop
from structlog.contextvars import bind_contextvars

from audit.raw_rows import fetch_named
from games.errors import DealerAway
from games.models import IncidentKind, LiveRound, LiveSeat, LiveTable, Phase, Shape, Shoe, ShoeEnding, VoidReason
from games.rounds.integrity import Doubt, NotReproduced, Overdue
from games.rounds.redeal import Finding
from games.shared import malfunction, rounds, shoes
from games.shared.shoes import SYSTEM
from games.shared.state import READ_PUBLIC, State, public_state
from games.tables import clock
from games.variants import VARIANTS
from wallet import house_stop

logger = logging.getLogger(__name__)

# PostgreSQL is down, gave up, or cut this worker off; or the dealer does not answer
UNABLE = (OperationalError, InterfaceError, InternalError, DealerAway)
# namespace of the advisory lock, taken with the live table's id, of the worker that moves the table
MOVES_TABLE = 5071

# A worker that is suspended or cut off loses the lock. Otherwise no worker could move the table, or
# detect that it is overdue.
ALONE = """
SELECT set_config('idle_in_transaction_session_timeout', %s::text, true),
    pg_try_advisory_xact_lock(%s::integer, %s::integer)
"""

# Shared tables whose round is due to move now; with the id of one, whether it is. A round that
# awaits the supervisor's ruling does not move. A stopped table draws no cards and opens no round,
# but rounds dealt before are settled. A round opens only at an open table, without a house stop,
# for a kind of money the table is played for, and under rules that this version of the code has. A
# round that has begun is played to its end.
DUE = f"""
SELECT live.id
FROM games_livetable AS live
JOIN games_table AS game_table ON game_table.id = live.table_id
JOIN games_tableversion AS version ON version.id = game_table.version_id
LEFT JOIN games_liveround AS round ON round.id = live.round_id
WHERE (live.id = %(live_table)s::bigint OR %(live_table)s::bigint IS NULL)
    AND game_table.shape = %(shape)s
    AND (round.id IS NULL OR round.deadline <= clock_timestamp())
    AND NOT EXISTS (
        SELECT FROM games_shoecut AS cut WHERE cut.live_table_id = live.id AND cut.open_until > clock_timestamp())
    AND CASE
        WHEN round.phase = 'dealt' THEN true
        WHEN round.phase IN ('betting', 'closed') THEN live.stopped_by_id IS NULL
        ELSE live.stopped_by_id IS NULL AND game_table.status = 'open' AND version.clock IS NOT NULL
            AND live.mode = ANY (version.modes) AND version.rules_digest = %(rules)s::jsonb ->> game_table.variant
            AND NOT {house_stop.IS_STOPPED}
    END
    AND (round.phase IN ('settled', 'void') OR NOT EXISTS (
        SELECT FROM games_incident AS incident
        LEFT JOIN games_incidentruling AS ruling ON ruling.incident_id = incident.id
        WHERE incident.live_round_id = round.id AND ruling.incident_id IS NULL
    ))
ORDER BY round.deadline, live.id
"""  # noqa: S608  (nothing but our own column)

# A round is overdue counted from its deadline, or from the last ruling on it.
OVERDUE = """
SELECT clock_timestamp() > make_interval(secs => %(late)s) + greatest(round.deadline, (
    SELECT max(ruling.at) FROM games_incident AS incident
    JOIN games_incidentruling AS ruling ON ruling.incident_id = incident.id
    WHERE incident.live_round_id = round.id
))
FROM games_liveround AS round WHERE round.id = %(round)s
"""


def due() -> list[int]:
    """Return the shared tables whose next step is due, the longest waiting first."""
    return _due(None)


def late() -> list[int]:
    """Return the shared tables whose next step is due, without those that wait for a first bet (`read_awake`)."""
    has_bets = Exists(LiveSeat.objects.filter(round_id=OuterRef("round_id")).exclude(stakes={}))
    found = LiveTable.objects.filter(pk__in=due()).exclude(~has_bets, round__phase=Phase.BETTING)
    return list(found.values_list("pk", flat=True))


def advance(live_table_id: int) -> bool:
    """Move the round of a table one phase on, if it is due, and return whether it moved.

    One transaction, which holds the table's lock; returns False if another worker holds it. An
    error in a phase rolls back and stops the table. Raises `UNABLE` where the database failed and
    the round is not overdue yet.
    """
    live_round: LiveRound | None = None
    shoes.collect_beacon(live_table_id)
    try:
        with transaction.atomic():
            if not _is_alone_with(live_table_id):
                return False
            rounds.read_by_key()
            live_round = _locked(LiveTable.objects.get(pk=live_table_id).round_id)
            bind_contextvars(round_id=str(live_round.pk) if live_round else "")
            live_table = _read_locked(live_table_id)
            if live_table_id not in _due(live_table_id) or (_is_over(live_round) and house_stop.is_stopped()):
                return False
            doubt = _move(live_table, live_round)
            if live_round and doubt:  # in the same transaction, so that a crash cannot leave the table unstopped
                _stop(live_round, doubt)
        if live_round and live_round.is_last:
            publish_soon(live_round.shoe)
    except Exception as error:
        if live_round is None:
            raise  # nobody can have bet on anything yet
        if isinstance(error, UNABLE) and not _is_overdue(live_round):
            raise
        if isinstance(error, DealerAway) and _is_over(live_round):
            raise  # there is no money on the table: the next round waits for the dealer
        _stop(live_round, error)
        return False
    return True


def publish_soon(shoe: Shoe) -> None:
    """Publish the seed of a shoe that has just ended, if the dealer answers; otherwise a task tries again."""
    if shoe.ended_at is not None and shoe.seed is None:
        with suppress(DealerAway):
            malfunction.publish_seed(shoe.pk)


def read_awake(live_table_id: int) -> State:
    """Return the public state of a table for somebody who comes to it.

    Betting time that passed while nobody was there starts again: beat lets such tables rest.
    """
    state = _read(live_table_id)
    return _read(live_table_id) if state.has_lapsed and advance(live_table_id) else state


def _read(live_table_id: int) -> State:
    row = fetch_named(READ_PUBLIC, [live_table_id])
    if row is None:
        raise LiveTable.DoesNotExist
    return public_state(row)


def _move(live_table: LiveTable, live_round: LiveRound | None) -> Doubt | None:
    """Take the round to its next phase; return a doubt that stops the table although the step was done."""
    if live_round is None or _is_over(live_round):
        rounds.open_next(live_table)
        return None
    if live_round.phase == Phase.DEALT:
        return _settle(live_round)
    if live_round.phase == Phase.BETTING and not rounds.has_bets(live_round):
        if not house_stop.is_stopped() and _takes_bets_still(live_table, live_round):
            rounds.reopen_bets(live_round)
        else:
            rounds.end_void(live_round)
        return None
    if _is_overdue(live_round):
        overdue = _overdue(live_round)
        malfunction.void_live_round(round_id=live_round.pk, reason=VoidReason.OVERDUE, by=SYSTEM)
        return overdue
    if live_round.phase == Phase.BETTING:
        rounds.close(live_round)
    else:
        rounds.deal(live_round)
    return None


def _is_over(live_round: LiveRound | None) -> bool:
    """Return whether the next step at the table is to open a round."""
    return live_round is None or live_round.phase in (Phase.SETTLED, Phase.VOID)


def _takes_bets_still(live_table: LiveTable, live_round: LiveRound) -> bool:
    """Return whether the betting time of a round may start again, under the version it was opened under."""
    is_in_force = live_table.table.version_id == live_round.version_id
    return is_in_force and rounds.may_open(live_table.table, live_table.mode)


def _settle(live_round: LiveRound) -> Doubt | None:
    """Pay the round, however late. After the last round of a shoe, end and verify the shoe."""
    doubt = _overdue(live_round) if _is_overdue(live_round) else None
    rounds.settle(live_round, rounds.redeal(live_round))
    rounds.finish(live_round)
    if live_round.is_last and (found := shoes.end(live_round.shoe, ShoeEnding.CUT_CARD)):
        return NotReproduced(gettext_noop("The rounds do not match the seed of the shoe."), *found)
    return doubt


def _is_alone_with(live_table_id: int) -> bool:
    """Take the table's lock until the transaction ends; return whether it was free."""
    with connection.cursor() as cursor:
        cursor.execute(ALONE, [clock.LONGEST_SILENCE, MOVES_TABLE, live_table_id])
        _, is_free = cursor.fetchone()
    return bool(is_free)


def _locked(round_id: UUID | None) -> LiveRound | None:
    """Lock the round, after waiting for players who are placing chips on it.

    Never use SKIP LOCKED here: with a steady flow of chips the lock would never be free.
    """
    if round_id is None:
        return None
    found = LiveRound.objects.select_for_update(of=("self",)).filter(pk=round_id)
    return found.select_related("live_table", "version__table", "shoe").get()


def _read_locked(live_table_id: int) -> LiveTable:
    """Return the table, locked until the transaction ends against being paused, closed or stopped.

    The row is read after the lock is granted, so a change committed before that is included.
    """
    LiveTable.objects.select_for_update(no_key=True).get(pk=live_table_id)
    return LiveTable.objects.select_related("table__version").get(pk=live_table_id)


def _due(live_table_id: int | None) -> list[int]:
    rules = json.dumps({slug: variant.digest for slug, variant in VARIANTS.items()})
    with connection.cursor() as cursor:
        cursor.execute(DUE, {"live_table": live_table_id, "rules": rules, "shape": Shape.SHARED.value})
        return [each for (each,) in cursor.fetchall()]


def _is_overdue(live_round: LiveRound) -> bool:
    """Return whether the stored round is past its deadline by the allowed delay.

    Time spent waiting for the supervisor's ruling does not count.
    """
    with connection.cursor() as cursor:
        cursor.execute(OVERDUE, {"round": live_round.pk, "late": settings.LIVE_LATE_SECONDS})
        (is_overdue,) = cursor.fetchone()
    return bool(is_overdue)


def _overdue(live_round: LiveRound) -> Overdue:
    phase, deadline, moment = live_round.phase, live_round.deadline, clock.now()
    return Overdue(
        f"The round exceeded its deadline ({phase}).",
        Finding("moved on", moment.isoformat(), deadline.isoformat()),
    )


def _stop(live_round: LiveRound, error: Exception) -> None:
    """Stop the table over a doubt or an error.

    A doubt is recorded in the transaction of the phase. After an error that transaction has rolled
    back, so this runs in its own. If this fails too, the next tick raises the same error again.
    """
    if isinstance(error, Doubt):
        kind, cause, found = error.kind, str(error), error.found
    else:
        kind, cause, found = IncidentKind.PHASE_RAISED, f"{type(error).__name__}: {error}", ()
    logger.exception("live table %s is stopped", live_round.live_table_id, exc_info=error)
    with transaction.atomic():
        malfunction.stop(live_round=live_round, kind=kind, cause=cause, found=found, by=SYSTEM)
