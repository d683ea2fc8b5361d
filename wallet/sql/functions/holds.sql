-- Holds: money set aside for a shared round while bets are open, so that closing bets cannot fail
-- for lack of money. `held` of an account is the sum of its holds.
--
--   SB107 the round is one of a shared table: its holds follow the bets

-- Add the change of a hold to `held` of its account. Trigger function, AFTER INSERT OR UPDATE on
-- wallet_hold.
-- Raises check_violation (23514, wallet_account_covered) if the balance is less than `held`.
CREATE OR REPLACE FUNCTION wallet_move_held() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE wallet_account AS a SET held = a.held + coalesce(NEW.amount, 0) - coalesce(OLD.amount, 0)
    WHERE a.id = coalesce(NEW.account_id, OLD.account_id);
    RETURN NULL;
END $$;

-- Subtract deleted holds from `held` of their accounts. Trigger function, AFTER DELETE on
-- wallet_hold, per statement. wallet_stake_holds does the same itself, in the statement that moves
-- the balances.
CREATE OR REPLACE FUNCTION wallet_give_back_held() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF current_setting('sabot.writer', true) = 'wallet' THEN
        RETURN NULL;
    END IF;
    UPDATE wallet_account AS a SET held = a.held - h.amount
    FROM (SELECT gone.account_id, sum(gone.amount)::bigint AS amount FROM gone GROUP BY gone.account_id) AS h
    WHERE a.id = h.account_id;
    RETURN NULL;
END $$;

-- Set the hold of an account for a round to `amount`, and return what is free afterwards.
-- `amount`: minor units; 0 removes the hold. `account`: a cash, purse or seat account.
-- Returns balance minus held, in minor units.
-- games_place_bets calls it for bets at shared tables, wallet_hold for anything else.
-- Raises foreign_key_violation (23503, wallet_hold_account) for another account, check_violation
-- (23514) for a negative amount or lack of money (wallet_account_covered), SB006 if a growing
-- real-money hold passes a limit, SB040 if a hold grows while the house is stopped.
-- Locks the account, then the player's limits. A hold counts towards the stake and loss limits from
-- now on.
--
-- Sequential scans are off: statistics are usually collected while there are few holds, and a plan
-- made from them would read every hold of a round for each chip.
CREATE OR REPLACE FUNCTION wallet_set_hold(round uuid, account bigint, amount bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    theirs wallet_account;
    was bigint;
    free bigint;
BEGIN
    SELECT a.* INTO theirs FROM wallet_account AS a
    WHERE a.id = account AND a.kind IN ('cash', 'purse', 'seat') FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'nothing is held on account %', account
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'wallet_hold_account';
    END IF;
    was := coalesce((SELECT h.amount FROM wallet_hold AS h WHERE h.round_id = round AND h.account_id = account), 0);
    IF amount = 0 THEN
        DELETE FROM wallet_hold AS h WHERE h.round_id = round AND h.account_id = account;
    ELSE
        INSERT INTO wallet_hold AS h (round_id, account_id, amount) VALUES (round, account, wallet_set_hold.amount)
        ON CONFLICT (round_id, account_id) DO UPDATE SET amount = excluded.amount WHERE h.amount <> excluded.amount;
    END IF;
    IF theirs.mode = 'R' AND amount > was THEN
        PERFORM players_lock_limits(theirs.owner_id);
        PERFORM wallet_refuse_beyond(
            theirs.owner_id, wallet_today(theirs.owner_id), 'stake', amount - was);
    END IF;
    SELECT a.balance - a.held INTO free FROM wallet_account AS a WHERE a.id = account;
    RETURN free;
END $$;
REVOKE ALL ON FUNCTION wallet_set_hold FROM PUBLIC;

-- Set the hold of an account for something else than bets at a shared table, such as a bid for a bank
-- at Chemin de Fer. `round`: id of what the money is held for.
-- Arguments, result and errors are those of wallet_set_hold, and SB107.
CREATE OR REPLACE FUNCTION wallet_hold(round uuid, account bigint, amount bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM games_refuse_shared_round(round);
    RETURN wallet_set_hold(round, account, amount);
END $$;
REVOKE ALL ON FUNCTION wallet_hold FROM PUBLIC;

-- Lock the accounts that have a hold for a round, in ascending order of id, until the transaction
-- ends.
CREATE OR REPLACE FUNCTION wallet_lock_holders(round uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM wallet_account AS a
    WHERE a.id IN (SELECT h.account_id FROM wallet_hold AS h WHERE h.round_id = round) ORDER BY a.id FOR UPDATE;
END $$;
REVOKE ALL ON FUNCTION wallet_lock_holders FROM PUBLIC;

-- Delete all holds of a round that is voided before it is settled.
-- Returns the number of holds.
-- Locks the accounts first, in ascending order of id.
CREATE OR REPLACE FUNCTION wallet_delete_holds(round uuid) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    deleted bigint;
BEGIN
    PERFORM wallet_lock_holders(round);
    DELETE FROM wallet_hold AS h WHERE h.round_id = round;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;
REVOKE ALL ON FUNCTION wallet_delete_holds FROM PUBLIC;

-- Delete all holds of something else than a round of a shared table, as wallet_delete_holds does.
-- Raises SB107.
CREATE OR REPLACE FUNCTION wallet_release_holds(round uuid) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM games_refuse_shared_round(round);
    RETURN wallet_delete_holds(round);
END $$;
REVOKE ALL ON FUNCTION wallet_release_holds FROM PUBLIC;

-- Turn all holds of a round into stakes in escrow, in one journal of kind held_stake.
-- `key`: idempotency key; the same key again returns the same journal.
-- Returns rows as wallet_write does; no row if nothing was held.
-- Raises SB002 if the key posted something else. Money and limits were checked when the holds were
-- made, so neither is refused here.
-- Locks the accounts first, in ascending order of id.
CREATE OR REPLACE FUNCTION wallet_stake_holds(round uuid, key uuid)
RETURNS TABLE (place integer, posted bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    accounts bigint[];
    amounts bigint[];
BEGIN
    PERFORM wallet_lock_holders(round);
    PERFORM wallet_begin_writing();
    WITH taken AS (
        DELETE FROM wallet_hold AS h WHERE h.round_id = round RETURNING h.account_id, h.amount
    ), line AS (
        SELECT taken.account_id, a.currency, a.mode, -taken.amount AS amount
        FROM taken JOIN wallet_account AS a ON a.id = taken.account_id
    ), escrowed AS (
        SELECT e.id, total.amount
        FROM (SELECT l.currency, l.mode, -sum(l.amount) AS amount FROM line AS l GROUP BY l.currency, l.mode) AS total
        JOIN wallet_account AS e
            ON e.owner_id IS NULL AND e.kind = 'escrow' AND e.currency = total.currency AND e.mode = total.mode
    )
    SELECT array_agg(l.account_id), array_agg(l.amount) INTO accounts, amounts
    FROM (SELECT account_id, amount FROM line UNION ALL SELECT id, escrowed.amount FROM escrowed) AS l;
    PERFORM wallet_end_writing();
    IF accounts IS NOT NULL THEN
        RETURN QUERY SELECT * FROM wallet_write_set(
            wallet_stake_holds.key, 'held_stake', round, accounts, amounts, true);
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 1, e.journal_id, true, e.account_id, e.balance_after
    FROM wallet_posting_key AS k
    JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'held_stake' AND j.round_id = round
    JOIN wallet_entry AS e ON e.journal_id = j.id
    WHERE k.key = wallet_stake_holds.key ORDER BY e.line;
END $$;
REVOKE ALL ON FUNCTION wallet_stake_holds FROM PUBLIC;

-- Settle the stakes that wallet_stake_holds posted for a round, in one journal of kind settle.
-- `paid[i]`: minor units paid to `accounts[i]`, stake included. The escrow account returns all
-- stakes of the round, and the house account takes the rest or pays what is missing.
-- `key`: idempotency key; the same key again returns the same journal.
-- Returns rows as wallet_write does; no row if nothing was staked on the round.
-- Raises SB008 for a negative payout or one to an account without a stake, SB005 if the stakes were
-- reversed, SB002 if the key posted something else.
-- Locks the accounts in ascending order of id.
CREATE OR REPLACE FUNCTION wallet_settle_stakes(round uuid, key uuid, accounts bigint[], paid bigint[])
RETURNS TABLE (place integer, posted bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    stakes wallet_journal;
    account_ids bigint[];
    amounts bigint[];
    strangers boolean;
BEGIN
    SELECT j.* INTO stakes FROM wallet_journal AS j WHERE j.round_id = round AND j.kind = 'held_stake';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM wallet_journal AS r WHERE r.reverses_id = stakes.id)
        AND NOT EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = wallet_settle_stakes.key) THEN
        RAISE EXCEPTION 'the stakes of round % have been taken back', round USING ERRCODE = 'SB005';
    END IF;
    WITH part AS MATERIALIZED (  -- per account: its stake (escrow: received) and payout
        SELECT each.account_id, max(each.currency) AS currency, max(each.mode) AS mode, sum(each.staked) AS staked,
               sum(each.paid) AS paid
        FROM (SELECT e.account_id, e.currency, e.mode, -e.amount AS staked, 0 AS paid
              FROM wallet_entry AS e WHERE e.journal_id = stakes.id
              UNION ALL
              SELECT p.account_id, NULL, NULL, 0, p.amount
              FROM unnest(accounts, wallet_settle_stakes.paid) AS p (account_id, amount) WHERE p.amount <> 0) AS each
        GROUP BY each.account_id
    ), rest AS (
        SELECT p.currency, p.mode, sum(p.staked) FILTER (WHERE p.staked > 0) - sum(p.paid) AS amount
        FROM part AS p GROUP BY p.currency, p.mode
    ), line AS (
        SELECT p.account_id, p.paid AS amount FROM part AS p WHERE p.paid <> 0
        UNION ALL
        SELECT p.account_id, p.staked FROM part AS p WHERE p.staked < 0
        UNION ALL
        SELECT h.id, rest.amount FROM rest JOIN wallet_account AS h
            ON h.owner_id IS NULL AND h.kind = 'house' AND h.currency = rest.currency AND h.mode = rest.mode
        WHERE rest.amount <> 0
    )
    SELECT array_agg(l.account_id), array_agg(l.amount),
           (SELECT bool_or(p.paid < 0 OR p.paid > 0 AND p.staked <= 0) FROM part AS p)
    INTO account_ids, amounts, strangers FROM line AS l;
    IF strangers THEN
        RAISE EXCEPTION 'round % pays only those who have staked on it', round USING ERRCODE = 'SB008';
    END IF;
    RETURN QUERY SELECT * FROM wallet_write_set(
        wallet_settle_stakes.key, 'settle', round, account_ids, amounts, false);
END $$;
REVOKE ALL ON FUNCTION wallet_settle_stakes FROM PUBLIC;
