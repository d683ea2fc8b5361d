-- Verification of national rules and of likely duplicates against the event log: each agrees with the newest event
-- about it, and each has an event.
--
-- Findings have three columns: what was verified, the subject as in the event log, and a sentence.

-- Compare the events about duplicates of the leaves from `first` to below `beyond` with the rows. Of a finding that was
-- corrected, only the newest event is compared.
CREATE OR REPLACE FUNCTION players_verify_logged_duplicates(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e.id, e.at, l.leaf, e.kind, e.by, e."on", d.data, substr(e."on", 8)::bigint AS second, substr(d.data ->> 'other', 8)::bigint AS first
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind IN ('duplicate.found', 'duplicate.resolved')
        CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
        WHERE l.leaf >= players_verify_logged_duplicates.first AND l.leaf < beyond
    ), compared AS (
        SELECT s.id, s.leaf, s.kind, s."on", format('the duplicate of %s by %s', s.data ->> 'other', s.data ->> 'ground') AS what,
            '{"exists": true}'::jsonb AS due, jsonb_build_object('exists', d.id IS NOT NULL) AS stored
        FROM said AS s LEFT JOIN players_duplicate AS d ON d.first_id = s.first AND d.second_id = s.second AND d.ground = s.data ->> 'ground'
        WHERE s.kind = 'duplicate.found'
        UNION ALL
        -- The newest finding decides, so it must not be moved to another time.
        SELECT s.id, s.leaf, s.kind, s."on", format('the finding about %s by %s', s.data ->> 'other', g.ground),
            jsonb_build_object(
                'resolution', s.data -> 'resolution', 'by', s.by,
                'at', CASE WHEN d.resolved_at BETWEEN s.at - interval '10 minutes' AND s.at + interval '10 minutes' THEN d.resolved_at ELSE s.at END),
            jsonb_build_object('resolution', d.resolution, 'by', 'staff:' || d.resolved_by_id, 'at', d.resolved_at)
        FROM said AS s CROSS JOIN LATERAL jsonb_array_elements_text(s.data -> 'grounds') AS g (ground)
        LEFT JOIN players_duplicate AS d ON d.first_id = s.first AND d.second_id = s.second AND d.ground = g.ground
        WHERE s.kind = 'duplicate.resolved' AND NOT EXISTS (
            SELECT FROM audit_event AS later
            CROSS JOIN LATERAL (SELECT convert_from(later.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS l
            WHERE later."on" = s."on" AND later.kind = 'duplicate.resolved' AND later.id > s.id
                AND l.data ->> 'other' = s.data ->> 'other' AND l.data -> 'grounds' ? g.ground)
    )
    SELECT 'player protection matches the log', c."on", format(
        '%s: %s: %s: the stored value is %s; event %s (%s, leaf %s) says %s.', c."on", c.what, due.key, coalesce(c.stored ->> due.key, 'nothing'), c.id, c.kind,
        c.leaf, coalesce(due.value #>> '{}', 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_each(c.due) AS due
    WHERE c.due <> c.stored AND due.value IS DISTINCT FROM c.stored -> due.key
$$;

-- Name likely duplicates, and findings about them, that have no event.
CREATE OR REPLACE FUNCTION players_verify_unlogged_duplicates() RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e.kind, e."on", d.data ->> 'other' AS other, coalesce(d.data -> 'grounds', jsonb_build_array(d.data -> 'ground')) AS grounds
        FROM audit_event AS e CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
        WHERE e.kind IN ('duplicate.found', 'duplicate.resolved')
    )
    SELECT 'player protection has events', format('player:%s', d.second_id), format(
        'player:%s: the %s player:%s by %s: no event records it.', d.second_id, due.what, d.first_id, d.ground)
    FROM players_duplicate AS d
    CROSS JOIN LATERAL (VALUES ('duplicate.found', 'duplicate of'), ('duplicate.resolved', 'finding about')) AS due (kind, what)
    WHERE (due.kind = 'duplicate.found' OR d.resolution <> '') AND NOT EXISTS (
        SELECT FROM said AS s
        WHERE s.kind = due.kind AND s."on" = format('player:%s', d.second_id) AND s.other = format('player:%s', d.first_id) AND s.grounds ? d.ground)
$$;

-- Compare the changes of national rules of the leaves from `first` to below `beyond` with the history of the rules.
CREATE OR REPLACE FUNCTION players_verify_logged_rules(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH compared AS (
        SELECT e.id, l.leaf, e."on", d.data ->> 'approval' AS approval,
            jsonb_build_object(
                'rule', e."on", 'before', d.data #> '{before,value}', 'after', d.data #> '{after,value}', 'source', d.data #> '{after,source}') AS due,
            jsonb_build_object(
                'rule', 'rule:' || c.jurisdiction_id || ':' || c.rule, 'before', c.before, 'after', c.after, 'source', c.source) AS stored
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind = 'national_rule.changed'
        CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
        LEFT JOIN players_national_rule_change AS c ON c.approval_id = (d.data ->> 'approval')::bigint
        WHERE l.leaf >= first AND l.leaf < beyond
    )
    SELECT 'national rules match the log', c."on", format(
        '%s: change of approval %s: %s: the stored value is %s; event %s (leaf %s) says %s.', c."on", c.approval, due.key,
        coalesce(c.stored ->> due.key, 'nothing'), c.id, c.leaf, coalesce(due.value #>> '{}', 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_each(c.due) AS due
    WHERE c.due <> c.stored AND due.value IS DISTINCT FROM c.stored -> due.key
$$;

-- Name national rules in force that are not those of the newest event about them (a change, or the release they came
-- with), and rows of their history that have no event. Nothing before the rules of a release are recorded, which
-- `manage.py load_tables` does.
CREATE OR REPLACE FUNCTION players_verify_unlogged_rules() RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH logged AS MATERIALIZED (
        SELECT e.id, e.kind, e."on", convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data
        FROM audit_event AS e WHERE e.kind IN ('national_rules.shipped', 'national_rule.changed')
    ), said AS MATERIALIZED (
        SELECT e.id, e.kind, format('rule:%s:%s', substr(e."on", 14), r.rule) AS "on", r.said -> 'value' AS value, r.said ->> 'source' AS source
        FROM logged AS e CROSS JOIN LATERAL jsonb_each(e.data -> 'rules') AS r (rule, said) WHERE e.kind = 'national_rules.shipped'
        UNION ALL
        SELECT e.id, e.kind, e."on", e.data #> '{after,value}', e.data #>> '{after,source}' FROM logged AS e WHERE e.kind = 'national_rule.changed'
    ), newest AS MATERIALIZED (
        -- The first event says what came with the release; a second one says nothing.
        SELECT DISTINCT ON (s."on") s.* FROM said AS s
        ORDER BY s."on", s.kind = 'national_rule.changed' DESC, CASE WHEN s.kind = 'national_rule.changed' THEN -s.id ELSE s.id END
    ), stored AS (
        SELECT format('rule:%s:%s', j.code, r.rule) AS "on", r.value, coalesce((
            SELECT c.source FROM players_national_rule_change AS c WHERE c.jurisdiction_id = j.code AND c.rule = r.rule
            ORDER BY c.id DESC LIMIT 1), 'c') AS source
        FROM players_jurisdiction AS j CROSS JOIN LATERAL jsonb_each(to_jsonb(j) - '{code,licence}'::text[]) AS r (rule, value)
    )
    SELECT 'national rules match the log', coalesce(r."on", n."on"), f.finding
    FROM stored AS r FULL JOIN newest AS n ON n."on" = r."on"
    CROSS JOIN LATERAL (
        SELECT format('%s: no event records it.', r."on") AS finding WHERE n.id IS NULL AND EXISTS (SELECT FROM said AS s WHERE s.kind = 'national_rules.shipped')
        UNION ALL
        SELECT format('%s: the value in force is %s; event %s (%s) says %s.', n."on", coalesce(r.value #>> '{}', 'nothing'), n.id, n.kind,
            coalesce(n.value #>> '{}', 'nothing'))
        WHERE n.id IS NOT NULL AND n.value IS DISTINCT FROM r.value
        UNION ALL
        SELECT format('%s: the source is %s; event %s (%s) says %s.', n."on", coalesce(r.source, 'nothing'), n.id, n.kind, n.source)
        WHERE n.id IS NOT NULL AND n.source IS DISTINCT FROM r.source) AS f
    UNION ALL
    SELECT 'national rules match the log', format('rule:%s:%s', c.jurisdiction_id, c.rule),
        format('rule:%s:%s: change %s: no event records it.', c.jurisdiction_id, c.rule, c.id)
    FROM players_national_rule_change AS c
    WHERE (c.approval_id IS NOT NULL OR EXISTS (SELECT FROM said AS s WHERE s.kind = 'national_rules.shipped')) AND NOT EXISTS (
        SELECT FROM logged AS e WHERE e.kind = 'national_rule.changed' AND (e.data ->> 'approval')::bigint = c.approval_id
            AND e."on" = format('rule:%s:%s', c.jurisdiction_id, c.rule)
        UNION ALL
        SELECT FROM said AS s WHERE c.approval_id IS NULL AND s.kind = 'national_rules.shipped' AND s.source <> 'c'
            AND s."on" = format('rule:%s:%s', c.jurisdiction_id, c.rule) AND (s.value, s.source) = (c.after, c.source))
$$;
