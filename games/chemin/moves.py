"""Calls of the database functions that write tables of Chemin de Fer and move their money.

Nothing else may (``games/sql/functions/chemin_moves.sql``, ``chemin_money.sql``). The functions check what they
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
from games.models import CheminSeat, CheminTable
from games.rounds.database_refusals import round_refusals, start_refusals
from games.shared.moves import MoveRefused
from wallet.ledger import refusals


class MayNotPlay(MoveRefused):
    """The player may not put money at risk, sit down or come back."""


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


class NoMove(MoveRefused):
    """A tenure began without a move."""


ERROR_OF_STATE: Final[Mapping[str, type[MoveRefused]]] = {
    "SB102": MayNotPlay,
    "SB120": NotNow,
    "SB121": NotAsked,
    "SB122": NotInTime,
    "SB123": WrongAmount,
    "SB124": WrongSeat,
    "SB125": StateDiffers,
    "SB126": WrongCoup,
    "SB141": NoMove,
}
STORED: Final = ("move", "question", "asked_at", "deadline", "tenure_id", "sale_id")
ASKED: Final = ("asked_at", "deadline")

FINISH = """
SELECT games_finish_coup(
    %(round)s::uuid, %(tenure)s::uuid, %(key)s::uuid, %(cards)s::text, %(outcome)s::text, %(punter_draws)s::boolean,
    %(banker_draws)s::boolean, %(punter_departs)s::boolean, %(banker_departs)s::boolean, %(at)s::timestamptz,
    %(proof)s::bytea
)
"""


def store_move(chemin: CheminTable, move: Mapping[str, Any], state: dict[str, Any]) -> None:
    """Store a move and the table state after it, and bring *chemin* up to date.

    Raises NotNow, NotAsked, NotInTime, WrongAmount, WrongSeat, StateDiffers; TableWaits, RoundElsewhere,
    GameTooSoon, ApiClientMayNotPlay.
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


def finish_coup(values: Mapping[str, UUID | str | bool | bytes | datetime | None]) -> None:
    """Pay and store a finished coup. Raises RoundRefused, WrongCoup, LedgerError."""
    with round_refusals(), named_errors(ERROR_OF_STATE), connection.cursor() as cursor:
        cursor.execute(FINISH, values)


def hold_bid(live_table_id: int, sale_id: UUID, seat_number: int, amount: int) -> None:
    """Hold a bid of *amount* minor units; 0 releases it. Raises NotNow, WrongAmount, LedgerError."""
    _row("SELECT games_hold_bid(%s, %s, %s, %s)", live_table_id, sale_id, seat_number, amount)


def begin_tenure(live_table_id: int, tenure_id: UUID, seat_number: int, amount: int, at: datetime) -> int:
    """Have a banker pay a bank, and return the account of the bank. Raises WrongSeat, LedgerError."""
    statement = "SELECT games_begin_tenure(%s, %s, %s, %s, %s)"
    (account_id,) = _row(statement, live_table_id, tenure_id, seat_number, amount, at)
    return int(account_id)


def lay_stake(coup_id: UUID, seat_number: int, amount: int) -> None:
    """Move *amount* minor units to the stakes of a coup; a negative amount returns. Raises WrongSeat, LedgerError."""
    _row("SELECT games_lay_stake(%s, %s, %s)", coup_id, seat_number, amount)


def pay_home(tenure_id: UUID, *, back: int, won: int) -> None:
    """Pay money of a bank to its banker: *back* of what was put up, *won* of what was won.

    Raises WrongSeat, LedgerError.
    """
    _row("SELECT games_pay_home(%s, %s, %s)", tenure_id, back, won)


def fund_house_player(live_table_id: int, house_player: UUID) -> tuple[int, int]:
    """Give a house player enough chips; return its account and what is free on it. Raises NotNow."""
    account_id, free = _row("SELECT account, free FROM games_fund_house_player(%s, %s)", live_table_id, house_player)
    return int(account_id), int(free)


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


def _row(statement: str, *values: int | str | UUID | datetime) -> tuple[Any, ...]:
    with refusals(), start_refusals(), named_errors(ERROR_OF_STATE), connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: tuple[Any, ...] = cursor.fetchone()
    return found
