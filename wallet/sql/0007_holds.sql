-- Holds: money set aside for a round while its bets are open, so that closing them cannot fail. `held` of an account is
-- the sum of its holds; wallet_account_covered refuses what is not there.

-- Keeps the account's `held` in step, whoever changes a hold.
CREATE FUNCTION wallet_move_held() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE wallet_account AS a SET held = a.held + coalesce(NEW.amount, 0) - coalesce(OLD.amount, 0)
    WHERE a.id = coalesce(NEW.account_id, OLD.account_id);
    RETURN NULL;
END $$;

CREATE TRIGGER wallet_hold_moves_held AFTER INSERT OR UPDATE OR DELETE ON wallet_hold
    FOR EACH ROW EXECUTE FUNCTION wallet_move_held();
CREATE TRIGGER wallet_hold_identity BEFORE UPDATE OF round_id, account_id ON wallet_hold
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_hold_is_moved BEFORE TRUNCATE ON wallet_hold
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- Sets what is held on a player's account for a round to `amount`, 0 for nothing, and returns what is free there then.
-- The same again changes nothing. A hold counts as a stake from now on: one that grows is held to the player's limits.
CREATE FUNCTION wallet_hold(round uuid, account bigint, amount bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    theirs wallet_account;
    was bigint;
    free bigint;
BEGIN
    SELECT a.* INTO theirs FROM wallet_account AS a
    WHERE a.id = account AND a.kind IN ('cash', 'purse') FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'nothing is held on account %', account
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'wallet_hold_account';
    END IF;
    was := coalesce((SELECT h.amount FROM wallet_hold AS h WHERE h.round_id = round AND h.account_id = account), 0);
    IF amount = 0 THEN
        DELETE FROM wallet_hold AS h WHERE h.round_id = round AND h.account_id = account;
    ELSE
        INSERT INTO wallet_hold AS h (round_id, account_id, amount) VALUES (round, account, wallet_hold.amount)
        ON CONFLICT (round_id, account_id) DO UPDATE SET amount = excluded.amount WHERE h.amount <> excluded.amount;
    END IF;
    IF theirs.mode = 'R' AND amount > was THEN
        PERFORM players_lock_limits(theirs.owner_id);
        PERFORM wallet_refuse_beyond(
            theirs.owner_id, wallet_today(theirs.owner_id), '{stake,loss}', amount - was);
    END IF;
    SELECT a.balance - a.held INTO free FROM wallet_account AS a WHERE a.id = account;
    RETURN free;
END $$;

-- Locks the accounts on which something is held for a round, ascending by id.
CREATE FUNCTION wallet_lock_holders(round uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM wallet_account AS a
    WHERE a.id IN (SELECT h.account_id FROM wallet_hold AS h WHERE h.round_id = round) ORDER BY a.id FOR UPDATE;
END $$;

-- Gives back everything held for a round, and returns on how many accounts: the round is annulled before its deal.
CREATE FUNCTION wallet_release_holds(round uuid) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    released bigint;
BEGIN
    PERFORM wallet_lock_holders(round);
    DELETE FROM wallet_hold AS h WHERE h.round_id = round;
    GET DIAGNOSTICS released = ROW_COUNT;
    RETURN released;
END $$;

-- Turns everything held for a round into its stakes, in one journal, and answers as wallet_post does. The same key again
-- answers the same. Nothing here can fail for want of money or for a limit: both were asked when it was held.
CREATE FUNCTION wallet_stake_holds(round uuid, key uuid)
RETURNS TABLE (place integer, posted bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    lines jsonb;
BEGIN
    PERFORM wallet_lock_holders(round);
    WITH taken AS (
        DELETE FROM wallet_hold AS h WHERE h.round_id = round RETURNING h.account_id, h.amount
    ), line AS (
        SELECT a.id, a.currency, a.mode, -taken.amount AS amount
        FROM taken JOIN wallet_account AS a ON a.id = taken.account_id
    ), escrowed AS (
        SELECT e.id, e.currency, e.mode, -sum(line.amount) AS amount
        FROM line JOIN wallet_account AS e
            ON e.owner_id IS NULL AND e.kind = 'escrow' AND e.currency = line.currency AND e.mode = line.mode
        GROUP BY e.id
    )
    SELECT jsonb_agg(jsonb_build_array(l.id, l.currency, l.mode, l.amount) ORDER BY l.id) INTO lines
    FROM (SELECT * FROM line UNION ALL SELECT * FROM escrowed) AS l;
    IF lines IS NOT NULL THEN
        RETURN QUERY SELECT * FROM wallet_post(jsonb_build_array(jsonb_build_object(
            'key', wallet_stake_holds.key, 'kind', 'held_stake', 'round', round, 'lines', lines)));
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 1, e.journal_id, true, e.account_id, e.balance_after
    FROM wallet_posting_key AS k
    JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'held_stake' AND j.round_id = round
    JOIN wallet_entry AS e ON e.journal_id = j.id
    WHERE k.key = wallet_stake_holds.key ORDER BY e.line;
END $$;

REVOKE ALL ON FUNCTION wallet_hold, wallet_lock_holders, wallet_release_holds, wallet_stake_holds FROM PUBLIC;
