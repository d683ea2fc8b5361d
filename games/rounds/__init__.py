"""Finish a solo round with one call of the database, in the caller's transaction.

The function ``games_finish_solo_round`` moves the money, inserts the round, the player's part and
every wager, records the event, and commits the seat to the next round. It checks everything against
what is stored; this module calls it and translates its errors.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import psycopg
from django.db import DatabaseError, connection

from audit import log
from games.engine.coup import Coup
from games.engine.settle import Settlement
from games.models import SoloSeat, TableVersion
from games.rounds.codes import round_code
from players.models import Player
from wallet import ledger
from wallet.models import Mode


class RoundRefused(Exception):
    """Base error: the database refused a round that does not follow from what is stored. Nothing moved."""


class NotCommitted(RoundRefused):
    """The seat is not committed to this round."""


class WrongSeed(RoundRefused):
    """The seed is not the one that was committed to."""


class NotTaken(RoundRefused):
    """The table does not take this round: it is not open, or does not serve the player with this kind of money."""


class WrongWagers(RoundRefused):
    """A stake is outside of the limits, or a payout is higher than the rules allow."""


ERROR_OF_STATE = {
    "SB060": NotCommitted,
    "SB061": WrongSeed,
    "SB062": NotTaken,
    "SB063": WrongWagers,
}


@dataclass(frozen=True)
class FinishedRound:
    """Everything known about one player's solo round. Amounts in minor units of the player's currency."""

    round_id: UUID
    version: TableVersion
    mode: Mode
    seed: bytes
    player_value: str
    coup: Coup
    settlement: Settlement
    player: Player
    account_id: int
    session: UUID | None

    @property
    def cards(self) -> str:
        """The cards in dealing order: "9H 4D KS 2C"."""
        return " ".join(card.code for card in self.coup.cards)


FINISH = """
SELECT games_finish_solo_round(
    %s::bigint, %s::uuid, %s::text, %s::bigint, %s::bytea, %s::text, %s::text, %s::text, %s::text[], %s::bigint[],
    %s::bigint[], %s::bigint[], %s::text[], %s::uuid, %s::uuid, %s::uuid, %s::uuid, %s::text, %s::bytea, %s::jsonb,
    %s::jsonb
)
"""


def finish(finished: FinishedRound, seat: SoloSeat) -> int:
    """Finish the round and store *seat*, already committed to the next round; return the balance afterwards.

    Raises RoundRefused, and LedgerError where the ledger refuses the money.
    """
    round_id, lines = finished.round_id, finished.settlement.lines
    values = [
        seat.pk,
        round_id,
        round_code(round_id),
        finished.account_id,
        finished.seed,
        finished.player_value,
        finished.cards,
        str(finished.coup.outcome),
        [line.bet for line in lines],
        [line.stake for line in lines],
        [line.payout for line in lines],
        [line.commission for line in lines],
        [str(line.result) for line in lines],
        finished.session,
        ledger.system_key(round_id, "stake"),
        ledger.system_key(round_id, "settle"),
        seat.round_id,
        seat.commitment,
        bytes(seat.sealed_seed),
        json.dumps(seat.slip),
        json.dumps(seat.last_stakes),
    ]
    with refusals(), ledger.refusals(), connection.cursor() as cursor:
        cursor.execute(FINISH, values)
        balance: int = cursor.fetchone()[0]
    log.count("round.settled", {})
    return balance


@contextmanager
def refusals() -> Iterator[None]:
    """Translate the database errors of finished rounds into RoundRefused subclasses."""
    try:
        yield
    except DatabaseError as error:
        cause = error.__cause__
        named = ERROR_OF_STATE.get(cause.sqlstate or "") if isinstance(cause, psycopg.Error) else None
        if named is None:
            raise
        raise named(str(error)) from error
