-- Verification of the protection of players against the event log: limits, answers to their offer, exclusions,
-- agreements to the terms, answers of registers, account locks, confirmed identities and marks of borrowed money agree
-- with their events, and each has an event.
--
-- Findings have three columns: what was verified, the subject as in the event log, and a sentence.

-- Compare the events about protection of the leaves from `first` to below `beyond` with the rows.
CREATE OR REPLACE FUNCTION players_verify_logged_protection(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e.id, e.at, l.leaf, e.kind, e.by, e."on", substr(e."on", 8)::bigint AS player, d.data
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind IN (
            'limits.changed', 'limits.withdrawn', 'limits.declined', 'player.excluded', 'exclusion.lifted', 'terms.agreed', 'player.registered',
            'register.checked', 'account.locked', 'account.unlocked', 'identity.confirmed', 'identity.stated', 'identity.verified',
            'borrowed.marked', 'borrowed.removed')
        CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
        WHERE l.leaf >= first AND l.leaf < beyond
    ), compared AS (
        SELECT s.id, s.leaf, s.kind, s."on", format('change %s of a limit', s.data ->> 'change') AS what,
            jsonb_build_object(
                'player', s.player, 'source', s.data -> 'source', 'kind', s.data -> 'kind', 'period', s.data -> 'period',
                'before', s.data -> 'before', 'amount', s.data -> 'after', 'effective at', (s.data ->> 'effective_at')::timestamptz,
                'needs confirmation', s.data -> 'needs_confirmation', 'asked by', s.by, 'reason', coalesce(s.data ->> 'reason', '')) AS due,
            jsonb_build_object(
                'player', c.player_id, 'source', c.source, 'kind', c.kind, 'period', c.period, 'before', c.before, 'amount', c.amount,
                'effective at', c.effective_at, 'needs confirmation', c.needs_confirmation, 'asked by', c.asked_by, 'reason', c.reason) AS stored
        FROM said AS s LEFT JOIN players_limitchange AS c ON c.id = (s.data ->> 'change')::bigint
        WHERE s.kind IN ('limits.changed', 'limits.withdrawn')
        UNION ALL
        SELECT s.id, s.leaf, s.kind, s."on", 'the answer to the offer of limits', '{"exists": true}', jsonb_build_object('exists', o.id IS NOT NULL)
        FROM said AS s LEFT JOIN players_limitoffer AS o ON o.player_id = s.player WHERE s.kind = 'limits.declined'
        UNION ALL
        SELECT s.id, s.leaf, s.kind, s."on", format('exclusion %s', s.data ->> 'exclusion'),
            jsonb_build_object(
                'player', s.player, 'kind', s.data -> 'kind', 'begun', (s.data ->> 'begun')::timestamptz, 'until', (s.data ->> 'until')::timestamptz,
                'reason', s.data -> 'reason', 'by', s.by),
            jsonb_build_object('player', x.player_id, 'kind', x.kind, 'begun', x.begun, 'until', x.until, 'reason', x.reason, 'by', x.by)
        FROM said AS s LEFT JOIN players_exclusion AS x ON x.id = (s.data ->> 'exclusion')::bigint WHERE s.kind = 'player.excluded'
        UNION ALL
        SELECT s.id, s.leaf, s.kind, s."on", format('the lifting of exclusion %s', s.data ->> 'exclusion'),
            jsonb_build_object('reason', s.data -> 'reason', 'asked by', s.data -> 'asked_by', 'decided by', s.by),
            jsonb_build_object('reason', x.reason, 'asked by', x.asked_by, 'decided by', x.decided_by)
        FROM said AS s LEFT JOIN players_exclusionlift AS x ON x.exclusion_id = (s.data ->> 'exclusion')::bigint WHERE s.kind = 'exclusion.lifted'
        UNION ALL
        SELECT s.id, s.leaf, s.kind, s."on", format('the agreement to the terms %s', s.data ->> 'terms'), '{"exists": true}',
            jsonb_build_object('exists', a.id IS NOT NULL)
        FROM said AS s LEFT JOIN players_agreement AS a ON a.player_id = s.player AND a.terms_version = s.data ->> 'terms'
        WHERE s.kind IN ('terms.agreed', 'player.registered')
        UNION ALL
        -- An answer holds for a time, so it must not be moved to a later one.
        SELECT s.id, s.leaf, s.kind, s."on", format('register check %s', s.data ->> 'check'),
            jsonb_build_object(
                'player', s.player, 'register', s.data -> 'register', 'outcome', s.data -> 'outcome', 'until', (s.data ->> 'until')::timestamptz,
                'at', CASE WHEN c.at BETWEEN s.at - interval '10 minutes' AND s.at + interval '10 minutes' THEN c.at ELSE s.at END),
            jsonb_build_object('player', c.player_id, 'register', c.register, 'outcome', c.outcome, 'until', c.until, 'at', c.at)
        FROM said AS s LEFT JOIN players_registercheck AS c ON c.id = (s.data ->> 'check')::bigint WHERE s.kind = 'register.checked'
        UNION ALL
        SELECT s.id, s.leaf, s.kind, s."on", format('lock %s of the account', s.data ->> 'lock'),
            jsonb_build_object('player', s.player, 'locks', s.kind = 'account.locked', 'reason', s.data -> 'reason', 'by', s.by),
            jsonb_build_object('player', k.player_id, 'locks', k.locks, 'reason', k.reason, 'by', 'staff:' || k.by_id)
        FROM said AS s LEFT JOIN players_accountlock AS k ON k.id = (s.data ->> 'lock')::bigint
        WHERE s.kind IN ('account.locked', 'account.unlocked')
        UNION ALL
        SELECT s.id, s.leaf, s.kind, s."on", format('the identity recorded by %s', n.name), '{"exists": true}',
            jsonb_build_object('exists', EXISTS (SELECT FROM players_identity AS i WHERE i.player_id = s.player AND i.by = n.name))
        FROM said AS s CROSS JOIN LATERAL (
            SELECT CASE s.kind WHEN 'identity.confirmed' THEN 'register:' || (s.data ->> 'register') ELSE s.by END AS name OFFSET 0) AS n
        WHERE s.kind IN ('identity.confirmed', 'identity.stated', 'identity.verified')
        UNION ALL
        SELECT s.id, s.leaf, s.kind, s."on", format('mark %s of borrowed money', s.data ->> 'mark'),
            jsonb_build_object('player', s.player, 'is marked', s.kind = 'borrowed.marked', 'reason', s.data -> 'reason', 'by', s.by),
            jsonb_build_object('player', m.player_id, 'is marked', m.is_marked, 'reason', m.reason, 'by', 'staff:' || m.by_id)
        FROM said AS s LEFT JOIN players_borrowed_money AS m ON m.id = (s.data ->> 'mark')::bigint
        WHERE s.kind IN ('borrowed.marked', 'borrowed.removed')
    )
    SELECT 'player protection matches the log', c."on", format(
        '%s: %s: %s: the stored value is %s; event %s (%s, leaf %s) says %s.', c."on", c.what, due.key, coalesce(c.stored ->> due.key, 'nothing'), c.id, c.kind,
        c.leaf, coalesce(due.value #>> '{}', 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_each(c.due) AS due
    WHERE c.due <> c.stored AND due.value IS DISTINCT FROM c.stored -> due.key
$$;

-- Name limits, exclusions, agreements, answers of registers, account locks, confirmed identities and marks of borrowed
-- money that have no event.
-- `change`, `exclusion`, `agreement`, `check`, `identity`: the lowest ids of the rows that are verified. `event`: the lowest id of events
-- that are read.
CREATE OR REPLACE FUNCTION players_verify_unlogged_protection(change bigint, exclusion bigint, agreement bigint, "check" bigint, identity bigint, event bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e.kind, e."on", e.by, convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data
        FROM audit_event AS e
        WHERE e.kind IN ('limits.changed', 'limits.withdrawn', 'player.excluded', 'terms.agreed', 'player.registered', 'register.checked',
                'identity.confirmed', 'identity.stated', 'identity.verified')
            AND e.id >= players_verify_unlogged_protection.event
    )
    SELECT 'player protection has events', format('player:%s', c.player_id), format(
        'player:%s: change %s of a limit: no event records it.', c.player_id, c.id)
    FROM players_limitchange AS c
    WHERE c.id >= change AND NOT EXISTS (
        SELECT FROM said AS s WHERE s.kind IN ('limits.changed', 'limits.withdrawn') AND (s.data ->> 'change')::bigint = c.id)
    UNION ALL
    SELECT 'player protection has events', format('player:%s', x.player_id), format('player:%s: exclusion %s: no event records it.', x.player_id, x.id)
    FROM players_exclusion AS x
    WHERE x.id >= exclusion AND NOT EXISTS (
        SELECT FROM said AS s WHERE s.kind = 'player.excluded' AND (s.data ->> 'exclusion')::bigint = x.id)
    UNION ALL
    SELECT 'player protection has events', format('player:%s', x.player_id), format(
        'player:%s: the lifting of exclusion %s: no event records it.', x.player_id, x.id)
    FROM players_exclusionlift AS lifted JOIN players_exclusion AS x ON x.id = lifted.exclusion_id
    WHERE NOT EXISTS (
        SELECT FROM audit_event AS e WHERE e."on" = format('player:%s', x.player_id) AND e.kind = 'exclusion.lifted'
        AND (convert_from(e.body, 'UTF8')::jsonb #>> '{data,exclusion}')::bigint = x.id)
    UNION ALL
    SELECT 'player protection has events', format('player:%s', a.player_id), format(
        'player:%s: the agreement to the terms %s: no event records it.', a.player_id, a.terms_version)
    FROM players_agreement AS a
    WHERE a.id >= agreement AND NOT EXISTS (
        SELECT FROM said AS s WHERE s.kind IN ('terms.agreed', 'player.registered') AND s."on" = format('player:%s', a.player_id)
        AND s.data ->> 'terms' = a.terms_version)
    UNION ALL
    SELECT 'player protection has events', format('player:%s', o.player_id), format(
        'player:%s: the answer to the offer of limits: no event records it.', o.player_id)
    FROM players_limitoffer AS o
    WHERE NOT EXISTS (SELECT FROM audit_event AS e WHERE e."on" = format('player:%s', o.player_id) AND e.kind = 'limits.declined')
    UNION ALL
    SELECT 'player protection has events', format('player:%s', c.player_id), format(
        'player:%s: register check %s: no event records it.', c.player_id, c.id)
    FROM players_registercheck AS c
    WHERE c.id >= players_verify_unlogged_protection."check" AND NOT EXISTS (
        SELECT FROM said AS s WHERE s.kind = 'register.checked' AND (s.data ->> 'check')::bigint = c.id)
    UNION ALL
    SELECT 'player protection has events', format('player:%s', k.player_id), format(
        'player:%s: lock %s of the account: no event records it.', k.player_id, k.id)
    FROM players_accountlock AS k
    WHERE NOT EXISTS (
        SELECT FROM audit_event AS e WHERE e."on" = format('player:%s', k.player_id) AND e.kind IN ('account.locked', 'account.unlocked')
        AND (convert_from(e.body, 'UTF8')::jsonb #>> '{data,lock}')::bigint = k.id)
    UNION ALL
    SELECT 'player protection has events', format('player:%s', i.player_id), format(
        'player:%s: the identity recorded by %s: no event records it.', i.player_id, i.by)
    FROM players_identity AS i
    WHERE i.id >= players_verify_unlogged_protection.identity AND NOT EXISTS (
        SELECT FROM said AS s WHERE s."on" = format('player:%s', i.player_id) AND i.by = CASE
            WHEN s.kind = 'identity.confirmed' THEN 'register:' || (s.data ->> 'register')
            WHEN s.kind IN ('identity.stated', 'identity.verified') THEN s.by END)
    UNION ALL
    SELECT 'player protection has events', format('player:%s', m.player_id), format(
        'player:%s: mark %s of borrowed money: no event records it.', m.player_id, m.id)
    FROM players_borrowed_money AS m
    WHERE NOT EXISTS (
        SELECT FROM audit_event AS e WHERE e."on" = format('player:%s', m.player_id) AND e.kind IN ('borrowed.marked', 'borrowed.removed')
        AND (convert_from(e.body, 'UTF8')::jsonb #>> '{data,mark}')::bigint = m.id)
$$;

-- Compare the events about cases of the leaves from `first` to below `beyond` with the entries of the cases.
CREATE OR REPLACE FUNCTION players_verify_logged_cases(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    SELECT 'cases match the log', e."on", format(
        'case:%s: entry %s: the stored value is %s; event %s (%s, leaf %s) says %s.', said.data ->> 'case', said.data ->> 'entry',
        coalesce(stored.data::text, 'nothing'), e.id, e.kind, l.leaf, said.data)
    FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND (e.kind LIKE 'case.%' OR e.kind LIKE 'marker.%' OR e.kind LIKE 'complaint.%')
    CROSS JOIN LATERAL (
        SELECT (convert_from(e.body, 'UTF8')::jsonb -> 'data')
            || jsonb_build_object('by', e.by, 'action', split_part(e.kind, '.', 2)) AS data OFFSET 0) AS said
    LEFT JOIN LATERAL (
        SELECT jsonb_build_object(
            'action', n.action, 'by', n.by, 'case', c.id, 'entry', n.id, 'kind', c.kind, 'player', 'player:' || c.player_id, 'subject', c.subject,
            'to', n."to") AS data
        FROM players_case_entry AS n JOIN players_case AS c ON c.id = n.case_id WHERE n.id = (said.data ->> 'entry')::bigint) AS stored ON true
    WHERE l.leaf >= first AND l.leaf < beyond AND said.data ? 'entry' AND stored.data IS DISTINCT FROM said.data
$$;

-- Name entries of cases that have no event, and cases that are not what their entries say: owner, deadline, hold,
-- closing.
-- `entry`: the lowest id of entries that are verified. `event`: the lowest id of events that are read.
CREATE OR REPLACE FUNCTION players_verify_unlogged_cases(entry bigint, event bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT (convert_from(e.body, 'UTF8')::jsonb #>> '{data,entry}')::bigint AS entry
        FROM audit_event AS e WHERE (e.kind LIKE 'case.%' OR e.kind LIKE 'marker.%' OR e.kind LIKE 'complaint.%') AND e.id >= event
    )
    SELECT 'cases have events', format('case:%s', n.case_id), format('case:%s: entry %s (%s): no event records it.', n.case_id, n.id, n.action)
    FROM players_case_entry AS n
    WHERE n.id >= players_verify_unlogged_cases.entry AND NOT EXISTS (SELECT FROM said WHERE said.entry = n.id)
    UNION ALL
    SELECT 'cases match their history', format('case:%s', c.id), format(
        'case:%s: the stored value is %s; its history says %s.', c.id, now_is.data, history.data)
    FROM players_case AS c
    CROSS JOIN LATERAL (
        SELECT jsonb_build_object(
            'opened by', c.opened_by, 'owner', coalesce('staff:' || c.owner_id, ''), 'due', c.due_at, 'holds', c.holds, 'outcome', c.outcome,
            'closed by', coalesce('staff:' || c.closed_by_id, '')) AS data) AS now_is
    LEFT JOIN LATERAL (
        SELECT jsonb_build_object(
            'opened by', (array_agg(n.by ORDER BY n.id) FILTER (WHERE n.action = 'opened'))[1],
            'owner', coalesce((array_agg(n."to" ORDER BY n.id DESC) FILTER (WHERE n.action = 'assigned'))[1], ''),
            'due', (array_agg(n."to" ORDER BY n.id DESC) FILTER (WHERE n.action IN ('opened', 'due')))[1]::timestamptz,
            'holds', c.kind IN ('aml', 'screening') OR coalesce(bool_or(n.action = 'held'), false),
            'outcome', coalesce((array_agg(n."to" ORDER BY n.id DESC) FILTER (WHERE n.action IN ('closed', 'reopened')))[1], ''),
            'closed by', coalesce((array_agg(
                CASE WHEN n.action = 'closed' AND n.by LIKE 'staff:%' THEN n.by ELSE '' END ORDER BY n.id DESC) FILTER (WHERE n.action IN ('closed', 'reopened')))[1], '')) AS data
        FROM players_case_entry AS n WHERE n.case_id = c.id) AS history ON true
    WHERE now_is.data IS DISTINCT FROM history.data AND (players_verify_unlogged_cases.entry <= 1 OR EXISTS (
        SELECT FROM players_case_entry AS n WHERE n.case_id = c.id AND n.id >= players_verify_unlogged_cases.entry))
$$;
