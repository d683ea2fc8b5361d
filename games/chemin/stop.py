"""What is found wrong at a table, or raised there, stops it: nothing was done, and the supervisor is called."""

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
    """Do everything inside in one transaction, or nothing of it. Refusals pass, and so does what PostgreSQL could not
    do now; whatever else is raised stops the table.

    Within another transaction, as that of a call of a program, what a commit would find wrong is looked for here: it is
    found wrong at the table as well.

    Raises TableStopped where it did; what was raised, where there is no coup yet at the table to find fault with.
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
    """Stop a table over what was raised there, in a transaction of its own; say whether there was a coup to stop it
    over, the latest one.
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
