"""SQL that inserts a finished round with all parts and wagers, for solo tables, shared tables,
Chemin de Fer and voided rounds.

`INSERT` is a list of common table expressions (CTE). The caller writes ``WITH``, defines the three
CTEs that it reads, and adds the rest of its statement:

- ``new_round``: the columns of games_round, and ``is_replay_due``; no row if there is nothing to insert. `NEW_ROUND`
  defines it from the parameters of a `NewRound`.
- ``new_part``: id, player_id, currency, balance_before, balance_after, staked, paid, commission, session.
- ``new_wager``: part_id, bet, stake, payout, commission, result.

`NEW_PARTS` defines the last two from the parameter that `parts_parameter` makes. Amounts in minor
units.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

INSERT: Final = """
round AS (
    INSERT INTO games_round (
        id, code, table_version_id, mode, commitment, seed, shoe_id, first_card, player_value, cards, outcome, at
    )
    SELECT id, code, table_version_id, mode, commitment, seed, shoe_id, first_card, player_value, cards, outcome, at
    FROM new_round
    RETURNING id, mode, at,
        (SELECT version.table_id FROM games_tableversion AS version WHERE version.id = table_version_id) AS table_id
), due AS (
    INSERT INTO games_replaydue (round_id) SELECT id FROM new_round WHERE is_replay_due
), participation AS (
    INSERT INTO games_participation (
        id, round_id, player_id, currency, mode, balance_before, balance_after, staked, paid, commission, session, at,
        table_id
    )
    SELECT part.id, round.id, part.player_id, part.currency, round.mode, part.balance_before, part.balance_after,
        part.staked, part.paid, part.commission, part.session, round.at, round.table_id
    FROM round CROSS JOIN new_part AS part
), wager AS (
    INSERT INTO games_wager (participation_id, bet, stake, payout, commission, result)
    SELECT part_id, bet, stake, payout, commission, result FROM new_wager
)"""

NEW_ROUND: Final = """
new_round AS (
    SELECT %(round_id)s::uuid AS id, %(code)s::text AS code, %(table_version)s::bigint AS table_version_id,
        %(mode)s::text AS mode, %(commitment)s::text AS commitment, %(seed)s::bytea AS seed, %(shoe)s::uuid AS shoe_id,
        %(first_card)s::smallint AS first_card, %(player_value)s::text AS player_value, %(cards)s::text AS cards,
        %(outcome)s::text AS outcome, coalesce(%(at)s::timestamptz, clock_timestamp()) AS at,
        %(is_replay_due)s::boolean AS is_replay_due
)"""

NEW_PARTS: Final = """
new_part AS MATERIALIZED (
    SELECT nextval('games_participation_id_seq') AS id, part.*
    FROM jsonb_to_recordset(%(parts)s::jsonb) AS part (
        player_id bigint, currency text, balance_before bigint, balance_after bigint, staked bigint, paid bigint,
        commission bigint, session uuid, wagers jsonb
    )
), new_wager AS (
    SELECT part.id AS part_id, wager.*
    FROM new_part AS part CROSS JOIN LATERAL jsonb_to_recordset(part.wagers)
        AS wager (bet text, stake bigint, payout bigint, commission bigint, result text)
)"""


@dataclass(frozen=True)
class NewRound:
    """A finished round. Its field names are the parameters of `NEW_ROUND`."""

    round_id: UUID
    code: str
    table_version: int
    mode: str
    commitment: str
    cards: str
    outcome: str
    seed: bytes | None = None
    shoe: UUID | None = None
    first_card: int | None = None
    player_value: str = ""
    at: datetime | None = None  # None: the time of the insert
    is_replay_due: bool = True


@dataclass(frozen=True)
class NewWager:
    """One bet and its result; the payout includes the stake."""

    bet: str
    stake: int
    payout: int
    commission: int
    result: str


@dataclass(frozen=True)
class NewPart:
    """One player's part in a round."""

    player_id: int
    currency: str
    balance_before: int
    balance_after: int
    staked: int
    paid: int
    commission: int
    session: UUID | None
    wagers: tuple[NewWager, ...]


def parts_parameter(parts: Iterable[NewPart]) -> str:
    """Return the parameter ``parts`` of `NEW_PARTS`."""
    return json.dumps([asdict(part) | {"session": part.session and str(part.session)} for part in parts])
