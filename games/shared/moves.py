"""Calls of the database functions that write shoes, rounds and live tables.

Nothing else may write them (``games/sql/functions/shoes.sql``, ``live_rounds.sql``). The functions
check what they are asked against what is stored. Callers have checked the same before, so a refusal
is a bug or an attack: `games.shared.phases` stops the table.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from audit.raw_rows import named_errors
from games.models import LiveRound, LiveTable, Phase, Shoe, ShoeEnding


class MoveRefused(Exception):
    """A change of a shoe, round or live table that the database refuses."""


class NothingOpensHere(MoveRefused):
    """The table takes no new shoe or round now."""


class UsedBefore(MoveRefused):
    """The id or the commitment was used before."""


class DoesNotFit(MoveRefused):
    """Cards, seed or position that do not fit the shoe."""


class WrongPhase(MoveRefused):
    """The shoe has ended, or the round is in another phase."""


class TooEarly(MoveRefused):
    """The deadline has not passed."""


class BetsDiffer(MoveRefused):
    """Bets or money of the round do not agree with the move."""


class StaysStopped(MoveRefused):
    """The table is not stopped, or an incident awaits its ruling."""


ERROR_OF_STATE: Final[Mapping[str, type[MoveRefused]]] = {
    "SB070": NothingOpensHere,
    "SB071": UsedBefore,
    "SB072": DoesNotFit,
    "SB073": WrongPhase,
    "SB074": TooEarly,
    "SB075": BetsDiffer,
    "SB076": StaysStopped,
}
Value = int | str | bytes | datetime | UUID | None
MOVED: Final = ("phase", "deadline", "closed_at", "dealt_at", "ended_at", "first_card", "cards")


def open_shoe(
    live_table: LiveTable,
    shoe_id: UUID,
    *,
    commitment: str,
    sealed_seed: bytes,
    decks: int,
    burn_card: str,
    burned: int,
    cut: int,
) -> Shoe:
    """Put a new shoe on the table. Raises NothingOpensHere, UsedBefore, DoesNotFit."""
    values = [live_table.pk, shoe_id, commitment, sealed_seed, decks, burn_card, burned, cut]
    with named_errors(ERROR_OF_STATE):
        shoe: Shoe = Shoe.objects.raw("SELECT * FROM games_open_shoe(%s, %s, %s, %s, %s, %s, %s, %s)", values)[0]
    live_table.shoe = shoe
    return shoe


def draw_cards(shoe: Shoe, gone: int) -> None:
    """Store how many cards have left the shoe of a coup. Raises WrongPhase, DoesNotFit."""
    _call("games_draw_cards(%s, %s)", shoe.pk, gone)
    shoe.gone = gone


def end_shoe(shoe: Shoe, seed: bytes | None, ending: ShoeEnding) -> None:
    """End a shoe and publish its seed. Raises WrongPhase, DoesNotFit."""
    shoe.ended_at = _call("games_end_shoe(%s, %s, %s)", shoe.pk, seed, ending.value)
    shoe.seed, shoe.ending = seed, ending


def open_round(live_table: LiveTable, round_id: UUID, *, version_id: int, code: str) -> LiveRound:
    """Open a round from the shoe on the table. Raises NothingOpensHere, UsedBefore."""
    values = [live_table.pk, round_id, version_id, code]
    with named_errors(ERROR_OF_STATE):
        live_round: LiveRound = LiveRound.objects.raw("SELECT * FROM games_open_round(%s, %s, %s, %s)", values)[0]
    live_table.round = live_round
    return live_round


def take_bets_again(live_round: LiveRound) -> None:
    """Start the betting time again. Raises WrongPhase, TooEarly, BetsDiffer."""
    live_round.deadline = _call("games_take_bets_again(%s)", live_round.pk)


def close_bets(live_round: LiveRound) -> None:
    """Close the bets. Raises WrongPhase, TooEarly, BetsDiffer."""
    _move(live_round, "games_close_bets(%s)")


def deal_round(live_round: LiveRound, cards: str) -> None:
    """Take the next cards out of the shoe. Raises WrongPhase, TooEarly, DoesNotFit."""
    _move(live_round, "games_deal_round(%s, %s)", cards)


def finish_round(live_round: LiveRound) -> None:
    """End a paid round. Raises WrongPhase, TooEarly, BetsDiffer."""
    _move(live_round, "games_finish_round(%s)")


def end_void(live_round: LiveRound) -> None:
    """End a round or a coup without a result. Raises WrongPhase, BetsDiffer."""
    _move(live_round, "games_end_void(%s)")


def move_coup(live_round: LiveRound, phase: Phase, *, at: datetime, deadline: datetime) -> None:
    """Move a coup to its next phase. Raises WrongPhase, TooEarly, BetsDiffer."""
    _move(live_round, "games_move_coup(%s, %s, %s, %s)", phase.value, at, deadline)


def stop_table(live_table_id: int, incident_id: int) -> None:
    """Stop a live table, unless it is stopped already. Raises StaysStopped."""
    _call("games_stop_table(%s, %s)", live_table_id, incident_id)


def reopen_table(live_table: LiveTable) -> None:
    """Reopen a stopped live table. Raises StaysStopped."""
    _call("games_reopen_table(%s)", live_table.pk)
    live_table.stopped_by = None


def _move(live_round: LiveRound, function: str, *values: Value) -> None:
    """Call a function that returns the round, and take over what has changed."""
    with named_errors(ERROR_OF_STATE), connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(MOVED)} FROM {function}", [live_round.pk, *values])  # noqa: S608  (our own names)
        changed = cursor.fetchone()
    for name, value in zip(MOVED, changed, strict=True):
        setattr(live_round, name, value)


def _call(function: str, *values: Value) -> Any:
    with named_errors(ERROR_OF_STATE), connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}", values)
        (returned,) = cursor.fetchone()
    return returned
