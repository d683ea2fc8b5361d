"""Finish a solo round with one call of the database, in the caller's transaction.

The function ``games_finish_solo_round`` moves the money, inserts the round, the player's part and
every wager, records the event, and commits the seat to the next round. It checks everything against
what is stored.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

from audit import log
from audit.raw_rows import Value, array, fetch_last_and
from games.deals import Deal
from games.engine.settle import Settlement
from games.models import SoloSeat, TableVersion
from games.models.rounds import round_code
from games.rounds import receipts
from games.rounds.database_refusals import round_refusals
from games.rounds.receipts import Written
from players.account import terms
from players.models import Player
from players.protection.play_sessions import PlaySessionState, totals
from wallet import ledger
from wallet.models import Mode


@dataclass(frozen=True)
class FinishedRound:
    """Everything known about one player's solo round. Amounts in minor units of the player's currency."""

    round_id: UUID
    commitment: str
    version: TableVersion
    mode: Mode
    deal: Deal
    player_value: str
    settlement: Settlement
    player: Player
    account_id: int
    balance: int  # before the round, minor units
    session: UUID | None


class Stored(NamedTuple):
    """The database's answer about a round that it has just stored. *balance*: afterwards, minor units."""

    at: datetime
    balance: int
    play_session: PlaySessionState | None
    receipt: Written | None  # not signed yet


FINISH = f"""
SELECT balance_after, stored_at, is_check_due, {totals("(playing)", "moment")} FROM games_finish_solo_round(
    %s::bigint, %s::uuid, %s::text, %s::bigint, %s::bytea, %s::text, %s::text, %s::text, %s::text, %s::text,
    %s::bigint, %s::bytea, %s::bytea, %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::uuid,
    %s::uuid, %s::text, %s::bytea, %s::jsonb, %s::jsonb, %s::text, %s::integer
)
"""  # noqa: S608  (nothing but names of our own columns)


def finish(finished: FinishedRound, seat: SoloSeat) -> Stored:
    """Finish the round and store *seat*, already committed to the next round.

    It is the last statement of a transaction, and commits it (`fetch_last_and`).

    Raises RoundRefused, and LedgerError where the ledger refuses the money.
    """
    round_id, lines, dealt = finished.round_id, finished.settlement.lines, finished.deal.answer
    values: list[Value | bytes] = [
        seat.pk,
        round_id,
        round_code(round_id),
        finished.account_id,
        dealt.seed,
        finished.player_value,
        dealt.cards,
        dealt.outcome,
        dealt.key,
        dealt.epoch,
        dealt.deal,
        dealt.signature,
        dealt.proof,
        array(line.bet for line in lines),
        array(line.stake for line in lines),
        array(line.payout for line in lines),
        array(line.commission for line in lines),
        array(line.result for line in lines),
        finished.session,
        seat.round_id,
        seat.commitment,
        bytes(seat.sealed_seed),
        json.dumps(seat.slip),
        json.dumps(seat.last_stakes),
        terms.VERSION,
        settings.REALITY_CHECK_MINUTES,
    ]
    with round_refusals(), ledger.refusals():
        row, receipt = fetch_last_and(FINISH, values, (receipts.WRITE, [round_id, finished.player.pk]))
    balance, at, is_check_due, *play_session = row
    log.count("round.settled", {})
    written = Written(round_id, *receipt) if receipt else None
    return Stored(at, balance, PlaySessionState.of(play_session, is_check_due=is_check_due), written)
