-- The ledger: journals and their entries.
--
-- SQLSTATEs of the wallet. wallet/ledger/__init__.py has a Python error for each except SB004.
-- SB032 is in wallet/withdrawals/__init__.py, and SB050 to SB056 are in wallet/seamless_wallet/.
--   SB002 the key has posted something else
--   SB003 unbalanced journal
--   SB004 not the exact reversal
--   SB005 unknown journal
--   SB006 a limit of the player is reached; detail: kind|period|limit|left|currency
--   SB008 paid without a stake
--   SB009 this account does not move in this way
--   SB010 money would pass between players
--   SB030 adjustment not approved
--   SB032 two people must approve the withdrawal
--   SB040 the house is stopped
--   SB050 to SB056: see seamless_wallet.sql

-- Refuse the statement. Trigger function for tables and columns that never change.
-- Raises restrict_violation (23001), always.
CREATE OR REPLACE FUNCTION wallet_refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Add an entry to the balance of its account. Trigger function, BEFORE INSERT on wallet_entry, for
-- entries without `version`.
-- Sets `balance_after` and `version` of the entry from the account, whatever the statement said.
-- Both stay NULL on a house account, which has no balance.
-- Raises check_violation (23514, wallet_account_covered) if the balance falls below zero or below
-- what is held.
-- Locks the account until the transaction ends.
CREATE OR REPLACE FUNCTION wallet_move_balance() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE wallet_account AS a SET balance = a.balance + NEW.amount, version = a.version + 1
    WHERE a.id = NEW.account_id AND a.balance IS NOT NULL
    RETURNING a.balance, a.version INTO NEW.balance_after, NEW.version;
    RETURN NEW;
END $$;

-- Check each new entry against its account, and update the balances for entries that came with
-- `version` and `balance_after`. Trigger function, AFTER INSERT on wallet_entry, per statement.
-- Raises foreign_key_violation (23503, wallet_entry_account) if the account does not exist in this
-- currency and mode, SB009 if the journal may not move the account, and restrict_violation (23001)
-- if version and balance do not follow the account's last entry.
--
-- An entry with `version` is accepted if its version and balance come directly after those of its
-- account. So wallet_post_set moves the balances of a whole round in one statement. Two entries of
-- one account with the same version in two months are refused too: the unique index covers one
-- month. This check replaces a foreign key, which cost as much as inserting the entries.
CREATE OR REPLACE FUNCTION wallet_follow_lines() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    astray record;
BEGIN
    LOOP
        SELECT n.journal_id, n.line, n.account_id, n.currency, n.mode, n.version, n.balance_after, a.id AS home,
               a.kind IN ('adjusted', 'studio', 'operator')
                   OR a.stands_for IS NOT NULL AND n.version BETWEEN 1 AND a.version AS stands
        INTO astray
        FROM new_lines AS n
        LEFT JOIN wallet_account AS a ON a.id = n.account_id AND a.currency = n.currency AND a.mode = n.mode
        WHERE (CASE WHEN a.balance IS NULL THEN a.id IS NOT NULL AND n.version IS NULL AND n.balance_after IS NULL
                         AND (a.kind <> 'adjusted' OR wallet_adjusts_so(n.journal_id))
                         AND (a.kind <> 'studio' OR wallet_studio_moves_so(n.journal_id))
                         AND (a.kind <> 'operator' OR wallet_operator_journal_matches(n.journal_id))
                    WHEN a.stands_for IS NULL THEN n.version BETWEEN 1 AND a.version
                    ELSE n.version BETWEEN 1 AND a.version AND wallet_table_account_allows(a.kind, a.stands_for, n.journal_id)
               END) IS NOT TRUE
        LIMIT 1;
        IF NOT FOUND THEN
            IF (SELECT min(journal_id) >> 32 = max(journal_id) >> 32 FROM new_lines) THEN
                RETURN NULL;
            END IF;
            SELECT min(journal_id) AS journal_id, min(line) AS line, account_id, version, min(balance_after) AS balance_after,
                   account_id AS home, false AS stands
            INTO astray FROM new_lines WHERE version IS NOT NULL GROUP BY account_id, version HAVING count(*) > 1 LIMIT 1;
            IF NOT FOUND THEN
                RETURN NULL;
            END IF;
            EXIT;
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
    IF astray.stands THEN
        RAISE EXCEPTION 'journal % line %: account % does not move like this',
            astray.journal_id, astray.line, astray.account_id USING ERRCODE = 'SB009';
    END IF;
    RAISE EXCEPTION 'journal % line %: number % with balance % does not follow on account %',
        astray.journal_id, astray.line, astray.version, astray.balance_after, astray.account_id
        USING ERRCODE = 'restrict_violation';
END $$;

-- Refuse journals that do not sum to zero in each currency and mode, and entries of another
-- transaction's journal.
-- Trigger function, AFTER INSERT on wallet_entry, per statement.
-- Raises SB003 for a sum, restrict_violation (23001) if this transaction did not write the journal.
-- It replaces a foreign key to the journal, which would check less and cost a twelfth of each
-- posting.
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

-- Refuse an entry whose `version` its account has already reached. Trigger function, BEFORE INSERT
-- on wallet_entry, for entries with `version`.
-- Raises restrict_violation (23001).
-- The unique index on account and version covers one month only, so it does not find the number in
-- another month.
CREATE OR REPLACE FUNCTION wallet_refuse_taken_number() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM wallet_account WHERE id = NEW.account_id AND version >= NEW.version) THEN
        RAISE EXCEPTION 'journal % line %: number % with balance % does not follow on account %',
            NEW.journal_id, NEW.line, NEW.version, NEW.balance_after, NEW.account_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Check that a reversing journal is the exact opposite of the journal that it reverses, and record
-- the reversal. Trigger function, AFTER INSERT on wallet_journal.
-- The entries are written in the same statement as the journal. They have the same lines, accounts
-- and round, and opposite amounts.
-- Raises SB004 if they differ, unique_violation (23505, wallet_reversal_pkey) if the journal was
-- reversed before. A concurrent second reversal waits for the first transaction.
CREATE OR REPLACE FUNCTION wallet_check_reversal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM (SELECT line, account_id, -amount AS amount FROM wallet_entry WHERE journal_id = NEW.reverses_id) AS was
    FULL JOIN (SELECT line, account_id, amount FROM wallet_entry WHERE journal_id = NEW.id) AS now_is
        USING (line, account_id, amount)
    WHERE was.line IS NULL OR now_is.line IS NULL;
    IF FOUND OR NOT EXISTS (
        SELECT FROM wallet_journal WHERE id = NEW.reverses_id AND round_id IS NOT DISTINCT FROM NEW.round_id) THEN
        RAISE EXCEPTION 'journal % is not the opposite of %', NEW.id, NEW.reverses_id USING ERRCODE = 'SB004';
    END IF;
    INSERT INTO wallet_reversal (journal_id, by_id) VALUES (NEW.reverses_id, NEW.id);
    RETURN NULL;
END $$;

-- Return the SHA-256 of what a journal asks for, to compare a repeated request with the first one.
-- `lines`: wallet_line_text of each line, in order, joined by commas.
CREATE OR REPLACE FUNCTION wallet_request_hash(kind text, round_id uuid, reverses bigint, lines text) RETURNS bytea
LANGUAGE sql STABLE AS $$
    SELECT sha256(convert_to(
        kind || '|' || coalesce(round_id::text, '') || '|' || coalesce(reverses::text, '') || '|' || lines, 'UTF8'))
$$;

-- Return a line of a journal as text for wallet_request_hash. `amount`: minor units.
CREATE OR REPLACE FUNCTION wallet_line_text(account bigint, currency text, mode text, amount bigint) RETURNS text
LANGUAGE sql STABLE AS $$ SELECT account || ' ' || currency || ' ' || mode || ' ' || amount $$;

-- Post journals in order, all or none, each once per idempotency key.
-- `journals`: a JSON array of
--   {"key": uuid, "kind": text, "round": uuid or null, "reverses": journal id or absent,
--    "lines": [[account id, currency, mode, amount in minor units], ...]}
-- Returns one row per line: `place` of the journal in the array (from 1), journal id, whether the
-- key had posted it before (`replayed`), account id, and balance after the line (NULL on house
-- accounts). Lines of one account come in order.
-- A known key returns the first answer and posts nothing.
-- Raises SB002 if a key posted something else, check_violation (23514, wallet_account_covered) for
-- lack of money, and the errors of the triggers on wallet_journal and wallet_entry: SB003, SB004,
-- SB006, SB009, SB010, SB040, SB034 (at commit), foreign_key_violation (23503,
-- wallet_entry_account), unique_violation (23505, wallet_reversal_pkey).
-- Locks the keys first: a second caller with the same key waits, and then finds the first caller's
-- journal. Then the entries lock their accounts in ascending order of id until the transaction
-- ends, so that callers do not deadlock.
--
-- Within one account, credits of reversals come before debits of reversals. So one call can void a
-- settled coup: its stakes return from the bank and the winners before they go back to the players.
-- Other lines keep the order of the journals, because a stake must be covered before its payout.
-- The settings keep the plan on index look-ups even when a new database has no statistics.
CREATE OR REPLACE FUNCTION wallet_post(journals jsonb)
RETURNS TABLE (place integer, journal bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    keys uuid[];
    hashes bytea[];
    new_ids bigint[];  -- NULL if the key is known
BEGIN
    WITH asked AS MATERIALIZED (
        SELECT j.n, (j.body ->> 'key')::uuid AS key, nextval('wallet_journal_id_seq') AS journal_id,
               wallet_request_hash(j.body ->> 'kind', (j.body ->> 'round')::uuid, (j.body ->> 'reverses')::bigint,
                   (SELECT string_agg(wallet_line_text((line ->> 0)::bigint, line ->> 1, line ->> 2,
                                                       (line ->> 3)::bigint), ',' ORDER BY l.n)
                    FROM jsonb_array_elements(j.body -> 'lines') WITH ORDINALITY AS l (line, n))) AS request_hash
        FROM jsonb_array_elements(journals) WITH ORDINALITY AS j (body, n)
    ), taken AS (
        INSERT INTO wallet_posting_key AS k (key, request_hash, journal_id)
        SELECT asked.key, asked.request_hash, asked.journal_id FROM asked
        ON CONFLICT DO NOTHING RETURNING k.journal_id
    )
    SELECT array_agg(asked.key ORDER BY asked.n), array_agg(asked.request_hash ORDER BY asked.n),
           array_agg(taken.journal_id ORDER BY asked.n)
    INTO keys, hashes, new_ids
    FROM asked LEFT JOIN taken USING (journal_id);

    RETURN QUERY
    WITH written AS (
        INSERT INTO wallet_journal (id, key, request_hash, kind, round_id, reverses_id)
        SELECT new_ids[j.n], keys[j.n], hashes[j.n], j.body ->> 'kind', (j.body ->> 'round')::uuid,
               (j.body ->> 'reverses')::bigint
        FROM jsonb_array_elements(journals) WITH ORDINALITY AS j (body, n) WHERE new_ids[j.n] IS NOT NULL
    )
    INSERT INTO wallet_entry AS e (journal_id, line, account_id, currency, mode, amount)
    SELECT new_ids[j.n], l.n, (l.line ->> 0)::bigint, l.line ->> 1, l.line ->> 2, (l.line ->> 3)::bigint
    FROM jsonb_array_elements(journals) WITH ORDINALITY AS j (body, n),
         jsonb_array_elements(j.body -> 'lines') WITH ORDINALITY AS l (line, n)
    WHERE new_ids[j.n] IS NOT NULL
    ORDER BY 3, j.body ->> 'reverses' IS NOT NULL AND (l.line ->> 3)::bigint < 0, j.n, l.n
    RETURNING array_position(new_ids, e.journal_id), e.journal_id, false, e.account_id, e.balance_after;

    IF array_position(new_ids, NULL) IS NOT NULL THEN
        IF EXISTS (SELECT FROM unnest(keys, hashes) AS a (key, request_hash)
                   JOIN wallet_posting_key AS k ON k.key = a.key WHERE k.request_hash <> a.request_hash) THEN
            RAISE EXCEPTION 'this key has posted something else' USING ERRCODE = 'SB002';
        END IF;
        RETURN QUERY
        SELECT a.n::integer, e.journal_id, true, e.account_id, e.balance_after
        FROM unnest(keys, new_ids) WITH ORDINALITY AS a (key, new_id, n)
        JOIN wallet_posting_key AS k ON k.key = a.key JOIN wallet_entry AS e ON e.journal_id = k.journal_id
        WHERE a.new_id IS NULL ORDER BY a.n, e.line;
    END IF;
END $$;
REVOKE ALL ON FUNCTION wallet_post FROM PUBLIC;

-- Post one journal with many lines in one statement per table, under the rules of wallet_post.
-- `amounts[i]`: minor units to `accounts[i]`, negative for a debit. No account appears twice.
-- `key`: idempotency key; the same key again returns the first answer.
-- Returns rows as wallet_post does, with `place` 1. Lines are numbered in ascending order of
-- account id.
-- Raises the errors of wallet_post. An unknown account is ignored, so the sum is then not zero
-- (SB003).
-- Locks the players' accounts in ascending order of id, then the key.
CREATE OR REPLACE FUNCTION wallet_post_set(key uuid, kind text, round uuid, accounts bigint[], amounts bigint[])
RETURNS TABLE (place integer, posted bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_nestloop = on
AS $$
DECLARE
    line record;  -- of each column: all values, in ascending order of account
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
REVOKE ALL ON FUNCTION wallet_post_set FROM PUBLIC;

-- Post the exact opposite of each journal, for the same round, all or none.
-- `keys[i]`: idempotency key for the reversal of `journals[i]`. `kind`: kind of the new journals.
-- Returns rows as wallet_post does.
-- Raises SB005 if a journal does not exist, unique_violation (23505, wallet_reversal_pkey) if one
-- was reversed under another key, and the errors of wallet_post.
CREATE OR REPLACE FUNCTION wallet_reverse(journals bigint[], keys uuid[], kind text)
RETURNS TABLE (place integer, posted bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    requests jsonb;
BEGIN
    SELECT jsonb_agg(each.request ORDER BY each.n) INTO requests
    FROM (
        SELECT asked.n, jsonb_build_object(
                   'key', asked.key, 'kind', wallet_reverse.kind, 'round', j.round_id, 'reverses', j.id,
                   'lines', jsonb_agg(jsonb_build_array(e.account_id, e.currency, e.mode, -e.amount) ORDER BY e.line)
               ) AS request
        FROM unnest(journals, keys) WITH ORDINALITY AS asked (journal_id, key, n)
        JOIN wallet_journal AS j ON j.id = asked.journal_id JOIN wallet_entry AS e ON e.journal_id = j.id
        GROUP BY asked.n, asked.key, j.id
    ) AS each;
    IF coalesce(jsonb_array_length(requests), 0) <> cardinality(journals) THEN
        RAISE EXCEPTION 'not all of the journals % are there', journals USING ERRCODE = 'SB005';
    END IF;
    RETURN QUERY SELECT * FROM wallet_post(requests);
END $$;
REVOKE ALL ON FUNCTION wallet_reverse FROM PUBLIC;
