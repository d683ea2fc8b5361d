-- The ledger: journals and their entries.
--
-- SQLSTATEs of the wallet. wallet/ledger/__init__.py has a Python error for each except SB004.
-- SB032 and SB137 are in wallet/withdrawals/__init__.py, SB050 to SB056 are in wallet/seamless_wallet/, and SB140 is
-- in wallet/invariants/verify.py.
--   SB002 the key has posted something else
--   SB003 unbalanced journal
--   SB004 not the exact reversal
--   SB005 unknown journal
--   SB006 a limit of the player is reached; detail: kind|period|limit|left|currency
--   SB008 paid without a stake
--   SB009 a journal of this kind does not move this account in this way
--   SB010 money would pass between players
--   SB030 adjustment not approved
--   SB032 two people must approve the withdrawal
--   SB040 the house is stopped
--   SB137 two people must release the withdrawal
--   SB050 to SB056: see seamless_wallet.sql
--   SB140: see verification.sql
--   SB132, SB133, SB136: see payments.sql

-- Refuse the statement. Trigger function for tables and columns that never change.
-- Raises restrict_violation (23001), always.
CREATE OR REPLACE FUNCTION wallet_refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Check that a reversing journal is the exact opposite of the journal that it reverses, and record
-- the reversal: the same lines, accounts and round, and opposite amounts.
-- `journal`: id of the reversing journal, `reverses`: of the reversed one. Both have their entries.
-- Raises SB004 if they differ, unique_violation (23505, wallet_reversal_pkey) if the journal was
-- reversed before. A concurrent second reversal waits for the first transaction.
CREATE OR REPLACE FUNCTION wallet_record_reversal(journal bigint, reverses bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM (SELECT e.line, e.account_id, -e.amount AS amount FROM wallet_entry AS e WHERE e.journal_id = reverses) AS was
    FULL JOIN (SELECT e.line, e.account_id, e.amount FROM wallet_entry AS e WHERE e.journal_id = journal) AS now_is
        USING (line, account_id, amount)
    WHERE was.line IS NULL OR now_is.line IS NULL;
    IF FOUND OR NOT EXISTS (
        SELECT FROM wallet_journal AS j JOIN wallet_journal AS was ON was.id = reverses
        WHERE j.id = journal AND was.round_id IS NOT DISTINCT FROM j.round_id) THEN
        RAISE EXCEPTION 'journal % is not the opposite of %', journal, reverses USING ERRCODE = 'SB004';
    END IF;
    INSERT INTO wallet_reversal (journal_id, by_id) VALUES (reverses, journal);
END $$;
REVOKE ALL ON FUNCTION wallet_record_reversal FROM PUBLIC;

-- Return the SHA-256 of what a journal asks for, to compare a repeated request with the first one.
-- `accounts`, `amounts`: those of the lines, in order, as the text of an array.
CREATE OR REPLACE FUNCTION wallet_request_hash(kind text, round_id uuid, reverses bigint, accounts text, amounts text) RETURNS bytea
LANGUAGE sql STABLE AS $$
    SELECT sha256(convert_to(
        kind || '|' || coalesce(round_id::text, '') || '|' || coalesce(reverses::text, '') || '|' || accounts || '|' || amounts,
        'UTF8'))
$$;

-- Return whether a journal of this kind may have a line on an account of this kind: the closed set
-- of movements. `into`: whether the line is a credit.
-- Reversals are not asked: they are the exact opposite of a journal that was allowed.
-- Without SET, so that PostgreSQL inlines it.
CREATE OR REPLACE FUNCTION wallet_line_fits(journal_kind text, account_kind text, mode text, into_it boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE journal_kind
        WHEN 'deposit' THEN mode = 'R' AND (account_kind = 'cash' AND into_it OR account_kind = 'cashier' AND NOT into_it)
        WHEN 'deposit_held' THEN account_kind = 'refund' AND into_it OR account_kind = 'cashier' AND NOT into_it
        WHEN 'deposit_returned' THEN account_kind = 'refund' AND NOT into_it OR account_kind = 'cashier' AND into_it
        WHEN 'deposit_released' THEN account_kind = 'refund' AND NOT into_it
            OR mode = 'R' AND account_kind = 'cash' AND into_it
        WHEN 'withdraw' THEN account_kind = 'cash' AND NOT into_it OR account_kind = 'pending' AND into_it
        WHEN 'withdraw_paid' THEN account_kind = 'pending' AND NOT into_it OR account_kind = 'cashier' AND into_it
        WHEN 'withdraw_returned' THEN account_kind = 'pending' AND NOT into_it OR account_kind = 'cash' AND into_it
        WHEN 'top_up' THEN mode = 'F' AND (account_kind = 'cash' AND into_it OR account_kind = 'mint' AND NOT into_it)
        WHEN 'rebuy' THEN account_kind = 'cash' AND NOT into_it OR account_kind = 'purse' AND into_it
        WHEN 'leave' THEN account_kind = 'purse' AND NOT into_it OR account_kind = 'cash' AND into_it
        -- A stake that was too much at Chemin de Fer returns as a stake with opposite signs.
        WHEN 'stake' THEN account_kind IN ('cash', 'purse', 'seat', 'stakes') OR account_kind = 'escrow' AND into_it
        WHEN 'held_stake' THEN account_kind IN ('cash', 'purse') AND NOT into_it OR account_kind = 'escrow' AND into_it
        WHEN 'settle' THEN account_kind IN ('escrow', 'house', 'stakes', 'bank')
            OR account_kind IN ('cash', 'purse', 'seat') AND into_it
        WHEN 'bank' THEN account_kind IN ('cash', 'seat') AND NOT into_it OR account_kind = 'bank' AND into_it
        WHEN 'bank_back' THEN account_kind = 'bank' AND NOT into_it OR account_kind IN ('cash', 'seat') AND into_it
        WHEN 'bank_won' THEN account_kind = 'bank' AND NOT into_it OR account_kind IN ('cash', 'seat') AND into_it
        WHEN 'seat_funded' THEN mode = 'F' AND account_kind IN ('seat', 'mint')
        WHEN 'void_transfer' THEN account_kind IN ('cash', 'purse', 'bank')
        WHEN 'void_shortfall' THEN account_kind = 'house' AND NOT into_it
            OR account_kind IN ('cash', 'purse', 'bank', 'seat') AND into_it
        WHEN 'studio_stake' THEN account_kind = 'cash' AND NOT into_it OR account_kind = 'studio' AND into_it
        WHEN 'studio_win' THEN account_kind = 'studio' AND NOT into_it OR account_kind = 'cash' AND into_it
        WHEN 'operator_bet' THEN account_kind = 'operator' AND NOT into_it OR account_kind = 'cash' AND into_it
        WHEN 'operator_return' THEN account_kind = 'cash' AND NOT into_it OR account_kind = 'operator' AND into_it
        WHEN 'adjustment' THEN account_kind IN ('cash', 'adjusted')
        ELSE false
    END
$$;

-- Mark that a function of the ledger writes from now on, and that it has ended. Triggers refuse
-- every other statement on the ledger, on balances and on daily totals, to keep the owner of the
-- tables from a mistake. The login role has no right to write these tables, whatever it sets here.
CREATE OR REPLACE FUNCTION wallet_begin_writing() RETURNS text
LANGUAGE sql AS $$ SELECT set_config('sabot.writer', 'wallet', true) $$;
CREATE OR REPLACE FUNCTION wallet_end_writing() RETURNS text
LANGUAGE sql AS $$ SELECT set_config('sabot.writer', '', true) $$;

-- Refuse a statement that is not one of the functions of the ledger, or of a trigger on wallet_hold,
-- which changes `held` of accounts. Trigger function, BEFORE each statement that writes balances,
-- daily totals, journals, entries, keys or reversals.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION wallet_refuse_other_writers() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('sabot.writer', true) IS DISTINCT FROM 'wallet'
       AND NOT (TG_TABLE_NAME = 'wallet_account' AND pg_trigger_depth() > 1) THEN
        RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

-- Refuse journals that do not sum to zero in each currency and mode.
-- `journals`: ids, with their entries; NULL elements are ignored.
-- Raises SB003.
CREATE OR REPLACE FUNCTION wallet_refuse_unbalanced(journals bigint[]) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    wrong record;
BEGIN
    SELECT e.journal_id, e.currency, e.mode, sum(e.amount) AS total INTO wrong
    FROM wallet_entry AS e WHERE e.journal_id = ANY (journals)
    GROUP BY e.journal_id, e.currency, e.mode HAVING sum(e.amount) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'journal %: % % sums to %', wrong.journal_id, wrong.currency, wrong.mode, wrong.total
            USING ERRCODE = 'SB003';
    END IF;
END $$;

-- Write journals in order, all or none, each once per idempotency key. The ledger has two more
-- writers, wallet_write_round and wallet_settle_holds: triggers refuse every other statement.
-- `journals`: a JSON array of
--   {"key": uuid, "kind": text, "round": uuid or null, "reverses": journal id or absent,
--    "lines": [[account id, currency, mode, amount in minor units], ...]}
-- `by_application`: whether the application posts them (wallet_post), not a function of the games.
-- Returns one row per line: the journal's number in the array (from 1), journal id, whether the
-- key had posted it before (`repeated`), account id, and balance after the line (NULL on house
-- accounts). Lines of one account come in order.
-- A known key returns the first answer and writes nothing.
-- Raises SB002 if a key posted something else, SB003 if a journal does not sum to zero in each
-- currency and mode, SB004 for a reversal that is not exact, SB006 for a limit, SB009 for a line that
-- such a journal may not have, SB010 if money would pass between players, SB040 while the house is
-- stopped, check_violation (23514, wallet_account_covered) for lack of money, foreign_key_violation
-- (23503, wallet_entry_account) for an unknown account, unique_violation (23505,
-- wallet_reversal_pkey), and SB034 at commit.
-- Locks the keys first: a second caller with the same key waits, and then finds the first caller's
-- journal. Then it locks the accounts in ascending order of id, and last the limits and days of players in
-- ascending order of player, as wallet_settle_holds does, so that callers do not deadlock. The orders of
-- accounts and of players differ: an account is opened when it is needed.
--
-- Within one account, credits of reversals come before debits of reversals. So one call can void a
-- settled coup: its stakes return from the bank and the winners before they go back to the players.
-- Other lines keep the order of the journals, because a stake must be covered before its payout.
-- The settings keep the plan on index look-ups even when a new database has no statistics.
CREATE OR REPLACE FUNCTION wallet_write(journals jsonb, by_application boolean)
RETURNS TABLE (journal_number integer, journal bigint, repeated boolean, account bigint, balance bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    now_is timestamptz := clock_timestamp();
    -- Of each journal; the id is NULL if the key is known.
    ids bigint[];
    keys uuid[];
    kinds text[];
    rounds uuid[];
    reverses bigint[];
    money text[];  -- currency and mode of its lines
    sums bigint[];
    owners bigint[];  -- the first owner of its lines, 0 for a house player
    of_several bigint[];  -- ids of journals with lines of several owners
    -- Of each line that may count in a player's day.
    counted integer[];
    players bigint[];
    accounts bigint[];
    amounts bigint[];
    is_bound boolean := false;  -- whether an account accepts only certain journals
    is_mixed boolean := false;  -- whether a journal has several currencies or modes
    body jsonb;
    hash bytea;
    new_id bigint;
    line record;
    version bigint;
    writer text := wallet_begin_writing();
BEGIN
    FOR n IN 1 .. jsonb_array_length(journals) LOOP
        body := journals -> (n - 1);
        keys[n] := (body ->> 'key')::uuid;
        kinds[n] := body ->> 'kind';
        rounds[n] := (body ->> 'round')::uuid;
        reverses[n] := (body ->> 'reverses')::bigint;
        sums[n] := 0;
        IF jsonb_array_length(body -> 'lines') = 0 THEN
            RAISE EXCEPTION 'journal % has no lines', n USING ERRCODE = 'SB003';
        END IF;
        IF kinds[n] IN ('stake', 'bank', 'top_up', 'studio_stake') AND reverses[n] IS NULL AND wallet_is_stopped() THEN
            RAISE EXCEPTION 'the house is stopped' USING ERRCODE = 'SB040';
        END IF;
        hash := wallet_request_hash(
            kinds[n], rounds[n], reverses[n],
            translate(jsonb_path_query_array(body, '$.lines[*][0]')::text, '[] ', '{}'),
            translate(jsonb_path_query_array(body, '$.lines[*][3]')::text, '[] ', '{}'));
        INSERT INTO wallet_posting_key AS k (key, request_hash, journal_id)
        VALUES (keys[n], hash, nextval('wallet_journal_id_seq')) ON CONFLICT DO NOTHING
        RETURNING k.journal_id INTO new_id;
        ids[n] := new_id;
        IF new_id IS NOT NULL THEN
            INSERT INTO wallet_journal (id, key, request_hash, kind, round_id, reverses_id, at)
            VALUES (new_id, keys[n], hash, kinds[n], rounds[n], reverses[n], now_is);
        ELSIF EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = keys[n] AND k.request_hash <> hash) THEN
            RAISE EXCEPTION 'this key has posted something else' USING ERRCODE = 'SB002';
        END IF;
    END LOOP;

    FOR line IN
        SELECT each.*, a.id AS found, a.kind, a.owner_id, a.subject_id, a.balance IS NULL AS is_house
        FROM (SELECT j.n::integer AS n, l.n::integer AS number, (l.line ->> 0)::bigint AS account, l.line ->> 1 AS currency,
                     l.line ->> 2 AS mode, (l.line ->> 3)::bigint AS amount
              FROM jsonb_array_elements(journals) WITH ORDINALITY AS j (body, n),
                   jsonb_array_elements(j.body -> 'lines') WITH ORDINALITY AS l (line, n)
              WHERE ids[j.n] IS NOT NULL) AS each
        LEFT JOIN wallet_account AS a ON a.id = each.account AND a.currency = each.currency AND a.mode = each.mode
        ORDER BY each.account, reverses[each.n] IS NOT NULL AND each.amount < 0, each.n, each.number
    LOOP
        IF line.found IS NULL THEN
            RAISE EXCEPTION 'there is no account % in % %', line.account, line.currency, line.mode
                USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'wallet_entry_account';
        END IF;
        IF (CASE WHEN reverses[line.n] IS NOT NULL THEN kinds[line.n] NOT IN ('void', 'studio_rollback')
                 ELSE NOT wallet_line_fits(kinds[line.n], line.kind, line.mode, line.amount > 0) END)
           OR by_application AND kinds[line.n] NOT IN (
               'withdraw', 'withdraw_paid', 'withdraw_returned', 'rebuy', 'leave', 'studio_stake', 'studio_win', 'studio_rollback',
               'operator_bet', 'operator_return', 'void', 'void_transfer', 'void_shortfall') THEN
            RAISE EXCEPTION 'a % moves no % account like this', kinds[line.n], line.kind USING ERRCODE = 'SB009';
        END IF;
        sums[line.n] := sums[line.n] + line.amount;
        is_mixed := is_mixed OR coalesce(money[line.n] <> line.currency || line.mode, false);
        money[line.n] := line.currency || line.mode;
        balance := NULL;
        version := NULL;
        IF line.is_house THEN
            is_bound := is_bound OR line.kind IN ('adjusted', 'studio', 'operator');
        ELSE
            UPDATE wallet_account AS a SET balance = a.balance + line.amount, version = a.version + 1
            WHERE a.id = line.account RETURNING a.balance, a.version INTO balance, version;
            IF line.subject_id IS NOT NULL THEN
                is_bound := true;
            ELSIF line.mode = 'R' THEN
                counted := counted || line.n;
                players := players || line.owner_id;
                accounts := accounts || line.account;
                amounts := amounts || line.amount;
            END IF;
            IF line.kind <> 'stakes' THEN
                IF owners[line.n] <> coalesce(line.owner_id, 0) THEN
                    of_several := of_several || ids[line.n];
                END IF;
                owners[line.n] := coalesce(line.owner_id, 0);
            END IF;
        END IF;
        INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount, balance_after, version)
        VALUES (ids[line.n], line.number, line.account, line.currency, line.mode, line.amount, balance, version);
        journal_number := line.n;
        journal := ids[line.n];
        repeated := false;
        account := line.account;
        RETURN NEXT;
    END LOOP;

    IF is_mixed THEN
        PERFORM wallet_refuse_unbalanced(ids);
    END IF;
    IF is_bound THEN
        PERFORM wallet_refuse_bound(ids);
    END IF;
    IF of_several IS NOT NULL THEN
        PERFORM wallet_refuse_gifts(of_several);
    END IF;
    FOR n IN 1 .. cardinality(ids) LOOP
        IF ids[n] IS NULL THEN
            RETURN QUERY
            SELECT n, e.journal_id, true, e.account_id, e.balance_after
            FROM wallet_posting_key AS k JOIN wallet_entry AS e ON e.journal_id = k.journal_id
            WHERE k.key = keys[n] ORDER BY e.line;
            CONTINUE;
        END IF;
        IF sums[n] <> 0 THEN
            RAISE EXCEPTION 'journal % sums to %', ids[n], sums[n] USING ERRCODE = 'SB003';
        END IF;
        IF reverses[n] IS NOT NULL THEN
            PERFORM wallet_record_reversal(ids[n], reverses[n]);
        END IF;
    END LOOP;
    IF cardinality(counted) > 1 THEN
        SELECT array_agg(c.n ORDER BY c.player, c.n, c.i), array_agg(c.player ORDER BY c.player, c.n, c.i),
               array_agg(c.account ORDER BY c.player, c.n, c.i), array_agg(c.amount ORDER BY c.player, c.n, c.i)
        INTO counted, players, accounts, amounts
        FROM unnest(counted, players, accounts, amounts) WITH ORDINALITY AS c (n, player, account, amount, i);
    END IF;
    FOR i IN 1 .. coalesce(cardinality(counted), 0) LOOP
        PERFORM wallet_count(
            ids[counted[i]], kinds[counted[i]], keys[counted[i]], rounds[counted[i]], reverses[counted[i]], now_is, players[i],
            accounts[i], amounts[i]);
    END LOOP;
    writer := wallet_end_writing();
END $$;
REVOKE ALL ON FUNCTION wallet_write FROM PUBLIC;

-- Post journals for the application: wallet_write, but only the kinds that it names. Stakes and settlements
-- are written by the functions of the games, which compare them with stored rounds; payments.sql and
-- adjustments.sql have the others.
-- Arguments, result and errors are those of wallet_write.
CREATE OR REPLACE FUNCTION wallet_post(journals jsonb)
RETURNS TABLE (journal_number integer, journal bigint, repeated boolean, account bigint, balance bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT * FROM wallet_write(journals, true)
$$;
REVOKE ALL ON FUNCTION wallet_post FROM PUBLIC;

-- Write the two journals of a round that one player plays alone: the stake into escrow, and the
-- settlement out of it. They are what wallet_write would write, in one statement.
-- `account`: the cash account or purse of the player `owner`, which the caller has locked and whose
-- currency, mode and owner it has read. `time_zone`: of the player's jurisdiction. `staked`, `paid`:
-- minor units, `staked` above zero.
-- Returns the balance after the settlement.
-- Raises SB040 if the house is stopped, SB006 for a stake above a limit, and check_violation (23514,
-- wallet_account_covered) for a stake above the balance.
-- Locks the limits of the player.
--
-- The journals have no idempotency key: the caller stores the round in the same transaction, and its
-- primary key refuses it a second time.
CREATE OR REPLACE FUNCTION wallet_write_round(
    round uuid, account bigint, owner bigint, currency text, mode text, time_zone text, staked bigint, paid bigint
) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    now_is timestamptz := clock_timestamp();
    on_day date := (now_is AT TIME ZONE time_zone)::date;
    counted bigint := 0;  -- the part of the stake that has been counted
    balance bigint;
    is_stopped boolean;
    is_limited boolean;
    done text;
BEGIN
    done := wallet_hold_off_stops();
    IF mode = 'R' THEN
        done := players_lock_limits(owner);
    END IF;
    SELECT EXISTS (SELECT FROM wallet_housestop AS s WHERE s.ended_at IS NULL),
           mode = 'R' AND EXISTS (
               SELECT FROM players_limitchange AS c WHERE c.player_id = owner AND c.kind = ANY (wallet_limits_on('stake')))
    INTO is_stopped, is_limited;
    IF is_stopped THEN
        RAISE EXCEPTION 'the house is stopped' USING ERRCODE = 'SB040';
    END IF;
    done := wallet_begin_writing();
    IF is_limited THEN
        INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
        VALUES (owner, on_day, 0, 0, staked, 0)
        ON CONFLICT (player_id, day) DO UPDATE SET staked = d.staked + excluded.staked;
        counted := staked;
        PERFORM wallet_refuse_beyond(owner, on_day, 'stake', staked);
    END IF;

    WITH house AS MATERIALIZED (
        SELECT max(h.id) FILTER (WHERE h.kind = 'escrow') AS escrow, max(h.id) FILTER (WHERE h.kind = 'house') AS house
        FROM wallet_account AS h
        WHERE h.owner_id IS NULL AND h.kind IN ('escrow', 'house') AND h.currency = currency AND h.mode = mode
            AND h.subject_id IS NULL
    ), updated AS (
        UPDATE wallet_account AS a
        SET balance = a.balance - staked + paid, version = a.version + CASE WHEN paid > 0 THEN 2 ELSE 1 END
        WHERE a.id = account AND a.balance - a.held >= staked
        RETURNING a.balance, old.balance - staked AS balance_staked, old.version
    ), journal AS (
        INSERT INTO wallet_journal AS j (kind, round_id, at)
        VALUES ('stake', round, now_is), ('settle', round, now_is) RETURNING j.id, j.kind
    ), entry AS (
        INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount, balance_after, version)
        SELECT j.id, line.n, line.account, currency, mode, line.amount, line.balance, line.version
        FROM house CROSS JOIN updated CROSS JOIN LATERAL (VALUES
            ('stake', 1, account, -staked, updated.balance_staked, updated.version + 1),
            ('stake', 2, house.escrow, staked, NULL, NULL),
            ('settle', 1, house.escrow, -staked, NULL, NULL),
            ('settle', 2, account, paid, updated.balance, updated.version + 2),
            ('settle', CASE WHEN paid > 0 THEN 3 ELSE 2 END, house.house, staked - paid, NULL, NULL)
        ) AS line (kind, n, account, amount, balance, version)
        JOIN journal AS j ON j.kind = line.kind
        WHERE line.amount <> 0
    ), day AS (
        INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
        SELECT owner, on_day, 0, 0, staked - counted, paid WHERE mode = 'R'
        ON CONFLICT (player_id, day) DO UPDATE SET staked = d.staked + excluded.staked, paid = d.paid + excluded.paid
    )
    SELECT updated.balance INTO balance FROM updated;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'account % does not cover a stake of %', account, staked
            USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_account_covered', TABLE = 'wallet_account';
    END IF;
    done := wallet_end_writing();
    RETURN balance;
END $$;
REVOKE ALL ON FUNCTION wallet_write_round FROM PUBLIC;

-- Refuse what the house adds to players' accounts for the void of a round, unless the reversals of the
-- round in the same transaction take at least as much from each account.
-- `journal`: a journal of kind void_shortfall.
-- Raises SB009.
CREATE OR REPLACE FUNCTION wallet_check_shortfall(journal wallet_journal) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM (
        SELECT sum(e.amount) FILTER (WHERE j.kind = 'void_shortfall') AS added,
               sum(e.amount) FILTER (WHERE j.reverses_id IS NOT NULL) AS reversed
        FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
        WHERE j.round_id = journal.round_id AND j.xid = journal.xid AND e.version IS NOT NULL GROUP BY e.account_id
    ) AS own WHERE own.added > -coalesce(own.reversed, 0);
    IF FOUND OR journal.round_id IS NULL THEN
        RAISE EXCEPTION 'journal % adds more than the void of round % takes', journal.id, journal.round_id
            USING ERRCODE = 'SB009';
    END IF;
END $$;
REVOKE ALL ON FUNCTION wallet_check_shortfall FROM PUBLIC;

-- Post the exact opposite of each journal, for the same round, all or none.
-- `keys[i]`: idempotency key for the reversal of `journals[i]`. `kind`: kind of the new journals, void or
-- studio_rollback.
-- Returns rows as wallet_write does.
-- Raises SB005 if a journal does not exist or none is named, unique_violation (23505,
-- wallet_reversal_pkey) if one was reversed under another key, and the errors of wallet_write.
CREATE OR REPLACE FUNCTION wallet_reverse(journals bigint[], keys uuid[], kind text)
RETURNS TABLE (journal_number integer, posted bigint, repeated boolean, account bigint, balance bigint)
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
    IF requests IS NULL OR jsonb_array_length(requests) <> cardinality(journals) THEN
        RAISE EXCEPTION 'not all of the journals % are there', journals USING ERRCODE = 'SB005';
    END IF;
    RETURN QUERY SELECT * FROM wallet_write(requests, true);
END $$;
REVOKE ALL ON FUNCTION wallet_reverse FROM PUBLIC;
