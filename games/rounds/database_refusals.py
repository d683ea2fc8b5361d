"""Named errors for what the functions of the database refuse when a round ends.

The functions are in ``games/sql/functions/rounds.sql`` and ``live_settlement.sql``. After an error
the caller must roll back the transaction.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from django.db import DatabaseError

from games.errors import ApiClientMayNotPlay, GameTooSoon, PlayError, RoundElsewhere, TableWaits


class RoundRefused(Exception):
    """Base error: the database refused a round that does not follow from what is stored. Nothing moved."""


class NotCommitted(RoundRefused):
    """The seat is not committed to this round, or the live round is not in this phase."""


class WrongSeed(RoundRefused):
    """The seed is not the one that was committed to for this round, table, decks and rules."""


class NotDealt(RoundRefused):
    """Nothing proves that the dealer dealt these cards for this round, value and stakes."""


class NotTaken(RoundRefused):
    """The table does not take this round: it is not open, or does not serve the player with this kind of money."""


class WrongWagers(RoundRefused):
    """A stake is outside of the limits, or a payout is higher than the rules allow."""


class DiffersFromLedger(RoundRefused):
    """Bets or balances differ from the ledger; *found* has player, stored and recomputed value of each difference."""

    def __init__(self, message: str, found: tuple[tuple[int, str, str], ...] = ()) -> None:
        super().__init__(message)
        self.found = found


class StakesDiffer(DiffersFromLedger):
    """The bets differ from the stakes in the ledger."""


class BalancesDiffer(DiffersFromLedger):
    """A balance differs from the settlement."""


class MayNotPlay(RoundRefused):
    """The player may not play."""


ERROR_OF_STATE: Final[dict[str, type[RoundRefused]]] = {
    "SB060": NotCommitted,
    "SB061": WrongSeed,
    "SB062": NotTaken,
    "SB063": WrongWagers,
    "SB064": StakesDiffer,
    "SB065": BalancesDiffer,
    "SB066": NotDealt,
    "SB102": MayNotPlay,
}


def start_refusal(error: psycopg.Error) -> PlayError | None:
    """Return the error of the table for what ``games_begin_game`` refuses; None for another error."""
    detail = error.diag.message_detail or ""
    match error.sqlstate:
        case "SB103":
            return TableWaits(detail)
        case "SB107":
            return GameTooSoon(float(detail) / 1000)
        case "SB108":
            return ApiClientMayNotPlay()
        case "SB109":
            return RoundElsewhere(detail)
    return None


@contextmanager
def start_refusals() -> Iterator[None]:
    """Translate what ``games_begin_game`` refuses into errors of the table."""
    try:
        yield
    except DatabaseError as error:
        cause = error.__cause__
        if not isinstance(cause, psycopg.Error) or (refused := start_refusal(cause)) is None:
            raise
        raise refused from error


@contextmanager
def round_refusals() -> Iterator[None]:
    """Translate the database errors of ended rounds into RoundRefused subclasses.

    Raises what `start_refusals` raises, too.
    """
    try:
        with start_refusals():
            yield
    except DatabaseError as error:
        cause = error.__cause__
        if not isinstance(cause, psycopg.Error) or (named := ERROR_OF_STATE.get(cause.sqlstate or "")) is None:
            raise
        if issubclass(named, DiffersFromLedger):
            rows = json.loads(cause.diag.message_detail or "[]")
            raise named(str(error), tuple((player, stored, again) for player, stored, again in rows)) from error
        raise named(str(error)) from error
