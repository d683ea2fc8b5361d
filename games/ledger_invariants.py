"""Invariants of the ledger that concern rounds (`wallet.invariants.verify`).

``games_verify_rounds`` verifies those of `ROUNDS`, with each range of journals.
"""

from typing import Final

from wallet.invariants import Invariant, verify

ROUNDS: Final = (
    Invariant(
        "journals_have_rounds",
        "every stake and every payout is for a round that is stored or in progress",
    ),
    Invariant(
        "rounds_pay_what_they_say",
        "what the ledger moves for a round is what each player's participation has staked and been paid",
    ),
    Invariant(
        "wagers_are_sums",
        "a participation is the sum of its wagers",
    ),
    Invariant(
        "payouts_follow_the_paytable",
        "no wager pays more than the rules of the round's version pay for it on the round's outcome",
    ),
)

HOLDS: Final = Invariant(
    "holds_are_bets",
    "what is held for a round of a shared table is what its players have bet, and nothing once it is over",
    """
    SELECT format('round %s: account %s holds %s, its bets are %s',
                  h.round_id, h.account_id, h.amount, coalesce(b.staked, 0))
    FROM wallet_hold AS h
    JOIN games_liveround AS r ON r.id = h.round_id
    JOIN games_livetable AS t ON t.id = r.live_table_id
    JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'shared'
    LEFT JOIN (
        SELECT s.round_id, s.account_id, sum(bet.stake::bigint) AS staked
        FROM games_liveseat AS s CROSS JOIN LATERAL jsonb_each_text(s.stakes) AS bet (code, stake)
        GROUP BY s.round_id, s.account_id
    ) AS b ON b.round_id = h.round_id AND b.account_id = h.account_id
    WHERE h.amount IS DISTINCT FROM b.staked OR r.phase NOT IN ('betting', 'closed', 'dealt')
    UNION ALL
    SELECT format('round %s: nothing is held for the bets %s of account %s', r.id, s.stakes, s.account_id)
    FROM games_liveround AS r
    JOIN games_livetable AS t ON t.id = r.live_table_id
    JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'shared'
    JOIN games_liveseat AS s ON s.round_id = r.id AND s.stakes <> '{}'
    WHERE r.phase IN ('betting', 'closed', 'dealt')
      AND NOT EXISTS (SELECT FROM wallet_hold AS h WHERE h.round_id = r.id AND h.account_id = s.account_id)
    """,
)


def register() -> None:
    """Have the verification of the ledger name these too."""
    verify.register(*ROUNDS, HOLDS)
