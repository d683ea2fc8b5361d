-- Verification of the wallet against the event log: journals, withdrawals and house stops agree with their events, and
-- each has an event. Journals of rounds: games/sql/functions/log_verification.sql.
--
-- Findings have three columns: what was verified, the subject as in the event log, and a sentence.

-- Return the kinds of events that name a journal in "journal", each with the kinds of journals that they may name and the
-- kind of the player's account whose line they speak of.
CREATE OR REPLACE FUNCTION wallet_journal_events() RETURNS TABLE (event text, journal text, account text)
LANGUAGE sql IMMUTABLE AS $$
    VALUES ('deposit.posted', 'deposit', 'cash'), ('deposit.held', 'deposit_held', 'refund'),
           ('deposit.returned', 'deposit_returned', 'refund'), ('deposit.released', 'deposit_released', 'cash'),
           ('top_up.posted', 'top_up', 'cash'), ('balance.adjusted', 'adjustment', 'cash'),
           ('purse.filled', 'rebuy', 'purse'), ('purse.returned', 'leave', 'purse'),
           ('withdrawal.requested', 'withdraw', 'pending'), ('withdrawal.paid', 'withdraw_paid', 'pending'),
           ('withdrawal.returned', 'withdraw_returned', 'pending'), ('withdrawal.refused', 'withdraw_returned', 'pending'),
           ('withdrawal.cancelled', 'withdraw_returned', 'pending')
$$;

-- Compare the events of the leaves from `first` to below `beyond` that name a journal with this journal, and the events
-- `ledger.digested` with the journals whose digest they say.
CREATE OR REPLACE FUNCTION wallet_verify_logged_journals(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e.id, l.leaf, e.kind, due.journal AS due_kind, due.account, d.data, (d.data ->> 'journal')::bigint AS journal,
               substr(coalesce(d.data ->> 'player', e."on"), 8)::bigint AS player
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id JOIN wallet_journal_events() AS due ON due.event = e.kind
        CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
        WHERE l.leaf >= first AND l.leaf < beyond AND d.data ->> 'journal' IS NOT NULL
    ), compared AS (
        SELECT s.id, s.leaf, s.kind, s.journal, s.player,
            jsonb_build_object('kind', s.due_kind, 'amount', abs((s.data ->> 'amount')::bigint), 'currency', s.data -> 'currency')
                || CASE WHEN s.account = 'cash' THEN jsonb_build_object('balance after', s.data -> 'balance_after') ELSE '{}' END AS due,
            jsonb_build_object('kind', j.kind, 'amount', abs(e.amount), 'currency', e.currency)
                || CASE WHEN s.account = 'cash' THEN jsonb_build_object('balance after', e.balance_after) ELSE '{}' END AS stored
        FROM said AS s LEFT JOIN wallet_journal AS j ON j.id = s.journal
        LEFT JOIN LATERAL (
            SELECT e.* FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
            WHERE e.journal_id = j.id AND a.owner_id = s.player AND a.kind = s.account
        ) AS e ON true
    )
    SELECT 'journals match the log', format('player:%s', c.player), format(
        'journal %s: %s: the stored value is %s; event %s (%s, leaf %s) says %s.', c.journal, due.key, coalesce(c.stored ->> due.key, 'nothing'), c.id, c.kind,
        c.leaf, coalesce(due.value #>> '{}', 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_each(c.due) AS due
    WHERE c.due <> c.stored AND due.value IS DISTINCT FROM c.stored -> due.key
    UNION ALL
    SELECT 'journals match the log', 'ledger', format(
        'journals %s to %s: their digest is %s; event %s (leaf %s), which was written after they were verified, says %s.', d.data ->> 'first',
        (d.data ->> 'beyond')::bigint - 1, digest.now, e.id, l.leaf, d.data ->> 'sha256')
    FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind = 'ledger.digested'
    CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
    CROSS JOIN LATERAL (SELECT wallet_journals_digest((d.data ->> 'first')::bigint, (d.data ->> 'beyond')::bigint) AS now OFFSET 0) AS digest
    WHERE l.leaf >= first AND l.leaf < beyond AND digest.now <> d.data ->> 'sha256'
$$;

-- Name journals that belong to no round and have no event, and deposits and withdrawals that have no event.
-- `journal`, `event`: the lowest ids of journals and of events that are read.
CREATE OR REPLACE FUNCTION wallet_verify_unlogged_journals(journal bigint, event bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan
SET work_mem = '128MB' SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH named AS MATERIALIZED (
        SELECT (convert_from(e.body, 'UTF8')::jsonb #>> '{data,journal}')::bigint AS id
        FROM audit_event AS e WHERE e.kind IN (SELECT w.event FROM wallet_journal_events() AS w)
            AND e.id >= wallet_verify_unlogged_journals.event
    )
    SELECT 'journals have events', 'ledger'::text, format('journal %s: no event records this %s of %s.', j.id, j.kind, (
        SELECT string_agg(format('%s %s on account %s', e.amount, e.currency, e.account_id), ', ' ORDER BY e.line)
        FROM wallet_entry AS e WHERE e.journal_id = j.id))
    FROM wallet_journal AS j
    WHERE j.id >= wallet_verify_unlogged_journals.journal AND j.kind IN (SELECT w.journal FROM wallet_journal_events() AS w)
      AND NOT EXISTS (SELECT FROM named AS n WHERE n.id = j.id);
END $$;

-- Return the SHA-256 in hex of the journals with ids from `first` to below `beyond`: for each, in order of id, a line "id key
-- hash kind round reverses at" and, for each of its entries in order, a line "line account currency mode amount
-- balance_after version". The hash is in hex, the time in microseconds since 1970; what is missing is "none".
CREATE OR REPLACE FUNCTION wallet_journals_digest(first bigint, beyond bigint) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0
SET work_mem = '128MB' AS $$
    SELECT encode(sha256(convert_to(coalesce(string_agg(concat_ws(E'\n', concat_ws(' ',
            j.id, coalesce(j.key::text, 'none'), coalesce(encode(j.request_hash, 'hex'), 'none'), j.kind, coalesce(j.round_id::text, 'none'), coalesce(j.reverses_id::text, 'none'),
            (extract(epoch FROM j.at) * 1000000)::bigint), line.text), E'\n' ORDER BY j.id), ''), 'UTF8')), 'hex')
    FROM wallet_journal AS j
    LEFT JOIN (
        SELECT e.journal_id, string_agg(concat_ws(' ', e.line, e.account_id, e.currency, e.mode, e.amount,
            coalesce(e.balance_after::text, 'none'), coalesce(e.version::text, 'none')), E'\n' ORDER BY e.line) AS text
        FROM wallet_entry AS e WHERE e.journal_id >= first AND e.journal_id < beyond GROUP BY e.journal_id
    ) AS line ON line.journal_id = j.id
    WHERE j.id >= first AND j.id < beyond
$$;

-- Return the id below which all journals are verified and none is still to come; 0 if there is none.
CREATE OR REPLACE FUNCTION wallet_verified_until() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(max(v.beyond), 0) FROM ledger_verification AS v
    WHERE v.broken = 0 AND v.ended_at IS NOT NULL AND audit_is_past(v.transaction) AND v.began_at < clock_timestamp() - interval '1 minute'
$$;
REVOKE ALL ON FUNCTION wallet_verified_until FROM PUBLIC;

-- Compare the events `accounts.snapshot` with what hourly totals and holds make of the same moment, and name hours that were
-- summed up without one. Those since `since`.
CREATE OR REPLACE FUNCTION wallet_verify_snapshots(since timestamptz) RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e.id, (d.data ->> 'at')::timestamptz AS at, d.data -> 'rows' AS rows
        FROM audit_event AS e
        CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
        WHERE e.kind = 'accounts.snapshot' AND (d.data ->> 'at')::timestamptz >= since
    ), due AS (
        SELECT s.id, s.at, row.value ->> 0 AS account_kind, row.value ->> 1 AS currency, row.value ->> 2 AS mode,
               (row.value ->> 3)::bigint AS balance, (row.value ->> 4)::bigint AS held
        FROM said AS s CROSS JOIN LATERAL jsonb_array_elements(s.rows) AS row
    ), summed AS (
        -- The running sum of all amounts until each event.
        SELECT m.*, sum(m.amount) OVER (PARTITION BY m.account_kind, m.currency, m.mode ORDER BY m.at, m.id NULLS FIRST)::bigint AS stored
        FROM (
            SELECT NULL::bigint AS id, t.hour + interval '1 hour' AS at, t.account_kind, t.currency, t.mode, NULL::bigint AS balance,
                   NULL::bigint AS held, t.amount
            FROM wallet_ledgerhourlytotal AS t
            UNION ALL SELECT d.id, d.at, d.account_kind, d.currency, d.mode, d.balance, d.held, 0 FROM due AS d
        ) AS m
    ), hold AS (
        SELECT s.at, h.* FROM said AS s CROSS JOIN LATERAL wallet_held_at(s.at) AS h
    )
    SELECT 'liability matches the log', 'accounts', format(
        'accounts at %s: %s %s %s: the stored values are balance %s, held %s; event %s says %s, %s.', m.at, m.account_kind, m.currency, m.mode, m.stored,
        coalesce(h.held, 0), m.id, m.balance, m.held)
    FROM summed AS m
    LEFT JOIN hold AS h ON h.at = m.at AND h.account_kind = m.account_kind AND h.currency = m.currency AND h.mode = m.mode
    WHERE m.id IS NOT NULL AND (m.stored, coalesce(h.held, 0)) IS DISTINCT FROM (m.balance, m.held)
    UNION ALL
    SELECT 'liability matches the log', 'accounts', format('accounts at %s: no event records them.', r.hour + interval '1 hour')
    FROM audit_rolled AS r
    WHERE r.totals = 'wallet.ledger' AND r.rows > 0 AND r.hour + interval '1 hour' >= since
      AND NOT EXISTS (SELECT FROM said AS s WHERE s.at = r.hour + interval '1 hour')
$$;

-- Compare the events about withdrawals and house stops of the leaves from `first` to below `beyond` with the rows.
CREATE OR REPLACE FUNCTION wallet_verify_logged_steps(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e.id, l.leaf, e.kind, e.by, e."on", d.data
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id
            AND e.kind IN ('house.stopped', 'house.resumed', 'withdrawal.requested', 'withdrawal.seconding', 'withdrawal.approved',
                           'withdrawal.sending', 'withdrawal.paid', 'withdrawal.returned', 'withdrawal.refused', 'withdrawal.cancelled')
        CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
        WHERE l.leaf >= first AND l.leaf < beyond
    ), compared AS (
        SELECT s.id, s.leaf, s.kind, s."on", format('%s: step %s', s."on", s.data ->> 'step') AS what,
            jsonb_build_object(
                'player', s.data -> 'player', 'bank account', s.data -> 'account', 'amount', s.data -> 'amount', 'currency', s.data -> 'currency',
                'before', s.data -> 'before', 'after', substr(s.kind, 12), 'by', s.by, 'handler', s.data -> 'handler', 'method', s.data -> 'method',
                'reason', s.data -> 'reason', 'journal', s.data -> 'journal') AS due,
            jsonb_build_object(
                'player', 'player:' || w.player_id, 'bank account', w.account_id, 'amount', w.amount, 'currency', w.currency, 'before', t.before,
                'after', t.after, 'by', t.by, 'handler', t.handler, 'method', t.method, 'reason', t.reason, 'journal', t.journal_id) AS stored
        FROM said AS s LEFT JOIN wallet_withdrawal AS w ON s."on" = 'withdrawal:' || w.id
        LEFT JOIN wallet_withdrawal_step AS t ON t.id = (s.data ->> 'step')::bigint AND t.withdrawal_id = w.id
        WHERE s.kind LIKE 'withdrawal.%'
        UNION ALL
        SELECT s.id, s.leaf, s.kind, s."on", format('house stop %s', s.data ->> 'stop'),
            jsonb_build_object('by', s.by, 'reason', s.data -> 'reason'),
            CASE s.kind WHEN 'house.stopped' THEN jsonb_build_object('by', 'staff:' || h.by_id, 'reason', h.reason)
                ELSE jsonb_build_object('by', 'staff:' || h.ended_by_id, 'reason', h.ended_reason) END
        FROM said AS s LEFT JOIN wallet_housestop AS h ON h.id = (s.data ->> 'stop')::bigint WHERE s.kind LIKE 'house.%'
    )
    SELECT CASE WHEN c.kind LIKE 'house.%' THEN 'house stops match the log' ELSE 'withdrawals match the log' END, c."on", format(
        '%s: %s: the stored value is %s; event %s (%s, leaf %s) says %s.', c.what, due.key, coalesce(c.stored ->> due.key, 'nothing'), c.id, c.kind,
        c.leaf, coalesce(due.value #>> '{}', 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_each(c.due) AS due
    WHERE c.due <> c.stored AND due.value IS DISTINCT FROM c.stored -> due.key
$$;

-- Name steps of withdrawals and house stops that have no event, and withdrawals whose status is not that of the newest event.
-- `step`: the lowest id of the steps that are verified. `withdrawal`: that of the withdrawals; open ones are verified whatever their id is.
CREATE OR REPLACE FUNCTION wallet_verify_unlogged_steps(step bigint, withdrawal bigint) RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    SELECT 'withdrawals match the log', format('withdrawal:%s', t.withdrawal_id), format(
        'withdrawal:%s: step %s to %s: no event records it.', t.withdrawal_id, t.id, t.after)
    FROM wallet_withdrawal_step AS t
    WHERE t.id >= step AND NOT EXISTS (
        SELECT FROM audit_event AS e WHERE e."on" = format('withdrawal:%s', t.withdrawal_id) AND e.kind = 'withdrawal.' || t.after
        AND (convert_from(e.body, 'UTF8')::jsonb #>> '{data,step}')::bigint = t.id)
    UNION ALL
    SELECT 'withdrawals match the log', format('withdrawal:%s', w.id), format(
        'withdrawal:%s: is %s; its newest event says %s.', w.id, w.status, coalesce(newest.status, 'nothing'))
    FROM wallet_withdrawal AS w
    LEFT JOIN LATERAL (
        SELECT substr(e.kind, 12) AS status FROM audit_event AS e
        WHERE e."on" = format('withdrawal:%s', w.id) AND e.kind LIKE 'withdrawal.%' ORDER BY e.id DESC LIMIT 1
    ) AS newest ON true
    WHERE (w.id >= withdrawal OR w.status IN ('requested', 'seconding', 'approved', 'sending')) AND newest.status IS DISTINCT FROM w.status
    UNION ALL
    SELECT 'house stops match the log', 'house', format('house stop %s: no event %s is recorded for it.', h.id, due.kind)
    FROM wallet_housestop AS h
    CROSS JOIN LATERAL (VALUES ('house.stopped', true), ('house.resumed', h.ended_at IS NOT NULL)) AS due (kind, is_due)
    WHERE due.is_due AND NOT EXISTS (
        SELECT FROM audit_event AS e WHERE e."on" = 'house' AND e.kind = due.kind
        AND (convert_from(e.body, 'UTF8')::jsonb #>> '{data,stop}')::bigint = h.id)
$$;
