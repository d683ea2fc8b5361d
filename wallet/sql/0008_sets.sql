-- Stakes and payouts of a whole round, each one statement over all bettors.

-- Settles what was held for a round and staked when its bets closed, in one journal, and answers as wallet_post does: out
-- of escrow comes all that went into it, each of `accounts` gets what stands beside it in `paid`, and the house the rest
-- or what is missing. The same key again answers the same. No row: nothing was staked there.
-- Only those are paid who have staked (SB008), and nothing of stakes that have been taken back (SB005).
CREATE FUNCTION wallet_settle_stakes(round uuid, key uuid, accounts bigint[], paid bigint[])
RETURNS TABLE (place integer, posted bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    stakes wallet_journal;
    lines jsonb;
    is_strange boolean;
BEGIN
    SELECT j.* INTO stakes FROM wallet_journal AS j WHERE j.round_id = round AND j.kind = 'held_stake';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM wallet_journal AS r WHERE r.reverses_id = stakes.id)
        AND NOT EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = wallet_settle_stakes.key) THEN
        RAISE EXCEPTION 'the stakes of round % have been taken back', round USING ERRCODE = 'SB005';
    END IF;
    WITH staked AS (
        SELECT e.account_id, e.currency, e.mode, e.amount FROM wallet_entry AS e WHERE e.journal_id = stakes.id
    ), payout AS (
        SELECT p.account_id, p.amount, s.currency, s.mode
        FROM unnest(accounts, wallet_settle_stakes.paid) AS p (account_id, amount)
        LEFT JOIN staked AS s ON s.account_id = p.account_id AND s.amount < 0
        WHERE p.amount IS DISTINCT FROM 0
    ), line AS (
        SELECT * FROM payout
        UNION ALL
        SELECT s.account_id, -s.amount, s.currency, s.mode FROM staked AS s WHERE s.amount > 0
        UNION ALL
        SELECT h.id, rest.amount, h.currency, h.mode
        FROM (SELECT s.currency, s.mode, sum(s.amount) FILTER (WHERE s.amount > 0) - coalesce((
                         SELECT sum(p.amount) FROM payout AS p WHERE p.currency = s.currency AND p.mode = s.mode), 0)
                     AS amount
              FROM staked AS s GROUP BY s.currency, s.mode) AS rest
        JOIN wallet_account AS h
            ON h.owner_id IS NULL AND h.kind = 'house' AND h.currency = rest.currency AND h.mode = rest.mode
        WHERE rest.amount <> 0
    )
    SELECT jsonb_agg(jsonb_build_array(l.account_id, l.currency, l.mode, l.amount) ORDER BY l.account_id, l.amount),
           bool_or(l.currency IS NULL OR l.amount IS NULL)
    INTO lines, is_strange FROM line AS l;
    IF is_strange OR 0 > ANY (wallet_settle_stakes.paid) THEN
        RAISE EXCEPTION 'round % pays only those who have staked on it', round USING ERRCODE = 'SB008';
    END IF;
    RETURN QUERY SELECT * FROM wallet_post(jsonb_build_array(jsonb_build_object(
        'key', wallet_settle_stakes.key, 'kind', 'settle', 'round', round, 'lines', lines)));
END $$;

REVOKE ALL ON FUNCTION wallet_settle_stakes FROM PUBLIC;
