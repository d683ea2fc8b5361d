-- A journal is a row of the whole from now on, whatever month it lies in; the function is the one of 0009_banks.sql.
DROP FUNCTION wallet_counts_at;

-- When a journal moved a player's account by `amount`, as far as limits go. A stake that is taken back, and of a bank what
-- goes home unlost, counts on the day when it was put down; what a banker has to give back of what went home, on the day
-- when the bank last moved: on a later day it would make room there that no limit gave.
CREATE FUNCTION wallet_counts_at(journal wallet_journal, account bigint, amount bigint) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(
        CASE WHEN journal.kind = 'bank_back' OR journal.kind = 'stake' AND amount > 0 THEN (
                SELECT min(j.at) FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
                WHERE j.round_id = journal.round_id AND j.kind = CASE journal.kind WHEN 'stake' THEN 'stake' ELSE 'bank' END
                  AND e.account_id = account AND e.amount < 0)
             WHEN journal.kind = 'void_transfer' THEN (
                SELECT max(j.at) FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'bank'
                JOIN wallet_journal AS j ON j.round_id = a.stands_for WHERE e.journal_id = journal.id)
             END,
        journal.at)
$$;
