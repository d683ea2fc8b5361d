-- What archived months are carried forward as. A journal that has gone to an archive counts here by its account's sums and its player's days;
-- where others belong together with it that are still here, or may come yet, it stays as it was, in tables of its own.

-- The journals and entries of which all is known: those that are here, and those that stayed of archived months. Written so that PostgreSQL
-- reads them as if they stood in the query itself.
CREATE FUNCTION wallet_known_journals()
RETURNS TABLE (id bigint, key uuid, kind text, round_id uuid, reverses_id bigint, at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT id, key, kind, round_id, reverses_id, at FROM public.wallet_journal
    UNION ALL
    SELECT id, key, kind, round_id, reverses_id, at FROM public.wallet_archived_journal
$$;

CREATE FUNCTION wallet_known_entries()
RETURNS TABLE (journal_id bigint, line integer, account_id bigint, currency text, mode text, amount bigint)
LANGUAGE sql STABLE AS $$
    SELECT journal_id, line, account_id, currency, mode, amount FROM public.wallet_entry
    UNION ALL
    SELECT journal_id, line, account_id, currency, mode, amount FROM public.wallet_archived_entry
$$;


-- Days ----------------------------------------------------------------------------------------------------------------------------------

-- As wallet_counts_at was, with what stayed of archived months.
CREATE FUNCTION wallet_counted_at(journal bigint, kind text, round uuid, at timestamptz, account bigint, amount bigint) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(
        CASE WHEN wallet_counted_at.kind = 'bank_back' OR wallet_counted_at.kind = 'stake' AND wallet_counted_at.amount > 0 THEN (
                SELECT min(j.at) FROM wallet_known_journals() AS j JOIN wallet_known_entries() AS e ON e.journal_id = j.id
                WHERE j.round_id = round AND j.kind = CASE wallet_counted_at.kind WHEN 'stake' THEN 'stake' ELSE 'bank' END
                  AND e.account_id = account AND e.amount < 0)
             WHEN wallet_counted_at.kind = 'void_transfer' THEN (
                SELECT max(j.at) FROM wallet_known_entries() AS e JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'bank'
                JOIN wallet_known_journals() AS j ON j.round_id = a.stands_for WHERE e.journal_id = journal)
             END,
        wallet_counted_at.at)
$$;

-- What the journals from `first` up to `beyond` count for against limits, on which day of whose: reversals on the day of what they reverse, and
-- what is taken back on the day when it was put down.
CREATE FUNCTION wallet_days_of(first bigint, beyond bigint)
RETURNS TABLE (player_id bigint, day date, deposited bigint, withdrawn bigint, staked bigint, paid bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    WITH line AS (
        SELECT a.owner_id AS player_id, e.amount, counted.kind, (
                   CASE WHEN counted.kind IN ('stake', 'bank_back', 'void_transfer')
                        THEN wallet_counted_at(counted.id, counted.kind, counted.round_id, counted.at, a.id,
                                               CASE WHEN was.id IS NULL THEN e.amount ELSE -e.amount END)
                        ELSE counted.at END AT TIME ZONE z.time_zone)::date AS day
        FROM wallet_entry AS e
        JOIN wallet_account AS a ON a.id = e.account_id AND a.stands_for IS NULL
        JOIN wallet_journal AS j ON j.id = e.journal_id
        LEFT JOIN wallet_known_journals() AS was ON was.id = j.reverses_id
        CROSS JOIN LATERAL (
            SELECT coalesce(was.id, j.id), CASE WHEN was.id IS NULL THEN j.kind ELSE was.kind END,
                   CASE WHEN was.id IS NULL THEN j.round_id ELSE was.round_id END, coalesce(was.at, j.at)
        ) AS counted (id, kind, round_id, at)
        JOIN players_player AS p ON p.id = a.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
        WHERE e.journal_id >= first AND e.journal_id < beyond AND e.mode = 'R' AND (counted.kind <> 'void_transfer' OR EXISTS (
            SELECT FROM wallet_entry AS o JOIN wallet_account AS b ON b.id = o.account_id
            WHERE o.journal_id = j.id AND b.kind = 'bank'))
    )
    SELECT player_id, day, coalesce(sum(amount) FILTER (WHERE kind = 'deposit'), 0)::bigint,
           coalesce(-sum(amount) FILTER (WHERE kind = 'withdraw_paid'), 0)::bigint,
           coalesce(-sum(amount) FILTER (WHERE kind IN ('stake', 'held_stake', 'bank', 'bank_back', 'studio_stake')), 0)::bigint,
           coalesce(sum(amount) FILTER (WHERE kind IN ('settle', 'bank_won', 'void_transfer', 'studio_win')), 0)::bigint
    FROM line
    WHERE kind IN ('deposit', 'withdraw_paid', 'stake', 'held_stake', 'settle', 'bank', 'bank_back', 'bank_won', 'void_transfer', 'studio_stake',
                   'studio_win')
    GROUP BY player_id, day
$$;


-- Carrying a month forward --------------------------------------------------------------------------------------------------------------

-- Writes down what the journals from `first` up to `beyond` came to. Of a round that went on in another month, of a bank that moved again, of what
-- was reversed later and of a withdrawal that was not over, the journals stay: what is here of these can be told right or wrong by them alone.
-- Money that a round still has could not be paid out any more: then nothing is carried.
CREATE FUNCTION wallet_carry(month text, first bigint, beyond bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    unpaid uuid;
BEGIN
    SELECT j.round_id INTO unpaid
    FROM wallet_journal AS j JOIN wallet_account AS a ON a.stands_for = j.round_id
    WHERE j.id >= first AND j.id < beyond AND a.balance <> 0 LIMIT 1;
    IF unpaid IS NULL THEN
        SELECT touched.round_id INTO unpaid
        FROM (
            SELECT j.round_id, e.account_id, sum(e.amount) AS amount
            FROM wallet_entry AS e JOIN wallet_journal AS j ON j.id = e.journal_id
            JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'escrow'
            WHERE e.journal_id >= first AND e.journal_id < beyond AND j.id >= first AND j.id < beyond AND j.round_id IS NOT NULL
            GROUP BY j.round_id, e.account_id HAVING sum(e.amount) <> 0
        ) AS touched
        WHERE (SELECT sum(e.amount) FROM wallet_known_journals() AS j JOIN wallet_known_entries() AS e ON e.journal_id = j.id
               WHERE j.round_id = touched.round_id AND e.account_id = touched.account_id) <> 0
        LIMIT 1;
    END IF;
    IF unpaid IS NOT NULL THEN
        RAISE EXCEPTION 'round % is not over: it still has money', unpaid USING ERRCODE = 'restrict_violation';
    END IF;

    INSERT INTO wallet_archived_account (month, account_id, amount, entries)
    SELECT wallet_carry.month, e.account_id, sum(e.amount), count(*)
    FROM wallet_entry AS e WHERE e.journal_id >= first AND e.journal_id < beyond GROUP BY e.account_id;

    INSERT INTO wallet_archived_day (month, player_id, day, deposited, withdrawn, staked, paid)
    SELECT wallet_carry.month, due.* FROM wallet_days_of(first, beyond) AS due;

    WITH open_round AS (
        SELECT j.round_id FROM wallet_journal AS j
        WHERE j.id >= first AND j.id < beyond AND (
            EXISTS (SELECT FROM wallet_journal AS later WHERE later.round_id = j.round_id AND later.id >= beyond)
            OR EXISTS (SELECT FROM wallet_archived_journal AS earlier WHERE earlier.round_id = j.round_id)
            OR EXISTS (SELECT FROM wallet_account AS a JOIN wallet_entry AS e ON e.account_id = a.id
                       WHERE a.stands_for = j.round_id AND e.journal_id >= beyond))
    ), reversed AS (
        SELECT r.journal_id AS id FROM wallet_reversal AS r
        WHERE r.journal_id >= first AND r.journal_id < beyond AND r.by_id >= beyond
        UNION ALL
        SELECT r.by_id FROM wallet_reversal AS r
        WHERE r.by_id >= first AND r.by_id < beyond AND r.journal_id < first
    ), withdrawn AS (
        SELECT s.journal_id AS id FROM wallet_withdrawal_step AS s JOIN wallet_withdrawal AS w ON w.id = s.withdrawal_id
        WHERE s.journal_id >= first AND s.journal_id < beyond
          AND (w.status IN ('requested', 'seconding', 'approved', 'sending')
               OR EXISTS (SELECT FROM wallet_withdrawal_step AS other
                          WHERE other.withdrawal_id = w.id AND (other.journal_id < first OR other.journal_id >= beyond)))
    )
    INSERT INTO wallet_archived_journal (month, id, key, request_hash, kind, round_id, reverses_id, at)
    SELECT wallet_carry.month, j.id, j.key, j.request_hash, j.kind, j.round_id, j.reverses_id, j.at
    FROM wallet_journal AS j
    WHERE j.id >= first AND j.id < beyond
      AND (j.round_id IN (SELECT o.round_id FROM open_round AS o) OR j.id IN (SELECT r.id FROM reversed AS r)
           OR j.id IN (SELECT w.id FROM withdrawn AS w));

    INSERT INTO wallet_archived_entry (journal_id, line, account_id, currency, mode, amount, balance_after, version)
    SELECT e.journal_id, e.line, e.account_id, e.currency, e.mode, e.amount, e.balance_after, e.version
    FROM wallet_archived_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id WHERE j.month = wallet_carry.month;
END $$;

-- What was carried of a month, as text: the lines of `wallet.carried.lines`.
CREATE FUNCTION wallet_carried_lines(month text) RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT line FROM (
        SELECT 1 AS part, account_id AS first, 0 AS second, NULL::date AS day, concat_ws(' ', 'account', account_id, amount, entries) AS line
        FROM wallet_archived_account AS a WHERE a.month = wallet_carried_lines.month
        UNION ALL
        SELECT 2, id, 0, NULL, concat_ws(' ', 'journal', id, key, encode(request_hash, 'hex'), kind, coalesce(round_id::text, '-'),
                                         coalesce(reverses_id::text, '-'), to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
        FROM wallet_archived_journal AS j WHERE j.month = wallet_carried_lines.month
        UNION ALL
        SELECT 3, journal_id, e.line, NULL, concat_ws(' ', 'entry', journal_id, e.line, account_id, currency, mode, amount,
                                                      coalesce(balance_after::text, '-'), coalesce(version::text, '-'))
        FROM wallet_archived_entry AS e JOIN wallet_archived_journal AS j ON j.id = e.journal_id WHERE j.month = wallet_carried_lines.month
        UNION ALL
        SELECT 4, player_id, 0, day, concat_ws(' ', 'day', player_id, to_char(day, 'YYYY-MM-DD'), deposited, withdrawn, staked, paid)
        FROM wallet_archived_day AS d WHERE d.month = wallet_carried_lines.month
    ) AS carried (part, first, second, day, line)
    ORDER BY part, first, second, day
$$;

CREATE FUNCTION wallet_carried_digest(month text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT encode(sha256(convert_to(coalesce(string_agg(line || E'\n', '' ORDER BY place), ''), 'UTF8')), 'hex')
    FROM wallet_carried_lines(wallet_carried_digest.month) WITH ORDINALITY AS carried (line, place)
$$;

REVOKE ALL ON FUNCTION wallet_carry FROM PUBLIC;

-- What acts on what has gone -----------------------------------------------------------------------------------------------------------

-- SB060: what is asked for is about a journal that has gone to an archive. The detail is the name of its month.
CREATE FUNCTION wallet_refuse_archived(journal bigint) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    gone text;
BEGIN
    SELECT month INTO gone FROM audit_archived WHERE first <= journal AND beyond > journal;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % has gone to the archive of %', journal, gone USING ERRCODE = 'SB060', DETAIL = gone;
    END IF;
END $$;

-- As before; a key whose journal has gone to an archive answers so, and nothing is posted beside it.
CREATE OR REPLACE FUNCTION wallet_post(journals jsonb)
RETURNS TABLE (place integer, journal bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    keys uuid[];
    hashes bytea[];
    new_ids bigint[];  -- NULL where the key is known
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
        PERFORM wallet_refuse_archived(k.journal_id)
        FROM unnest(keys, new_ids) AS a (key, new_id) JOIN wallet_posting_key AS k ON k.key = a.key WHERE a.new_id IS NULL;
        RETURN QUERY
        SELECT a.n::integer, e.journal_id, true, e.account_id, e.balance_after
        FROM unnest(keys, new_ids) WITH ORDINALITY AS a (key, new_id, n)
        JOIN wallet_posting_key AS k ON k.key = a.key JOIN wallet_entry AS e ON e.journal_id = k.journal_id
        WHERE a.new_id IS NULL ORDER BY a.n, e.line;
    END IF;
END $$;

-- As before; the same.
CREATE OR REPLACE FUNCTION wallet_post_set(key uuid, kind text, round uuid, accounts bigint[], amounts bigint[])
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
        PERFORM wallet_refuse_archived(known.journal_id);
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

-- As before; the same.
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
    PERFORM wallet_refuse_archived(k.journal_id) FROM wallet_posting_key AS k WHERE k.key = wallet_stake_holds.key;
    RETURN QUERY
    SELECT 1, e.journal_id, true, e.account_id, e.balance_after
    FROM wallet_posting_key AS k
    JOIN wallet_journal AS j ON j.id = k.journal_id AND j.kind = 'held_stake' AND j.round_id = round
    JOIN wallet_entry AS e ON e.journal_id = j.id
    WHERE k.key = wallet_stake_holds.key ORDER BY e.line;
END $$;

-- As before; the same.
CREATE OR REPLACE FUNCTION wallet_settle_stakes(round uuid, key uuid, accounts bigint[], paid bigint[])
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
        PERFORM wallet_refuse_archived(k.journal_id) FROM wallet_posting_key AS k WHERE k.key = wallet_settle_stakes.key;
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

-- As before; what has gone to an archive is not reversed.
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
        PERFORM wallet_refuse_archived(asked.journal_id) FROM unnest(journals) AS asked (journal_id);
        RAISE EXCEPTION 'not all of the journals % are there', journals USING ERRCODE = 'SB005';
    END IF;
    RETURN QUERY SELECT * FROM wallet_post(requests);
END $$;

-- As before; what was taken back may have gone to an archive.
CREATE OR REPLACE FUNCTION wallet_studio_moves_so(journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM wallet_journal AS j
        JOIN wallet_studio_transaction AS t ON t.bet_key = j.key AND t.bet > 0 AND j.kind = 'studio_stake'
            OR t.win_key = j.key AND t.win > 0 AND j.kind = 'studio_win'
        JOIN wallet_studio_player AS s ON s.id = t.studio_player_id
        WHERE j.id = journal AND j.reverses_id IS NULL AND j.round_id IS NULL
          AND (SELECT count(*) = 2 AND bool_and(
                   (e.currency, e.mode) = (t.currency, t.mode)
                   AND CASE WHEN a.kind = 'studio' THEN e.amount
                            WHEN a.kind = 'cash' AND a.owner_id = s.player_id THEN -e.amount
                       END IS NOT DISTINCT FROM CASE j.kind WHEN 'studio_stake' THEN t.bet ELSE -t.win END)
               FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id WHERE e.journal_id = j.id)
        UNION ALL
        SELECT FROM wallet_journal AS j
        JOIN wallet_studio_transaction AS r ON r.operation = 'rollback' AND (r.bet_key = j.key OR r.win_key = j.key)
        JOIN wallet_studio_transaction AS t ON t.partner_id = r.partner_id AND t.transaction = r.takes_back
        WHERE j.id = journal AND j.kind = 'studio_rollback'
          AND (SELECT was.key FROM wallet_known_journals() AS was WHERE was.id = j.reverses_id)
              = CASE j.key WHEN r.bet_key THEN t.bet_key ELSE t.win_key END)
$$;

-- As before; what has gone to an archive was booked.
CREATE OR REPLACE FUNCTION wallet_studio_unbooked(asked wallet_studio_transaction) RETURNS text
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT string_agg(due.what, ', ') FROM (
        SELECT 'stake' AS what, asked.bet_key AS key WHERE asked.bet > 0
        UNION ALL
        SELECT 'win', asked.win_key WHERE asked.win > 0
        UNION ALL
        SELECT 'stake taken back', asked.bet_key FROM wallet_studio_transaction AS t
        WHERE asked.takes_back <> '' AND t.partner_id = asked.partner_id AND t.transaction = asked.takes_back AND t.bet > 0
        UNION ALL
        SELECT 'win taken back', asked.win_key FROM wallet_studio_transaction AS t
        WHERE asked.takes_back <> '' AND t.partner_id = asked.partner_id AND t.transaction = asked.takes_back AND t.win > 0
    ) AS due
    WHERE NOT EXISTS (SELECT FROM wallet_posting_key AS k
                      WHERE k.key = due.key AND (k.journal_id < audit_cut() OR wallet_studio_moves_so(k.journal_id)))
$$;

-- As before; what was taken back may have gone to an archive.
CREATE OR REPLACE FUNCTION wallet_remote_moves_so(journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM wallet_journal AS j
        LEFT JOIN wallet_remote_message AS w ON w.transaction = j.key AND w.kind = 'win' AND j.kind = 'remote_back'
        JOIN wallet_remote_bet AS b ON b.id = CASE j.kind WHEN 'remote_bet' THEN j.key ELSE w.bet_id END
        WHERE j.id = journal AND j.kind IN ('remote_bet', 'remote_back') AND j.reverses_id IS NULL
          AND j.round_id = b.round_id AND b.state = 'played'
          AND (SELECT count(*) = 2 AND bool_and(
                   (e.currency, e.mode) = (b.currency, 'R')
                   AND CASE WHEN a.kind = 'operator' THEN -e.amount
                            WHEN a.kind = 'cash' AND a.owner_id = b.player_id THEN e.amount
                       END IS NOT DISTINCT FROM CASE j.kind WHEN 'remote_bet' THEN b.amount ELSE -w.amount END)
               FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id WHERE e.journal_id = j.id)
        UNION ALL
        SELECT FROM wallet_journal AS j
        WHERE j.id = journal AND j.kind = 'void' AND (
            SELECT was.kind FROM wallet_known_journals() AS was WHERE was.id = j.reverses_id) IN ('remote_bet', 'remote_back'))
$$;
