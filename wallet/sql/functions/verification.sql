-- Verification of the ledger. Every journal is verified once with its entries, its key and its round, in
-- ranges of ids: its row says how far. What is verified never changes, so a checkpoint keeps a
-- fingerprint of it, and later verifications compare that instead of verifying it again.
--
--   SB140 no such verification, or it has ended

-- Kinds of accounts, in the order of the bits of wallet_movement_bit.
CREATE OR REPLACE FUNCTION wallet_account_kinds() RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY['cash', 'purse', 'pending', 'bank', 'stakes', 'seat', 'escrow', 'house', 'cashier', 'mint', 'adjusted',
                 'studio', 'operator', 'refund']
$$;

-- Return the number of the bit that stands for a credit of an account of this kind and mode; the next bit
-- stands for a debit. NULL for an unknown kind.
CREATE OR REPLACE FUNCTION wallet_movement_bit(account_kind text, mode text) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
    SELECT 4 * array_position(wallet_account_kinds(), account_kind) - 4 + CASE mode WHEN 'R' THEN 0 WHEN 'F' THEN 2 END
$$;

-- Return the bits of all lines that a journal of this kind may have; 0 for a kind that does not exist.
CREATE OR REPLACE FUNCTION wallet_movements_of(journal_kind text) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(bit_or(1::bigint << wallet_movement_bit(account_kind, mode) + (NOT into_it)::integer), 0)
    FROM unnest(wallet_account_kinds()) AS account_kind, unnest(ARRAY['R', 'F']) AS mode,
         unnest(ARRAY[true, false]) AS into_it
    WHERE wallet_line_fits(journal_kind, account_kind, mode, into_it)
$$;

-- Begin a verification, or continue one that was interrupted; return its id, and the range of ids of
-- journals that it has to read.
-- `from_start`: verify every journal. `forgets`: forget the checkpoint too, so that rows that have changed
-- since they were verified are accepted if nothing else is wrong with them.
-- The range begins at the end of an earlier verification that found nothing. A transaction
-- may have drawn an id before that end and committed after it was read. So an end counts when all
-- transactions that had begun before are over; a minute is allowed for one that had drawn its id and had
-- no transaction id yet.
-- Locks advisory lock (1027, 1).
CREATE OR REPLACE FUNCTION wallet_begin_verification(from_start boolean, forgets boolean)
RETURNS TABLE (verification bigint, first bigint, beyond bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    last bigint := (SELECT greatest((SELECT max(j.id) FROM wallet_journal AS j), (SELECT max(e.journal_id) FROM wallet_entry AS e), 0) + 1);
    part bigint := (SELECT coalesce(max(p.id), 0) + 1 FROM games_participation AS p);
    verified_until bigint := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(1027, 1);  -- only one begins
    IF forgets THEN
        DELETE FROM ledger_checkpoint;
    END IF;
    -- A verification with findings starts again, so that it reports them again. Old verifications are not needed.
    DELETE FROM ledger_verification AS v
    WHERE v.ended_at IS NULL AND (v.broken > 0 OR from_start) OR v.ended_at < clock_timestamp() - interval '3 days'
        AND v.beyond < (SELECT max(done.beyond) FROM ledger_verification AS done WHERE done.ended_at IS NOT NULL AND done.broken = 0);
    RETURN QUERY SELECT v.id, v.next, v.beyond FROM ledger_verification AS v WHERE v.ended_at IS NULL;
    IF FOUND THEN
        RETURN;
    END IF;
    IF NOT from_start THEN
        SELECT coalesce(max(done.beyond), 0) INTO verified_until FROM ledger_verification AS done
        WHERE done.broken = 0 AND audit_is_past(done.transaction) AND done.began_at < clock_timestamp() - interval '1 minute';
    END IF;
    RETURN QUERY
    INSERT INTO ledger_verification AS v (next, beyond, participation, transaction, began_at, ended_at, broken)
    VALUES (verified_until, greatest(last, verified_until), part, pg_current_xact_id()::text::bigint, clock_timestamp(),
            CASE WHEN last <= verified_until THEN clock_timestamp() END, 0)
    RETURNING v.id, v.next, v.beyond;
END $$;
REVOKE ALL ON FUNCTION wallet_begin_verification FROM PUBLIC;

-- Verify the next journals of a verification and note how far it is; the last call ends it.
-- `most`: how many ids the range has; ids without a journal are left out before it. `chains`: whether to
-- compare numbers and balances of entries too, which wallet_verify_totals does for all accounts.
-- Returns one row for each finding: the name of the invariant, and a sentence. `next`: the first id that is
-- not verified yet. `broken`: how many findings there were before, of this and other processes. Both are in every
-- row, and in one row without a finding if there is no difference.
-- Raises SB140 if there is no such verification or it has ended.
CREATE OR REPLACE FUNCTION wallet_verify_next(verification bigint, most bigint, chains boolean)
RETURNS TABLE (next bigint, broken bigint, invariant text, finding text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    run ledger_verification;
    low bigint;
    high bigint;
    found_rows bigint;
BEGIN
    SELECT v.* INTO run FROM ledger_verification AS v WHERE v.id = verification AND v.ended_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'verification % has ended', verification USING ERRCODE = 'SB140';
    END IF;
    -- An entry without a journal is in the range too.
    low := least((SELECT min(j.id) FROM wallet_journal AS j WHERE j.id >= run.next),
                 (SELECT min(e.journal_id) FROM wallet_entry AS e WHERE e.journal_id >= run.next));
    low := least(low, run.beyond);
    high := least(low + most, run.beyond);
    RETURN QUERY
    SELECT high, run.broken, f.* FROM wallet_verify_journals(low, high) AS f
    UNION ALL
    SELECT high, run.broken, f.* FROM wallet_verify_chains(low, high) AS f WHERE chains;
    GET DIAGNOSTICS found_rows = ROW_COUNT;
    UPDATE ledger_verification AS v SET next = high, broken = v.broken + found_rows,
        ended_at = CASE WHEN high >= run.beyond THEN clock_timestamp() END
    WHERE v.id = verification;
    IF found_rows = 0 THEN
        RETURN QUERY SELECT high, run.broken, NULL::text, NULL::text;
    END IF;
END $$;
REVOKE ALL ON FUNCTION wallet_verify_next FROM PUBLIC;

-- Verify the journals with ids from `low` to below `high`, with their entries, keys and rounds.
-- Returns one sentence for each finding, with the name of the invariant (wallet/invariants/).
--
-- One statement reads each row once and collects what is wrong; sentences are made for those rows only.
-- The permissions of an account in a journal are bits, so that a journal is compared with its kind by one `&`.
CREATE OR REPLACE FUNCTION wallet_verify_journals(low bigint, high bigint)
RETURNS TABLE (invariant text, finding text)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan
SET work_mem = '128MB' SET jit = off SET max_parallel_workers_per_gather = 0 SET enable_mergejoin = off AS $$
DECLARE
    wrong bigint[];  -- ids of journals with something wrong
    escrowed uuid[];  -- rounds whose lines in the range do not cancel out in escrow
    several uuid[];  -- rounds with several players
    rounds uuid[];
    players bigint[];
    stakes bigint[];
    payouts bigint[];
BEGIN
    WITH account AS MATERIALIZED (
        SELECT a.id, a.currency, a.mode, hashtext(a.currency || a.mode) AS money, a.balance IS NULL AS is_house,
               wallet_movement_bit(a.kind, a.mode) AS bit, a.kind = 'escrow' AS is_escrow, a.owner_id AS player,
               CASE WHEN a.balance IS NOT NULL AND a.kind <> 'stakes' THEN coalesce(a.owner_id, 0) END AS owner
        FROM wallet_account AS a
    ), journal AS MATERIALIZED (
        SELECT j.id, j.kind, j.round_id, j.reverses_id IS NULL AS is_forward, s.player, s.other_player, s.player_amount, s.escrowed,
               (j.id = s.journal_id AND s.sum = 0 AND s.of_one AND s.fits AND s.first = 1 AND s.last = s.lines
                AND (s.owner = s.other_owner) IS NOT FALSE
                AND (j.round_id IS NOT NULL OR j.kind NOT IN ('stake', 'held_stake', 'settle')) AND j.at < clock_timestamp() + interval '1 hour'
                AND CASE WHEN j.key IS NULL THEN j.request_hash IS NULL AND j.kind IN ('stake', 'settle') AND j.reverses_id IS NULL
                    ELSE j.request_hash = wallet_request_hash(j.kind, j.round_id, j.reverses_id, s.accounts, s.amounts) END) IS TRUE
                   AS is_sound,
               coalesce(s.moves, -1) AS moves, coalesce(j.id, s.journal_id) AS any_id
        FROM (SELECT * FROM wallet_journal AS j WHERE j.id >= low AND j.id < high) AS j
        FULL JOIN (
            SELECT e.journal_id, count(*) AS lines, min(e.line) AS first, max(e.line) AS last, sum(e.amount) AS sum,
                   bool_and((e.currency = a.currency AND e.mode = a.mode AND (e.version IS NULL) = a.is_house
                             AND (e.balance_after IS NULL) = a.is_house AND coalesce(e.balance_after, 0) >= 0) IS TRUE) AS fits,
                   min(a.money) = max(a.money) AS of_one, min(a.owner) AS owner, max(a.owner) AS other_owner,
                   min(a.player) AS player, max(a.player) AS other_player,
                   bit_or(1::bigint << a.bit + (e.amount < 0)::integer) AS moves,
                   array_agg(e.account_id ORDER BY e.line)::text AS accounts, array_agg(e.amount ORDER BY e.line)::text AS amounts,
                   sum(e.amount) FILTER (WHERE a.player IS NOT NULL)::bigint AS player_amount,
                   sum(e.amount) FILTER (WHERE a.is_escrow)::bigint AS escrowed
            FROM wallet_entry AS e LEFT JOIN account AS a ON a.id = e.account_id
            WHERE e.journal_id >= low AND e.journal_id < high GROUP BY e.journal_id
        ) AS s ON s.journal_id = j.id
    ), rule AS MATERIALIZED (
        SELECT each.kind, ~wallet_movements_of(each.kind) AS refuses FROM (SELECT DISTINCT j.kind FROM journal AS j) AS each
    ), round AS MATERIALIZED (
        SELECT j.round_id, min(j.player) AS player, max(j.other_player) AS other_player,
               coalesce(sum(j.escrowed), 0) AS escrowed,
               coalesce(-sum(j.player_amount) FILTER (WHERE j.is_forward AND j.kind IN ('stake', 'held_stake')), 0)::bigint AS staked,
               coalesce(sum(j.player_amount) FILTER (WHERE j.is_forward AND j.kind = 'settle'), 0)::bigint AS paid,
               bool_or(j.is_forward AND j.kind IN ('stake', 'held_stake', 'settle')) AS is_played
        FROM journal AS j GROUP BY j.round_id
    )
    SELECT (SELECT array_agg(j.any_id) FROM journal AS j LEFT JOIN rule AS r ON r.kind = j.kind
            WHERE NOT j.is_sound OR j.moves & r.refuses <> 0 AND j.is_forward),
           (SELECT array_agg(r.round_id) FROM round AS r WHERE r.escrowed <> 0),
           (SELECT array_agg(r.round_id) FROM round AS r WHERE r.is_played AND r.player <> r.other_player),
           played.*
    INTO wrong, escrowed, several, rounds, players, stakes, payouts
    FROM (SELECT array_agg(r.round_id), array_agg(r.player), array_agg(r.staked), array_agg(r.paid) FROM round AS r
          WHERE r.is_played AND (r.player = r.other_player) IS NOT FALSE) AS played;

    IF several IS NOT NULL THEN
        SELECT rounds || array_agg(each.round_id), players || array_agg(each.owner_id), stakes || array_agg(each.staked),
               payouts || array_agg(each.paid)
        INTO rounds, players, stakes, payouts
        FROM (SELECT j.round_id, a.owner_id,
                     coalesce(-sum(e.amount) FILTER (WHERE j.kind IN ('stake', 'held_stake')), 0)::bigint AS staked,
                     coalesce(sum(e.amount) FILTER (WHERE j.kind = 'settle'), 0)::bigint AS paid
              FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
              JOIN wallet_account AS a ON a.id = e.account_id AND a.owner_id IS NOT NULL
              WHERE j.id >= low AND j.id < high AND j.round_id = ANY (several) AND j.reverses_id IS NULL
                AND j.kind IN ('stake', 'held_stake', 'settle')
              GROUP BY j.round_id, a.owner_id) AS each;
    END IF;
    RETURN QUERY SELECT f.* FROM games_verify_rounds(rounds, players, stakes, payouts) AS f;
    RETURN QUERY SELECT f.* FROM unnest(wrong) AS each (id) CROSS JOIN LATERAL wallet_journal_faults(each.id) AS f;
    RETURN QUERY
    SELECT 'escrow_is_empty', format('round %s: %s %s left in escrow: %s', coalesce(j.round_id::text, 'none'), e.currency, e.mode, sum(e.amount))
    FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
    JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'escrow'
    WHERE j.round_id = ANY (escrowed) OR j.round_id IS NULL AND array_position(escrowed, NULL) > 0 AND j.id >= low AND j.id < high
    GROUP BY j.round_id, e.currency, e.mode
    HAVING sum(e.amount) <> 0;
END $$;
REVOKE ALL ON FUNCTION wallet_verify_journals FROM PUBLIC;

-- Return what is wrong with a journal and its entries, one sentence for each fault with the name of the
-- invariant. The journal or its entries may be missing.
CREATE OR REPLACE FUNCTION wallet_journal_faults(journal bigint) RETURNS TABLE (invariant text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    WITH own AS (SELECT j.* FROM wallet_journal AS j WHERE j.id = journal), line AS (
        SELECT e.*, a.kind, a.currency AS due_currency, a.mode AS due_mode, a.balance IS NULL AS is_house,
               CASE WHEN a.balance IS NOT NULL AND a.kind <> 'stakes' THEN coalesce(a.owner_id, 0) END AS owner
        FROM wallet_entry AS e LEFT JOIN wallet_account AS a ON a.id = e.account_id WHERE e.journal_id = journal
    )
    SELECT 'journals_sum_to_zero', format('journal %s: %s %s sums to %s', journal, l.currency, l.mode, sum(l.amount))
    FROM line AS l GROUP BY l.currency, l.mode HAVING sum(l.amount) <> 0
    UNION ALL
    SELECT 'entries_have_homes', format('journal %s line %s: there is no such journal', journal, l.line)
    FROM line AS l WHERE NOT EXISTS (SELECT FROM own)
    UNION ALL
    SELECT 'entries_have_homes', format('journal %s: has no entries', journal) FROM own WHERE NOT EXISTS (SELECT FROM line)
    UNION ALL
    SELECT 'entries_have_homes', format('journal %s line %s: %s %s on account %s, which is %s %s',
            journal, l.line, l.currency, l.mode, l.account_id, l.due_currency, l.due_mode)
    FROM line AS l WHERE (l.currency, l.mode) IS DISTINCT FROM (l.due_currency, l.due_mode)
    UNION ALL
    SELECT 'entries_have_homes', format('journal %s: lines %s to %s, %s in all', journal, min(l.line), max(l.line), count(*))
    FROM line AS l HAVING min(l.line) <> 1 OR max(l.line) <> count(*)
    UNION ALL
    SELECT 'chains_are_unbroken', format('journal %s line %s on account %s: the house keeps no balance there', journal, l.line, l.account_id)
    FROM line AS l WHERE l.is_house AND (l.version IS NOT NULL OR l.balance_after IS NOT NULL)
    UNION ALL
    SELECT 'chains_are_unbroken', format('journal %s line %s on account %s: %s was moved past its balance', journal, l.line, l.account_id, l.amount)
    FROM line AS l WHERE NOT l.is_house AND (l.version IS NULL OR l.balance_after IS NULL)
    UNION ALL
    SELECT 'nothing_is_negative', format('journal %s line %s on account %s: balance %s', journal, l.line, l.account_id, l.balance_after)
    FROM line AS l WHERE l.balance_after < 0
    UNION ALL
    SELECT 'journals_are_of_a_known_kind', format('journal %s: a %s of %s moves no %s account like this: %s on account %s', journal, j.kind,
            j.at, l.kind, l.amount, l.account_id)
    FROM own AS j CROSS JOIN line AS l
    WHERE j.reverses_id IS NULL AND wallet_line_fits(j.kind, l.kind, l.mode, l.amount > 0) IS NOT TRUE
    UNION ALL
    SELECT 'adjustments_are_approved', format('journal %s: this %s is not an adjustment', journal, j.kind)
    FROM own AS j CROSS JOIN line AS l WHERE l.kind = 'adjusted' AND j.kind IN ('stake', 'settle')
    UNION ALL
    SELECT 'studios_move_what_they_said', format('journal %s: this %s moves the account of studios', journal, j.kind)
    FROM own AS j CROSS JOIN line AS l WHERE l.kind = 'studio' AND j.kind IN ('stake', 'settle')
    UNION ALL
    SELECT 'journals_have_rounds', format('journal %s: this %s moves %s on account %s for no round', journal, j.kind, l.amount, l.account_id)
    FROM own AS j CROSS JOIN line AS l WHERE j.kind IN ('stake', 'held_stake', 'settle') AND j.round_id IS NULL AND l.owner > 0
    UNION ALL
    SELECT 'journals_are_of_a_known_kind', format('journal %s: is dated %s', journal, j.at)
    FROM own AS j WHERE j.at >= clock_timestamp() + interval '1 hour'
    UNION ALL
    SELECT 'keys_match_journals', format('journal %s: its hash is not that of its contents', journal)
    FROM own AS j CROSS JOIN (
        SELECT array_agg(l.account_id ORDER BY l.line)::text AS accounts, array_agg(l.amount ORDER BY l.line)::text AS amounts
        FROM line AS l) AS asked
    WHERE j.key IS NOT NULL
      AND j.request_hash IS DISTINCT FROM wallet_request_hash(j.kind, j.round_id, j.reverses_id, asked.accounts, asked.amounts)
    UNION ALL
    SELECT 'keys_match_journals', format('journal %s: this %s has no posting key', journal, j.kind) FROM own AS j
    WHERE j.key IS NULL AND (j.kind NOT IN ('stake', 'settle') OR j.reverses_id IS NOT NULL OR j.request_hash IS NOT NULL)
    UNION ALL
    SELECT 'money_stays_with_its_owner', format('journal %s: this %s takes from account %s and gives to account %s', journal, j.kind,
            source.account_id, target.account_id)
    FROM own AS j LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
    JOIN line AS source ON source.amount < 0 JOIN line AS target ON target.amount > 0 AND target.owner <> source.owner
    WHERE (was.id IS NULL AND j.kind = 'settle' AND source.kind = 'bank'
           OR was.kind = 'settle' AND target.kind = 'bank') IS NOT TRUE
$$;
REVOKE ALL ON FUNCTION wallet_journal_faults FROM PUBLIC;

-- Compare entries of journals with ids from `low` to below `high` with those before them on the same account,
-- and every account with its last entry.
-- Returns one sentence for each finding, with the name of the invariant.
CREATE OR REPLACE FUNCTION wallet_verify_chains(low bigint, high bigint) RETURNS TABLE (invariant text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET work_mem = '128MB' AS $$
    WITH line AS (
        SELECT e.account_id, e.version, e.amount, e.balance_after, lag(e.version) OVER chain AS previous,
               lag(e.balance_after) OVER chain AS balance
        FROM wallet_entry AS e WHERE e.journal_id >= low AND e.journal_id < high AND e.version IS NOT NULL
        WINDOW chain AS (PARTITION BY e.account_id ORDER BY e.version)
    ), odd AS (
        SELECT l.account_id FROM line AS l JOIN wallet_account AS a ON a.id = l.account_id
        WHERE CASE
            WHEN l.version > a.version THEN false
            WHEN l.version = 1 THEN l.balance_after = l.amount
            WHEN l.version = l.previous + 1 THEN l.balance_after = l.balance + l.amount
            ELSE EXISTS (SELECT FROM wallet_entry AS p WHERE p.account_id = l.account_id AND p.version = l.version - 1
                         AND p.balance_after = l.balance_after - l.amount)
            END IS NOT TRUE
        UNION
        SELECT a.id FROM wallet_account AS a
        WHERE a.balance IS NOT NULL AND CASE a.version WHEN 0 THEN a.balance = 0 ELSE EXISTS (
            SELECT FROM wallet_entry AS e WHERE e.account_id = a.id AND e.version = a.version AND e.balance_after = a.balance)
            END IS NOT TRUE
    )
    SELECT f.* FROM odd CROSS JOIN LATERAL wallet_account_faults(odd.account_id) AS f
$$;
REVOKE ALL ON FUNCTION wallet_verify_chains FROM PUBLIC;

-- Compare what is summed up over all journals with what is stored: balances and chains of accounts, keys,
-- daily totals; and compare what was verified before with the checkpoint. Then move the checkpoint to the
-- newest verification whose end counts (wallet_begin_verification) and that is an hour old.
-- Returns one sentence for each finding, with the name of the invariant.
-- Locks advisory lock (1027, 2).
--
-- Sets of rows are compared by the XOR of a hash of each row, with a seed that nobody knew before. An
-- account's chain is unbroken if the hashes of (number, balance) after each entry and before it cancel out,
-- except the last one. Daily totals are compared by a sum with a random factor for each player, day and
-- column. Rows are named by another query, which runs only where something differs. OFFSET 0 has a hash computed
-- once for several sums.
CREATE OR REPLACE FUNCTION wallet_verify_totals() RETURNS TABLE (invariant text, finding text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan
SET work_mem = '256MB' SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
#variable_conflict use_column
DECLARE
    nil constant uuid := '00000000-0000-0000-0000-000000000000';
    old ledger_checkpoint;
    new ledger_checkpoint;
    seen ledger_checkpoint;  -- what the rows of the old checkpoint are now
    fresh bigint := (random() * 2 ^ 53)::bigint;
    wrong bigint[];  -- ids of accounts
    keys_differ boolean;
    days_differ boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(1027, 2);  -- only one at a time
    SELECT c.* INTO old FROM ledger_checkpoint AS c;
    SELECT v.beyond, v.participation, v.began_at - interval '1 hour' INTO new.beyond, new.participation, new.before
    FROM ledger_verification AS v
    WHERE v.broken = 0 AND v.ended_at IS NOT NULL AND audit_is_past(v.transaction)
        AND v.began_at < clock_timestamp() - interval '1 hour'
    ORDER BY v.beyond DESC, v.id DESC LIMIT 1;
    new.seed := coalesce(old.seed, fresh);
    new.beyond := coalesce(new.beyond, old.beyond, 0);
    new.participation := coalesce(new.participation, old.participation, 0);
    new.before := coalesce(new.before, old.before, '-infinity');

    WITH summed AS MATERIALIZED (
        SELECT e.account_id, count(*) AS entries, sum(e.amount) AS total, bit_xor(e.chain) AS chain,
               bit_xor(e.print) FILTER (WHERE e.journal_id < coalesce(old.beyond, 0)) AS old_print,
               bit_xor(e.print) FILTER (WHERE e.journal_id < new.beyond) AS new_print
        FROM (
            SELECT e.account_id, e.journal_id, e.amount,
                   hashint8extended(e.balance_after, e.version # fresh)
                       # hashint8extended(e.balance_after - e.amount, (e.version - 1) # fresh) AS chain,
                   hashtextextended(e.currency, hashint8extended(coalesce(e.version, -1), hashint8extended(e.amount,
                       e.account_id # hashint8extended(e.journal_id, new.seed + e.line * 256 + ascii(e.mode))))) AS print
            FROM wallet_entry AS e OFFSET 0) AS e
        GROUP BY e.account_id
    )
    SELECT (SELECT array_agg(coalesce(a.id, s.account_id)) FROM wallet_account AS a FULL JOIN summed AS s ON s.account_id = a.id
            WHERE CASE
                WHEN a.id IS NOT NULL AND a.balance IS NULL THEN false
                ELSE (a.balance = coalesce(s.total, 0) AND a.version = coalesce(s.entries, 0)
                      AND coalesce(s.chain, 0) = hashint8extended(a.balance, a.version # fresh) # hashint8extended(0, fresh))
                     IS NOT TRUE END),
           (SELECT coalesce(bit_xor(s.old_print), 0) FROM summed AS s), (SELECT coalesce(bit_xor(s.new_print), 0) FROM summed AS s)
    INTO wrong, seen.entries, new.entries;
    RETURN QUERY SELECT f.* FROM unnest(wrong) AS each (id) CROSS JOIN LATERAL wallet_account_faults(each.id) AS f;

    WITH part AS (
        SELECT count(j.key_print) AS journals, bit_xor(j.key_print) AS key_print,
               bit_xor(j.print) FILTER (WHERE j.id < coalesce(old.beyond, 0)) AS old_print,
               bit_xor(j.print) FILTER (WHERE j.id < new.beyond) AS new_print
        FROM (
            SELECT j.id, j.key_print,
                   timestamptz_hash_extended(j.at, uuid_hash_extended(coalesce(j.round_id, nil), hashtextextended(
                       j.kind, coalesce(j.reverses_id, 0) # coalesce(j.key_print, hashint8extended(j.id, new.seed))))) AS print
            FROM (
                SELECT j.id, j.at, j.round_id, j.kind, j.reverses_id,
                       uuid_hash_extended(j.key, hashbyteaextended(j.request_hash, hashint8extended(j.id, new.seed))) AS key_print
                FROM wallet_journal AS j OFFSET 0) AS j
            OFFSET 0) AS j
    ), key AS (
        SELECT count(*) AS keys,
               bit_xor(uuid_hash_extended(k.key, hashbyteaextended(k.request_hash, hashint8extended(k.journal_id, new.seed)))) AS print
        FROM wallet_posting_key AS k
    )
    SELECT (SELECT (k.keys, coalesce(k.print, 0)) <> (SELECT p.journals, coalesce(p.key_print, 0) FROM part AS p)
            FROM key AS k),
           (SELECT coalesce(p.old_print, 0) FROM part AS p), (SELECT coalesce(p.new_print, 0) FROM part AS p)
    INTO keys_differ, seen.journals, new.journals;
    IF keys_differ THEN
        RETURN QUERY
        SELECT 'keys_match_journals', format('posting key %s: has no journal %s', k.key, k.journal_id) FROM wallet_posting_key AS k
        WHERE NOT EXISTS (SELECT FROM wallet_journal AS j WHERE j.id = k.journal_id AND j.key = k.key)
        UNION ALL
        SELECT 'keys_match_journals', format('journal %s: its posting key %s is missing or names another journal', j.id, j.key)
        FROM wallet_journal AS j
        WHERE j.key IS NOT NULL
          AND NOT EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = j.key AND k.journal_id = j.id)
        UNION ALL
        SELECT 'keys_match_journals', format('journal %s: its hash is not that of posting key %s', j.id, j.key)
        FROM wallet_journal AS j JOIN wallet_posting_key AS k ON k.key = j.key AND k.journal_id = j.id
        WHERE j.request_hash <> k.request_hash;
    END IF;

    SELECT p.old_rounds, p.rounds, p.old_participations, p.participations
    INTO seen.rounds, new.rounds, seen.participations, new.participations
    FROM games_print(coalesce(old.participation, 0), new.participation, coalesce(old.before, '-infinity'), new.before, new.seed) AS p;

    WITH weighed AS (
        SELECT coalesce(sum(wallet_weigh_day(d.player_id, d.day, d.deposited, d.withdrawn, d.staked, d.paid, new.seed)), 0) AS sum
        FROM wallet_day AS d
    ), early AS MATERIALIZED (
        SELECT coalesce(sum(wallet_weigh_day(d.player_id, d.day, d.deposited, d.withdrawn, d.staked, d.paid, new.seed)), 0) AS sum
        FROM wallet_due_days(coalesce(old.beyond, 0), new.beyond) AS d
    ), late AS (
        SELECT coalesce(sum(wallet_weigh_day(d.player_id, d.day, d.deposited, d.withdrawn, d.staked, d.paid, new.seed)), 0) AS sum
        FROM wallet_due_days(new.beyond, 9223372036854775807) AS d
    )
    SELECT coalesce(old.days, 0) + early.sum, weighed.sum <> coalesce(old.days, 0) + early.sum + late.sum
    INTO new.days, days_differ FROM weighed, early, late;
    IF days_differ THEN
        RETURN QUERY
        SELECT 'days_are_sums', format('player %s on %s: counted %s, should be %s', player_id, day,
                      (d.deposited, d.withdrawn, d.staked, d.paid), (due.deposited, due.withdrawn, due.staked, due.paid))
        FROM wallet_due_days(0, 9223372036854775807) AS due FULL JOIN wallet_day AS d USING (player_id, day)
        WHERE (d.deposited, d.withdrawn, d.staked, d.paid)
              IS DISTINCT FROM (due.deposited, due.withdrawn, due.staked, due.paid);
    END IF;

    IF old.beyond IS NOT NULL THEN
        RETURN QUERY
        SELECT 'verified_rows_stay', format('%s: rows of journals below %s differ from those verified by %s', each.name, old.beyond, old.made_at)
        FROM (VALUES ('wallet_entry', old.entries, seen.entries), ('wallet_journal', old.journals, seen.journals),
                     ('games_round', old.rounds, seen.rounds), ('games_participation', old.participations, seen.participations)) AS each (name, was, is_now)
        WHERE each.was <> each.is_now;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    IF new.beyond > 0 THEN
        DELETE FROM ledger_checkpoint;
        INSERT INTO ledger_checkpoint (beyond, participation, before, seed, entries, journals, rounds, participations, days, made_at)
        VALUES (new.beyond, new.participation, new.before, new.seed, new.entries, new.journals, new.rounds, new.participations,
                new.days, clock_timestamp());
    END IF;
END $$;
REVOKE ALL ON FUNCTION wallet_verify_totals FROM PUBLIC;

-- Return the daily total of a player times a random factor for each player, day and column, so that sums of
-- these are equal only if the totals are.
CREATE OR REPLACE FUNCTION wallet_weigh_day(player bigint, day date, deposited bigint, withdrawn bigint, staked bigint, paid bigint, seed bigint)
RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE deposited WHEN 0 THEN 0 ELSE deposited::numeric * hashint8extended(player, seed + 4 * (day - date '2000-01-01')) END
         + CASE withdrawn WHEN 0 THEN 0 ELSE withdrawn::numeric * hashint8extended(player, seed + 4 * (day - date '2000-01-01') + 1) END
         + CASE staked WHEN 0 THEN 0 ELSE staked::numeric * hashint8extended(player, seed + 4 * (day - date '2000-01-01') + 2) END
         + CASE paid WHEN 0 THEN 0 ELSE paid::numeric * hashint8extended(player, seed + 4 * (day - date '2000-01-01') + 3) END
$$;

-- Return what is wrong with the balance of an account and with the numbers and balances of its entries, one
-- sentence for each fault with the name of the invariant.
CREATE OR REPLACE FUNCTION wallet_account_faults(account bigint) RETURNS TABLE (invariant text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    WITH line AS MATERIALIZED (
        SELECT e.journal_id, e.line, e.version, e.balance_after, row_number() OVER chain AS due_version, sum(e.amount) OVER chain AS due_balance
        FROM wallet_entry AS e WHERE e.account_id = account WINDOW chain AS (ORDER BY e.version)
    ), total AS (
        SELECT count(*) AS entries, coalesce((SELECT sum(e.amount) FROM wallet_entry AS e WHERE e.account_id = account), 0) AS amount FROM line
    )
    SELECT 'balances_are_sums', format('account %s: balance %s, entries sum to %s', account, a.balance, t.amount)
    FROM wallet_account AS a CROSS JOIN total AS t WHERE a.id = account AND a.balance <> t.amount
    UNION ALL
    SELECT 'chains_are_unbroken', format('journal %s line %s on account %s: number %s with balance %s, should be number %s with balance %s',
            l.journal_id, l.line, account, l.version, l.balance_after, l.due_version, l.due_balance)
    FROM line AS l WHERE l.version IS DISTINCT FROM l.due_version OR l.balance_after IS DISTINCT FROM l.due_balance
    UNION ALL
    SELECT 'chains_are_unbroken', format('account %s: version %s, %s entries', account, a.version, t.entries)
    FROM wallet_account AS a CROSS JOIN total AS t WHERE a.id = account AND a.version <> t.entries
    UNION ALL
    SELECT 'entries_have_homes', format('journal %s line %s: there is no account %s', l.journal_id, l.line, account)
    FROM line AS l WHERE NOT EXISTS (SELECT FROM wallet_account AS a WHERE a.id = account)
$$;
REVOKE ALL ON FUNCTION wallet_account_faults FROM PUBLIC;
