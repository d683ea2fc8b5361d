"""Storing a finished round: its row, the player's part, every wager, and the event that proves it, in the caller's
transaction.
"""

import json
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from audit import log
from audit.log import Json
from games.codes import round_code
from games.engine.coup import Coup
from games.engine.settle import Settlement
from games.models import TableVersion
from players.models import Player
from wallet.models import Mode


@dataclass(frozen=True)
class FinishedRound:
    """Everything there is to know about one player's solo round. Amounts in minor units of the player's currency."""

    round_id: UUID
    version: TableVersion
    mode: Mode
    commitment: str
    seed: bytes
    player_value: str
    coup: Coup
    settlement: Settlement
    player: Player
    balance_after: int
    session: UUID | None

    @property
    def balance_before(self) -> int:
        """The balance before the stakes were taken; the account is locked from stakes to payouts, so nothing came
        between.
        """
        return self.balance_after - self.settlement.paid + self.settlement.staked

    @property
    def cards(self) -> str:
        """The cards in dealing order: "9H 4D KS 2C"."""
        return " ".join(card.code for card in self.coup.cards)


# One statement for four tables: a round trip costs as much as the work.
STORE = """
WITH round AS (
    INSERT INTO games_round (
        id, code, table_version_id, mode, commitment, seed, player_value, cards, outcome, at
    ) VALUES (
        %(round)s, %(code)s, %(version)s, %(mode)s, %(commitment)s, %(seed)s, %(player_value)s, %(cards)s, %(outcome)s,
        clock_timestamp()
    )
    RETURNING at
), due AS (
    INSERT INTO games_replaydue (round_id) VALUES (%(round)s)
), participation AS (
    INSERT INTO games_participation (
        round_id, player_id, currency, mode, balance_before, balance_after, staked, paid, commission, session, at,
        table_id
    ) SELECT
        %(round)s, %(player)s, %(currency)s, %(mode)s, %(before)s, %(after)s, %(staked)s, %(paid)s, %(commission)s,
        %(session)s, round.at, %(table)s
    FROM round
    RETURNING id
)
INSERT INTO games_wager (participation_id, bet, stake, payout, commission, result)
SELECT participation.id, line.bet, line.stake, line.payout, line.commission, line.result
FROM participation, jsonb_to_recordset(%(lines)s::jsonb)
     AS line (bet text, stake bigint, payout bigint, commission bigint, result text)
"""


def store(finished: FinishedRound) -> None:
    """Insert the round and record ``round.settled``."""
    lines: list[dict[str, Json]] = [
        {
            "bet": line.bet,
            "stake": line.stake,
            "payout": line.payout,
            "commission": line.commission,
            "result": str(line.result),
        }
        for line in finished.settlement.lines
    ]
    with connection.cursor() as cursor:
        cursor.execute(STORE, _row(finished) | {"lines": json.dumps(lines)})
    log.record(
        "round.settled",
        by=f"player:{finished.player.pk}",
        on=f"round:{finished.round_id}",
        data={
            "balance_after": finished.balance_after,
            "balance_before": finished.balance_before,
            "cards": finished.cards,
            "commitment": finished.commitment,
            "currency": finished.player.currency,
            "mode": finished.mode,
            "player_value": finished.player_value,
            "rules": finished.version.rules_digest,
            "seed": finished.seed.hex(),
            "session": str(finished.session) if finished.session else None,
            "table_version": finished.version.pk,
            "wagers": lines,
        },
    )


def _row(finished: FinishedRound) -> dict[str, str | int | bytes | UUID | None]:
    return {
        "round": finished.round_id,
        "code": round_code(finished.round_id),
        "version": finished.version.pk,
        "table": finished.version.table_id,
        "mode": finished.mode,
        "commitment": finished.commitment,
        "seed": finished.seed,
        "player_value": finished.player_value,
        "cards": finished.cards,
        "outcome": str(finished.coup.outcome),
        "player": finished.player.pk,
        "currency": finished.player.currency,
        "before": finished.balance_before,
        "after": finished.balance_after,
        "staked": finished.settlement.staked,
        "paid": finished.settlement.paid,
        "commission": sum(line.commission for line in finished.settlement.lines),
        "session": finished.session,
    }
