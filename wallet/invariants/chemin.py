"""Invariants of the money between players at Chemin de Fer: banks, stakes and house players' chips.

`wallet.invariants` checks all accounts with a balance: the balance equals the sum of entries and is
never negative.
"""

from wallet.invariants import Invariant

STAKES = Invariant(
    "stakes_are_paid_out",
    "nothing is left of the stakes of a coup once it is settled or annulled",
    """
    SELECT format('coup %s: %s %s left of its stakes', a.stands_for, a.balance, a.currency)
    FROM wallet_account AS a
    WHERE a.kind = 'stakes' AND a.balance <> 0 AND EXISTS (
        SELECT FROM wallet_journal AS j
        WHERE j.round_id = a.stands_for AND (j.kind = 'settle' OR j.reverses_id IS NOT NULL))
    """,
)

APART = Invariant(
    "money_stays_with_its_owner",
    "nobody's money becomes another player's, but for what a bank loses where a coup is settled, and gets back",
    """
    WITH line AS (
        SELECT e.journal_id, e.amount, a.id AS account_id, a.kind, coalesce(a.owner_id, 0) AS owner
        FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
        WHERE e.version IS NOT NULL AND a.kind <> 'stakes'
    ), mixed AS (
        SELECT journal_id FROM line GROUP BY journal_id HAVING min(owner) <> max(owner)
    )
    SELECT format('journal %s: this %s takes from account %s and gives to account %s', j.id, j.kind, source.account_id,
                  target.account_id)
    FROM mixed JOIN wallet_journal AS j ON j.id = mixed.journal_id
    LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
    JOIN line AS source ON source.journal_id = j.id AND source.amount < 0
    JOIN line AS target ON target.journal_id = j.id AND target.amount > 0 AND target.owner <> source.owner
    WHERE (was.id IS NULL AND j.kind = 'settle' AND source.kind = 'bank'
           OR was.kind = 'settle' AND target.kind = 'bank') IS NOT TRUE
    """,
)

COUPS = Invariant(
    "coups_pay_who_staked",
    "a coup pays its stakes, and what its bank loses, to that bank, to those who staked, at most twice their stake,"
    " and to the house",
    """
    WITH line AS (
        SELECT j.id AS journal_id, j.round_id, e.account_id, a.kind, e.amount, (
                   SELECT coalesce(-sum(s.amount), 0) FROM wallet_journal AS laid
                   JOIN wallet_entry AS s ON s.journal_id = laid.id AND s.account_id = e.account_id
                   WHERE laid.round_id = j.round_id AND laid.kind = 'stake') AS staked
        FROM wallet_account AS stakes
        JOIN wallet_journal AS j ON j.round_id = stakes.stands_for AND j.kind = 'settle'
        JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id
        WHERE stakes.kind = 'stakes'
    )
    SELECT format('coup %s: journal %s gives account %s %s, which staked %s', round_id, journal_id, account_id, amount,
                  staked)
    FROM line
    WHERE CASE kind WHEN 'bank' THEN false WHEN 'stakes' THEN amount > 0 WHEN 'house' THEN amount < 0
               ELSE amount < 0 OR amount > 2 * staked END
    UNION ALL
    SELECT format('coup %s: journal %s is of %s banks', round_id, journal_id, count(*) FILTER (WHERE kind = 'bank'))
    FROM line GROUP BY round_id, journal_id HAVING count(*) FILTER (WHERE kind = 'bank') > 1
    UNION ALL
    SELECT format('bank %s: journal %s is the settlement of no coup', a.stands_for, j.id)
    FROM wallet_account AS a JOIN wallet_entry AS e ON e.account_id = a.id
    JOIN wallet_journal AS j ON j.id = e.journal_id AND j.kind = 'settle'
    WHERE a.kind = 'bank'
      AND NOT EXISTS (SELECT FROM wallet_account AS s WHERE s.kind = 'stakes' AND s.stands_for = j.round_id)
    """,
)

BANKS = Invariant(
    "banks_go_home_once",
    "no more goes home from a bank as what was put up than was put up, and between coups it moves to and from nobody"
    " but its banker",
    """
    SELECT format('bank %s: %s was put up, %s went home of it', a.stands_for,
                  coalesce(sum(e.amount) FILTER (WHERE j.kind = 'bank'), 0),
                  -sum(e.amount) FILTER (WHERE j.kind = 'bank_back'))
    FROM wallet_account AS a
    JOIN wallet_entry AS e ON e.account_id = a.id
    JOIN wallet_journal AS j ON j.id = e.journal_id
    WHERE a.kind = 'bank' GROUP BY a.id HAVING sum(e.amount) FILTER (WHERE j.kind IN ('bank', 'bank_back')) < 0
    UNION ALL
    SELECT format('bank %s: journal %s is a %s of %s', a.stands_for, j.id, j.kind, e.amount)
    FROM wallet_account AS a
    JOIN wallet_entry AS e ON e.account_id = a.id JOIN wallet_journal AS j ON j.id = e.journal_id
    WHERE a.kind = 'bank' AND j.kind IN ('bank', 'bank_back', 'bank_won')
      AND (j.round_id <> a.stands_for OR (e.amount > 0) <> (j.kind = 'bank'))
    """,
)

HOUSE_PLAYERS = Invariant(
    "house_players_play_for_nothing",
    "what house players have, and what stands for a bank of theirs, is free money",
    """
    SELECT format('account %s: a %s of nobody in %s', a.id, a.kind, a.mode) FROM wallet_account AS a
    WHERE (a.kind = 'seat' OR a.kind = 'bank' AND a.owner_id IS NULL) AND a.mode <> 'F'
    """,
)
