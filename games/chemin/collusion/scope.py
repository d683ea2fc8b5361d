"""The scope of an analysis, and the query helper: one statement for each question, over all pairs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from games.raw_rows import named
from wallet.models import Mode

WITHIN: Final = """
    (%(table)s::bigint IS NULL OR l.table_id = %(table)s) AND l.mode = %(mode)s
    AND (%(currency)s::text IS NULL OR p.currency = %(currency)s)
"""
"""Condition for a table `l`, its kind of money, and a player `p`."""

COUPS: Final = f"""
WITH coup AS MATERIALIZED (
    SELECT c.round_id, c.banker_player_id AS banker, c.at_risk, c.punter_draws, c.banker_draws,
        c.punter_departs, c.banker_departs
    FROM games_chemincoup AS c
    JOIN games_chemintenure AS t ON t.id = c.tenure_id
    JOIN games_livetable AS l ON l.id = t.live_table_id
    JOIN players_player AS p ON p.id = c.banker_player_id
    WHERE c.at >= %(since)s AND c.at < %(until)s AND c.outcome <> '' AND {WITHIN}
        AND NOT EXISTS (SELECT FROM games_void AS v WHERE v.round_id = c.round_id)
)
"""  # noqa: S608  (nothing but names of our own)
"""Settled coups that were not voided, with a player as banker."""


@dataclass(frozen=True)
class Scope:
    """The coups to analyse: from *since* to before *until*, for one kind of money.

    Optionally one currency and one table (its id).
    """

    since: datetime
    until: datetime
    mode: Mode = Mode.REAL
    currency: str | None = None
    table: int | None = None


def ask(statement: str, scope: Scope, **more: Any) -> list[Mapping[str, Any]]:
    """Return the rows of a statement whose parameters are the scope's fields and *more*."""
    with connection.cursor() as cursor:
        cursor.execute(statement, asdict(scope) | more)
        columns = [column.name for column in cursor.description]
        return [named(columns, row) for row in cursor.fetchall()]
