"""Calls of the database functions that write tables of Chemin de Fer.

Nothing else may write them (``games/sql/functions/chemin_moves.sql``). The functions check what they
are asked against what is stored. Callers have checked the same before, so a refusal is a bug or an
attack, and `games.chemin.stop` stops the table. Only `NotInTime` can happen to an honest player.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from audit.raw_rows import named_errors
from games.models import CheminSeat, CheminTable, CheminTenure
from games.rounds.database_refusals import round_refusals
from games.shared.moves import MoveRefused


class NotNow(MoveRefused):
    """The table takes no such move now."""


class NotAsked(MoveRefused):
    """This seat does not decide this now."""


class NotInTime(MoveRefused):
    """The deadline of the question has passed, or has not."""


class WrongAmount(MoveRefused):
    """The amount is outside of what the table allows."""


class WrongSeat(MoveRefused):
    """The seat, its player and its account do not belong together."""


class StateDiffers(MoveRefused):
    """The new table state differs from what is stored."""


class WrongCoup(MoveRefused):
    """The coup does not follow from its cards and stakes."""


ERROR_OF_STATE: Final[Mapping[str, type[MoveRefused]]] = {
    "SB120": NotNow,
    "SB121": NotAsked,
    "SB122": NotInTime,
    "SB123": WrongAmount,
    "SB124": WrongSeat,
    "SB125": StateDiffers,
    "SB126": WrongCoup,
}
STORED: Final = ("move", "question", "asked_at", "deadline", "tenure_id", "sale_id")
ASKED: Final = ("asked_at", "deadline")

FINISH = """
SELECT games_finish_coup(
    %(round)s::uuid, %(tenure)s::uuid, %(key)s::uuid, %(cards)s::text, %(outcome)s::text, %(punter_draws)s::boolean,
    %(banker_draws)s::boolean, %(punter_departs)s::boolean, %(banker_departs)s::boolean, %(at)s::timestamptz
)
"""


def store_move(chemin: CheminTable, move: Mapping[str, Any], state: dict[str, Any]) -> None:
    """Store a move and the table state after it, and bring *chemin* up to date.

    Raises NotNow, NotAsked, NotInTime, WrongAmount, WrongSeat, StateDiffers.
    """
    stored = _row(
        f"SELECT {', '.join(STORED)} FROM games_store_move(%s, %s::jsonb, %s::jsonb)",  # noqa: S608  (our own names)
        chemin.pk,
        json.dumps(move, default=str),
        json.dumps(state),
    )
    chemin.state = state
    for name, value in zip(STORED, stored, strict=True):
        setattr(chemin, name, value)


def seat_id(live_table_id: int, number: int) -> int:
    """Return the id of the occupied seat with this number."""
    return CheminSeat.objects.values_list("pk", flat=True).get(live_table=live_table_id, number=number, left_at=None)


def finish_coup(values: Mapping[str, UUID | str | bool | datetime | None]) -> None:
    """Pay and store a finished coup. Raises RoundRefused, WrongCoup, LedgerError."""
    with round_refusals(), named_errors(ERROR_OF_STATE), connection.cursor() as cursor:
        cursor.execute(FINISH, values)


def note_home(tenure: CheminTenure) -> None:
    """Store what the ledger has paid from a bank to its banker."""
    _row("SELECT games_note_home(%s)", tenure.pk)


def clear_table(live_table_id: int) -> int:
    """Have everybody leave a table whose state is lost; return the number of the move.

    Raises NotNow, StateDiffers.
    """
    (number,) = _row("SELECT games_clear_table(%s)", live_table_id)
    return int(number)


def ask_again(chemin: CheminTable) -> None:
    """Start the time of the pending question again. Raises NotInTime."""
    asked = _row(f"SELECT {', '.join(ASKED)} FROM games_ask_again(%s)", chemin.pk)  # noqa: S608  (our own names)
    for name, value in zip(ASKED, asked, strict=True):
        setattr(chemin, name, value)


def keep_away_seats(live_table_id: int) -> None:
    """Start the time again for which the seats of away players are kept."""
    _row("SELECT games_keep_away_seats(%s)", live_table_id)


def _row(statement: str, *values: int | str | UUID) -> tuple[Any, ...]:
    with named_errors(ERROR_OF_STATE), connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: tuple[Any, ...] = cursor.fetchone()
    return found
