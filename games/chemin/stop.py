"""Actions of the house on a Chemin de Fer table: stop, continue, remove players, close.

The table stops when a check fails or an error is raised there: the transaction is rolled back and
the supervisor is called. Players are removed when they are away for too long, when their session
ends, when they may no longer play at the table, and when the table closes. A pause does not count
against players' time.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext

from audit import log
from audit.log import Json
from games.betting.eligibility import is_eligible
from games.chemin import moves
from games.chemin.apply import carry_out, restart_question
from games.chemin.maintenance import does_pause, is_waited_for
from games.chemin.money import Unpaid
from games.chemin.state import ledger_view
from games.chemin.state.table_state import TableState, locked
from games.engine.chemin.actions import BreakUp, Leave
from games.engine.chemin.frozen import UNREADABLE
from games.engine.chemin.state import there
from games.errors import PlayError, TableStopped
from games.models import (
    UNDEALT,
    CheminSeat,
    Decider,
    IncidentKind,
    LiveRound,
    LiveTable,
    Phase,
    Shape,
    Status,
    Table,
    WhyLeft,
)
from games.rounds.integrity import Doubt
from games.shared import malfunction
from games.shared.malfunction import MalfunctionError, stated
from games.shared.phases import UNABLE
from games.shared.shoes import SYSTEM
from games.tables import clock, status
from games.tables.checks import TableError
from players.protection.eligibility import STILL_WATCHING, asked

logger = logging.getLogger(__name__)


@contextmanager
def one_transaction(live_table_id: int) -> Iterator[None]:
    """Run the block in one transaction, and stop the table on unexpected errors.

    Refusals and errors of PostgreSQL (`UNABLE`) are passed on. Inside another transaction, such as
    a call of an API client, deferred constraints are checked here, so that a violation also stops
    the table.

    Raises TableStopped where the table was stopped, and the original error where it has no coup
    yet.
    """
    is_within = connection.in_atomic_block
    try:
        with transaction.atomic():
            yield
            if is_within:
                connection.check_constraints()
    except (PlayError, Unpaid, *UNABLE):
        raise
    except Exception as error:
        if not stop(live_table_id, error):
            raise
        raise TableStopped from error


def stop(live_table_id: int, error: Exception) -> bool:
    """Stop a table because of an error, in a transaction of its own; return whether it had a coup.

    The incident is about the latest coup.
    """
    live_round = LiveRound.objects.filter(live_table=live_table_id).order_by("-opened_at").first()
    if live_round is None:
        return False
    if isinstance(error, Doubt):
        kind, cause, found = error.kind, str(error), error.found
    else:
        kind, cause, found = IncidentKind.PHASE_RAISED, f"{type(error).__name__}: {error}", ()
    logger.exception("live table %s is stopped", live_table_id, exc_info=error)
    with transaction.atomic():
        malfunction.stop(live_round=live_round, kind=kind, cause=cause, found=found, by=SYSTEM)
    return True


@transaction.atomic
def break_up(*, live_table_id: int, reason: str, by: str) -> LiveTable:
    """Have every player leave a table. The table stays open or closed as it is.

    Bids and the bank go back to their owners. A coup without drawn cards is cancelled first. Raises
    MalfunctionError where there is no such table or nobody sits at it, and while cards are drawn:
    that coup must be played out, or voided by two people.
    """
    found = LiveTable.objects.filter(pk=live_table_id, table__shape=Shape.CHEMIN).select_related("table", "round")
    live_table = found.select_for_update(of=("self",), no_key=True).first()
    if live_table is None:
        raise MalfunctionError(gettext("Chemin de Fer table not found."))
    why = stated(reason)
    seated = CheminSeat.objects.filter(live_table=live_table, left_at=None).count()
    if not seated:
        raise MalfunctionError(gettext("There are no players at %(table)s.") % {"table": live_table.table})
    live_round = live_table.round
    if live_round and live_round.phase == Phase.DEALT:
        raise MalfunctionError(
            gettext("The cards of coup %(code)s are drawn. Wait until the coup is completed.")
            % {"code": live_round.code}
        )
    if live_round and live_round.phase in UNDEALT:
        malfunction.cancel(round_id=live_round.pk, reason=why, by=by)
    table_state = ledger_view.at(live_table_id)
    if ledger_view.is_lost(table_state):
        ledger_view.clear(table_state)
    else:
        carry_out(table_state, BreakUp(), decider=Decider.HOUSE, why=WhyLeft.BROKEN_UP)
    data: dict[str, Json] = {"players": seated, "mode": live_table.mode, "reason": why}
    log.record("table.broken_up", by=by, on=f"table:{live_table.table_id}", data=data)
    return live_table


def continue_table(*, table_id: int, reason: str, by: str) -> Table:
    """Continue a paused table; players get their full time again, to decide and while away.

    Raises NotFromHere where the table is closed and must be opened instead, TableError where no
    reason is given or the stored state cannot be read, and Table.DoesNotExist.
    """
    with transaction.atomic():
        table, why = status.locked(table_id), status.stated(reason)
        if table.status == Status.PAUSED:  # the database gives time back only as long as the table is paused
            for live_table in table.live.filter(table__shape=Shape.CHEMIN).order_by("pk"):
                give_time_back(live_table)
        status.move(table, Status.OPEN, of=(Status.PAUSED,), reason=why, by=by)
    return table


def give_time_back(live_table: LiveTable) -> None:
    """Restart the time of a question between two coups, and the time for which away players keep their seats.

    A coup that was played on during the pause keeps its deadline. Raises TableError where the
    stored state cannot be read.
    """
    try:
        table_state = locked(live_table.pk, blind=True)
    except UNREADABLE as error:
        raise TableError(
            gettext("The stored state of %(table)s cannot be read. Break up the table.") % {"table": live_table.table}
        ) from error
    moves.keep_away_seats(live_table.pk)
    if not table_state.in_coup:
        restart_question(table_state)


def send_away(table_state: TableState, *, seat_number: int, why: WhyLeft = WhyLeft.SESSION) -> TableState:
    """Have the player at a seat leave, at once or after the coup in which they take part."""
    seat = table_state.seats.get(seat_number)
    if seat is None or seat.why_left:
        return table_state
    return carry_out(table_state, Leave(seat_number), decider=Decider.HOUSE, why=why)


def send_all_away(table_state: TableState) -> TableState:
    """Have all players leave a closed table between two coups. The bank goes to its owner."""
    return carry_out(table_state, BreakUp(), decider=Decider.HOUSE, why=WhyLeft.CLOSED)


def remove(table_state: TableState) -> TableState:
    """Remove players whose session is over, who may no longer play here, or who were away too long.

    The time away does not run while the table is paused. If a waiting table waits for a player, the
    player is removed once it moves on.
    """
    gone, longest = (
        players_without_session(table_state.seats.values()),
        timedelta(milliseconds=table_state.clock.removal),
    )
    in_force = there(table_state.live_table.table.version)
    for seat in list(table_state.seats.values()):
        if is_waited_for(table_state, seat):
            continue
        if seat.pk in gone:
            table_state = send_away(table_state, seat_number=seat.number)
        elif seat.player and not is_eligible(in_force, seat.player.jurisdiction_id):
            table_state = send_away(table_state, seat_number=seat.number, why=WhyLeft.NOT_ELIGIBLE)
        elif seat.away_since and not does_pause(table_state) and clock.now() - seat.away_since >= longest:
            table_state = send_away(table_state, seat_number=seat.number, why=WhyLeft.REMOVED)
    return table_state


def players_without_session(seats: Iterable[CheminSeat]) -> set[int]:
    """Return the ids of seats whose player has logged out, was inactive for too long, or may not play now."""
    sessions = {seat.pk: seat.session for seat in seats if seat.session is not None and seat.why_left == ""}
    over = _over(set(sessions.values()))
    return {seat_id for seat_id, session in sessions.items() if session in over}


def _over(sessions: set[UUID]) -> set[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(STILL_WATCHING, asked(sessions))
        return sessions - {session for (session,) in cursor.fetchall()}
