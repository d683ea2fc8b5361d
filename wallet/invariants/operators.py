"""What always holds of rounds that are played with operators' money, as questions to PostgreSQL."""

from wallet.invariants import Invariant

OPERATORS = Invariant(
    "operators_rounds_are_booked",
    "what an operator's player plays with comes with a bet that is played and goes back with its win, each booked once;"
    " nothing moves operators' account besides, and nothing of it is left with the player",
    """
    SELECT format('bet %s: is played, and its stake is not booked as it says', b.id)
    FROM wallet_remote_bet AS b
    WHERE b.state = 'played' AND NOT EXISTS (
        SELECT FROM wallet_posting_key AS k
        JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'remote_bet'
        WHERE k.key = b.id AND wallet_remote_moves_so(j.id))
    UNION ALL
    SELECT format('message %s: its win of %s is not booked as it says', m.id, m.amount)
    FROM wallet_remote_message AS m
    WHERE m.kind = 'win' AND m.amount > 0 AND NOT EXISTS (
        SELECT FROM wallet_posting_key AS k
        JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'remote_back'
        WHERE k.key = m.transaction AND wallet_remote_moves_so(j.id))
    UNION ALL
    SELECT format('bet %s: is %s, and the operator is not told', b.id, b.state)
    FROM wallet_remote_bet AS b
    WHERE b.state = 'given_up' AND NOT EXISTS (
            SELECT FROM wallet_remote_message AS m WHERE m.bet_id = b.id AND m.takes_back = b.id)
       OR b.state = 'played' AND NOT EXISTS (
            SELECT FROM wallet_remote_message AS m WHERE m.bet_id = b.id AND m.kind = 'win')
    UNION ALL
    SELECT format('journal %s: moves operators'' account, and no round of theirs says so', e.journal_id)
    FROM wallet_account AS a JOIN wallet_entry AS e ON e.account_id = a.id
    WHERE CASE a.kind WHEN 'operator' THEN NOT wallet_remote_moves_so(e.journal_id) END  -- asked of no other entry
    UNION ALL
    SELECT format('account %s: %s of an operator''s money is left with player %s', a.id, a.balance, p.id)
    FROM players_player AS p JOIN wallet_account AS a ON a.owner_id = p.id AND a.mode = 'R'
    WHERE p.is_remote AND a.balance <> 0
    UNION ALL
    SELECT format('round %s: is taken back, and the operator is not told of both its transactions', b.round_id)
    FROM wallet_remote_bet AS b
    WHERE b.state = 'played'
      AND EXISTS (SELECT FROM wallet_journal AS j WHERE j.round_id = b.round_id AND j.reverses_id IS NOT NULL)
      AND (SELECT count(*) FROM wallet_remote_message AS m WHERE m.bet_id = b.id AND m.kind = 'rollback') <> 2
    """,
)
