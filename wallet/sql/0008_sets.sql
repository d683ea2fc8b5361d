-- Stakes and payouts of a whole round, each one statement over all bettors. What a row did to its account and to its day
-- in a trigger of its own, a statement now does for all of its rows; the rules stay those of 0001, 0004 and 0007.


-- Lines that bring their numbers ------------------------------------------------------------------------------------

-- A line that says nothing of number and balance moves its account by itself, as before. One that says them is believed
-- only if its account stands right before it: then the account follows. So a set of lines, no account in it twice, moves
-- its accounts in one statement, and a line that claims anything else is refused, whoever writes it.
DROP TRIGGER wallet_entry_moves_balance ON wallet_entry;
CREATE TRIGGER wallet_entry_moves_balance BEFORE INSERT ON wallet_entry
    FOR EACH ROW WHEN (NEW.version IS NULL) EXECUTE FUNCTION wallet_move_balance();

-- A line is on an account in its currency and mode: a foreign key, which this was, asked for each line by itself what one
-- question finds out for all, and cost as much as the entries. Accounts cannot be removed, nor changed in that.
ALTER TABLE wallet_entry DROP CONSTRAINT wallet_entry_account;

CREATE FUNCTION wallet_follow_lines() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    astray record;
BEGIN
    LOOP
        SELECT n.journal_id, n.line, n.account_id, n.currency, n.mode, n.version, n.balance_after, a.id AS home
        INTO astray
        FROM new_lines AS n
        LEFT JOIN wallet_account AS a ON a.id = n.account_id AND a.currency = n.currency AND a.mode = n.mode
        WHERE (CASE WHEN a.balance IS NULL THEN a.id IS NOT NULL AND n.version IS NULL AND n.balance_after IS NULL
                    ELSE n.version BETWEEN 1 AND a.version END) IS NOT TRUE
        LIMIT 1;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        UPDATE wallet_account AS a SET balance = n.balance_after, version = n.version
        FROM new_lines AS n
        WHERE a.id = n.account_id AND a.version = n.version - 1 AND a.balance + n.amount = n.balance_after;
        EXIT WHEN NOT FOUND;
    END LOOP;
    IF astray.home IS NULL THEN
        RAISE EXCEPTION 'there is no account % in % %', astray.account_id, astray.currency, astray.mode
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'wallet_entry_account';
    END IF;
    RAISE EXCEPTION 'journal % line %: number % with balance % does not follow on account %',
        astray.journal_id, astray.line, astray.version, astray.balance_after, astray.account_id
        USING ERRCODE = 'restrict_violation';
END $$;

-- Before the days are counted: triggers go by their names.
CREATE TRIGGER wallet_entry_and_account AFTER INSERT ON wallet_entry REFERENCING NEW TABLE AS new_lines
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_follow_lines();


-- Sums ---------------------------------------------------------------------------------------------------------------

-- Entries join a journal that this very transaction has written, as before; it is looked for once and not for each line.
CREATE OR REPLACE FUNCTION wallet_check_sums() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    wrong record;
BEGIN
    SELECT n.journal_id, n.currency, n.mode, n.total, j.id IS NULL AS is_foreign INTO wrong
    FROM (SELECT l.journal_id, l.currency, l.mode, sum(l.amount) AS total
          FROM new_lines AS l GROUP BY l.journal_id, l.currency, l.mode) AS n
    LEFT JOIN wallet_journal AS j ON j.id = n.journal_id AND j.xid = pg_current_xact_id()
    WHERE n.total <> 0 OR j.id IS NULL LIMIT 1;
    IF FOUND THEN
        IF wrong.is_foreign THEN
            RAISE EXCEPTION 'journal % was not written by this transaction', wrong.journal_id
                USING ERRCODE = 'restrict_violation';
        END IF;
        RAISE EXCEPTION 'journal %: % % sums to %', wrong.journal_id, wrong.currency, wrong.mode, wrong.total
            USING ERRCODE = 'SB003';
    END IF;
    RETURN NULL;
END $$;


-- Days --------------------------------------------------------------------------------------------------------------

DROP TRIGGER wallet_entry_counts ON wallet_entry;
DROP FUNCTION wallet_count_day;

-- A line counts on the day of its journal's clock; where it reverses another's, on that one's day. Stakes that were not
-- held before, and deposits that had not been begun, are held to the limits, one player after the other. Nothing else is
-- ever refused here, nor waits for whoever asks about limits: it is counted for all players of a journal at once.
-- It happens after all lines of the statement have moved their accounts, journal by journal: accounts are locked before
-- limits, always, and a stake is counted before the payout of its own round.
CREATE FUNCTION wallet_count_days() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    journal record;
    theirs record;
    was_begun boolean;
BEGIN
    FOR journal IN
        SELECT j.id, coalesce(was.kind, j.kind) AS kind, coalesce(was.at, j.at) AS at, j.key, j.reverses_id
        FROM (SELECT DISTINCT n.journal_id FROM new_lines AS n WHERE n.mode = 'R' AND n.version IS NOT NULL) AS line
        JOIN wallet_journal AS j ON j.id = line.journal_id LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
        WHERE coalesce(was.kind, j.kind) IN ('deposit', 'withdraw_paid', 'stake', 'held_stake', 'settle')
        ORDER BY j.id
    LOOP
        IF journal.kind NOT IN ('stake', 'deposit') OR journal.reverses_id IS NOT NULL THEN
            INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
            SELECT a.owner_id, (journal.at AT TIME ZONE z.time_zone)::date,
                   CASE journal.kind WHEN 'deposit' THEN sum(n.amount) ELSE 0 END,
                   CASE journal.kind WHEN 'withdraw_paid' THEN -sum(n.amount) ELSE 0 END,
                   CASE WHEN journal.kind IN ('stake', 'held_stake') THEN -sum(n.amount) ELSE 0 END,
                   CASE journal.kind WHEN 'settle' THEN sum(n.amount) ELSE 0 END
            FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id
            JOIN players_player AS p ON p.id = a.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
            WHERE n.journal_id = journal.id AND n.mode = 'R' AND n.version IS NOT NULL
            GROUP BY a.owner_id, z.time_zone ORDER BY a.owner_id
            ON CONFLICT (player_id, day) DO UPDATE SET
                deposited = d.deposited + excluded.deposited, withdrawn = d.withdrawn + excluded.withdrawn,
                staked = d.staked + excluded.staked, paid = d.paid + excluded.paid;
            CONTINUE;
        END IF;
        FOR theirs IN
            SELECT a.owner_id AS player, (journal.at AT TIME ZONE z.time_zone)::date AS day, n.amount
            FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id
            JOIN players_player AS p ON p.id = a.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
            WHERE n.journal_id = journal.id AND n.mode = 'R' AND n.version IS NOT NULL ORDER BY a.owner_id, n.line
        LOOP
            PERFORM players_lock_limits(theirs.player);
            was_begun := false;
            IF journal.kind = 'deposit' THEN
                UPDATE wallet_reserved AS r SET ended_at = coalesce(r.ended_at, clock_timestamp())
                WHERE r.key = journal.key AND r.player_id = theirs.player AND r.amount >= theirs.amount;
                was_begun := FOUND;
            END IF;
            INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
            VALUES (theirs.player, theirs.day, CASE journal.kind WHEN 'deposit' THEN theirs.amount ELSE 0 END, 0,
                    CASE journal.kind WHEN 'stake' THEN -theirs.amount ELSE 0 END, 0)
            ON CONFLICT (player_id, day) DO UPDATE SET
                deposited = d.deposited + excluded.deposited, staked = d.staked + excluded.staked;
            IF journal.kind = 'stake' AND theirs.amount < 0 THEN
                PERFORM wallet_refuse_beyond(theirs.player, theirs.day, '{stake,loss}', -theirs.amount);
            ELSIF journal.kind = 'deposit' AND theirs.amount > 0 AND NOT was_begun THEN
                PERFORM wallet_refuse_beyond(theirs.player, theirs.day, '{deposit}', theirs.amount);
            END IF;
        END LOOP;
    END LOOP;
    RETURN NULL;
END $$;

CREATE TRIGGER wallet_entry_counts AFTER INSERT ON wallet_entry REFERENCING NEW TABLE AS new_lines
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_count_days();


-- Holds -------------------------------------------------------------------------------------------------------------

-- A slip changes one hold, the end of betting takes all of a round away.
DROP TRIGGER wallet_hold_moves_held ON wallet_hold;
CREATE TRIGGER wallet_hold_moves_held AFTER INSERT OR UPDATE ON wallet_hold
    FOR EACH ROW EXECUTE FUNCTION wallet_move_held();

CREATE FUNCTION wallet_give_back_held() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE wallet_account AS a SET held = a.held - h.amount
    FROM (SELECT gone.account_id, sum(gone.amount)::bigint AS amount FROM gone GROUP BY gone.account_id) AS h
    WHERE a.id = h.account_id;
    RETURN NULL;
END $$;

CREATE TRIGGER wallet_hold_gives_back AFTER DELETE ON wallet_hold REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_give_back_held();


-- The door for a whole round ----------------------------------------------------------------------------------------

-- Posts one journal of many lines, `amounts` into `accounts`, no account twice: under the rules of wallet_post, and with
-- its answer. Lines stand in the order of their accounts.
CREATE FUNCTION wallet_post_set(key uuid, kind text, round uuid, accounts bigint[], amounts bigint[])
RETURNS TABLE (place integer, posted bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_nestloop = on
AS $$
DECLARE
    line record;  -- of each column, all of its values, ascending by account
    asked_hash bytea;
    known wallet_posting_key;
    new_id bigint;
BEGIN
    WITH players_own AS MATERIALIZED (
        SELECT a.id, a.currency, a.mode, asked.amount, a.balance + asked.amount AS balance, a.version + 1 AS version
        FROM unnest(accounts, amounts) AS asked (account_id, amount) JOIN wallet_account AS a ON a.id = asked.account_id
        WHERE a.balance IS NOT NULL ORDER BY a.id FOR UPDATE OF a
    ), lines AS (
        SELECT * FROM players_own
        UNION ALL
        SELECT a.id, a.currency, a.mode, asked.amount, NULL, NULL
        FROM unnest(accounts, amounts) AS asked (account_id, amount) JOIN wallet_account AS a ON a.id = asked.account_id
        WHERE a.balance IS NULL
    )
    SELECT array_agg(l.id) AS account, array_agg(l.currency) AS currency, array_agg(l.mode) AS mode,
           array_agg(l.amount) AS amount, array_agg(l.balance) AS balance, array_agg(l.version) AS version,
           string_agg(wallet_line_text(l.id, l.currency, l.mode, l.amount), ',') AS texts
    INTO line FROM (SELECT * FROM lines ORDER BY id) AS l;
    asked_hash := wallet_request_hash(wallet_post_set.kind, round, NULL, line.texts);

    INSERT INTO wallet_posting_key AS k (key, request_hash, journal_id)
    VALUES (wallet_post_set.key, asked_hash, nextval('wallet_journal_id_seq'))
    ON CONFLICT DO NOTHING RETURNING k.journal_id INTO new_id;
    IF new_id IS NULL THEN
        SELECT k.* INTO known FROM wallet_posting_key AS k WHERE k.key = wallet_post_set.key;
        IF known.request_hash <> asked_hash THEN
            RAISE EXCEPTION 'this key has posted something else' USING ERRCODE = 'SB002';
        END IF;
        RETURN QUERY
        SELECT 1, e.journal_id, true, e.account_id, e.balance_after
        FROM wallet_entry AS e WHERE e.journal_id = known.journal_id ORDER BY e.line;
        RETURN;
    END IF;

    INSERT INTO wallet_journal (id, key, request_hash, kind, round_id)
    VALUES (new_id, wallet_post_set.key, asked_hash, wallet_post_set.kind, round);
    RETURN QUERY
    INSERT INTO wallet_entry AS e (journal_id, line, account_id, currency, mode, amount, balance_after, version)
    SELECT new_id, l.n, l.account, l.currency, l.mode, l.amount, l.balance, l.version
    FROM unnest(line.account, line.currency, line.mode, line.amount, line.balance, line.version)
         WITH ORDINALITY AS l (account, currency, mode, amount, balance, version, n)
    RETURNING 1, e.journal_id, false, e.account_id, e.balance_after;
END $$;

-- Turns everything held for a round into its stakes, in one journal, and answers as wallet_post does. The same key again
-- answers the same. Nothing here can fail for want of money or for a limit: both were asked when it was held.
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
    IF accounts IS NOT NULL THEN
        RETURN QUERY SELECT * FROM wallet_post_set(wallet_stake_holds.key, 'held_stake', round, accounts, amounts);
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 1, e.journal_id, true, e.account_id, e.balance_after
    FROM wallet_posting_key AS k
    JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'held_stake' AND j.round_id = round
    JOIN wallet_entry AS e ON e.journal_id = j.id
    WHERE k.key = wallet_stake_holds.key ORDER BY e.line;
END $$;

-- Settles what was held for a round and staked when its bets closed, in one journal, and answers as wallet_post does: out
-- of escrow comes all that went into it, each of `accounts` gets what stands beside it in `paid`, and the house the rest
-- or what is missing. The same key again answers the same. No row: nothing was staked there.
-- Only those are paid who have staked (SB008), and nothing of stakes that have been taken back (SB005).
CREATE FUNCTION wallet_settle_stakes(round uuid, key uuid, accounts bigint[], paid bigint[])
RETURNS TABLE (place integer, posted bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    stakes wallet_journal;
    moved bigint[];
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
    WITH part AS MATERIALIZED (  -- of each account, what it staked (escrow: what it took) and what it is paid
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
    INTO moved, amounts, strangers FROM line AS l;
    IF strangers THEN
        RAISE EXCEPTION 'round % pays only those who have staked on it', round USING ERRCODE = 'SB008';
    END IF;
    RETURN QUERY SELECT * FROM wallet_post_set(wallet_settle_stakes.key, 'settle', round, moved, amounts);
END $$;

REVOKE ALL ON FUNCTION wallet_post_set, wallet_settle_stakes FROM PUBLIC;

-- Nearly nothing is held whenever statistics are taken; a plan made by them would read every hold of a round for each chip.
ALTER FUNCTION wallet_hold SET enable_seqscan = off;
