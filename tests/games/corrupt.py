"""Damages a stored round as only the owner of the database tables can."""

from uuid import UUID

import psycopg

# Damage -> the statements that do it. Their parameter is the round's id.
CORRUPTIONS = {
    "cards": ("UPDATE games_round SET cards = '9H 4D KS 2C' WHERE id = %s",),
    "cards that cannot be dealt": ("UPDATE games_round SET cards = '9H XX' WHERE id = %s",),
    "bet that there is not": (
        """UPDATE games_wager SET bet = 'nowhere' WHERE bet = 'player'
           AND participation_id IN (SELECT id FROM games_participation WHERE round_id = %s)""",
    ),
    "outcome": ("UPDATE games_round SET outcome = CASE outcome WHEN 'tie' THEN 'player' ELSE 'tie' END WHERE id = %s",),
    "seed": (r"UPDATE games_round SET seed = decode(repeat('ab', 32), 'hex') WHERE id = %s",),
    "seed of another length": (r"UPDATE games_round SET seed = '\x00' WHERE id = %s",),
    "seed and commitment": (
        r"""UPDATE games_round SET seed = decode(repeat('ab', 32), 'hex'),
            commitment = encode(sha256(decode(repeat('ab', 32), 'hex')), 'hex') WHERE id = %s""",
    ),
    "commitment": ("UPDATE games_round SET commitment = repeat('0', 64) WHERE id = %s",),
    "value of the player": ("UPDATE games_round SET player_value = 'other' WHERE id = %s",),
    "payout": (
        """UPDATE games_wager SET payout = payout + 1
           WHERE participation_id IN (SELECT id FROM games_participation WHERE round_id = %s)""",
    ),
    "stake": (
        """UPDATE games_wager SET stake = stake + 1000
           WHERE participation_id IN (SELECT id FROM games_participation WHERE round_id = %s)""",
    ),
    "result": (
        """UPDATE games_wager SET result = CASE result WHEN 'push' THEN 'lose' ELSE 'push' END
           WHERE participation_id IN (SELECT id FROM games_participation WHERE round_id = %s)""",
    ),
    "wagers removed": (
        "DELETE FROM games_wager WHERE participation_id IN (SELECT id FROM games_participation WHERE round_id = %s)",
    ),
    "one wager removed": (
        """DELETE FROM games_wager WHERE bet = 'tie'
           AND participation_id IN (SELECT id FROM games_participation WHERE round_id = %s)""",
    ),
    "everything staked and paid alike": (
        """UPDATE games_wager SET stake = stake * 2, payout = payout * 2, commission = commission * 2
           WHERE participation_id IN (SELECT id FROM games_participation WHERE round_id = %s)""",
        """UPDATE games_participation SET staked = staked * 2, paid = paid * 2, commission = commission * 2,
           balance_after = balance_before + 2 * paid - 2 * staked WHERE round_id = %s""",
    ),
    "balance": ("UPDATE games_participation SET balance_after = balance_after + 1 WHERE round_id = %s",),
    "mode": ("UPDATE games_participation SET mode = CASE mode WHEN 'R' THEN 'F' ELSE 'R' END WHERE round_id = %s",),
}


def corrupt(owner: psycopg.Connection, round_id: UUID, what: str = "cards") -> None:
    """Damage one thing about a stored round."""
    for statement in CORRUPTIONS[what]:
        done = owner.execute(statement, [round_id])
        assert done.rowcount
