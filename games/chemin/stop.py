"""Stop a table when a check fails or an error is raised there: roll back and call the supervisor."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from games.chemin.money import Unpaid
from games.errors import PlayError, TableStopped
from games.models import IncidentKind, LiveRound
from games.rounds.integrity import Doubt
from games.shared import malfunction
from games.shared.phases import UNABLE
from games.shared.shoes import SYSTEM

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
