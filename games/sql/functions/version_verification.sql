-- Verification of tables and rules against the event log: each version of a table and of the rules of a game agrees
-- with its event, and each has an event.
--
-- Findings have three columns: what was verified, the subject as in the event log, and a sentence.

-- Compare the events `table.version` and `rules.stored` of the leaves from `first` to below `beyond` with the versions.
CREATE OR REPLACE FUNCTION games_verify_logged_versions(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e.id, l.leaf, e."on", d.data -> 'after' AS after
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind = 'table.version'
        CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
        WHERE l.leaf >= first AND l.leaf < beyond
    ), compared AS (
        SELECT s.id, s.leaf, s."on", s.after ->> 'number' AS number, '{"clock": null}' || s.after AS due,
            jsonb_build_object(
                'clock', v.clock, 'jurisdictions', v.jurisdictions, 'limits', v.limits, 'modes', v.modes, 'number', v.number,
                'rules_digest', v.rules_digest, 'rules_version', v.rules_version) AS stored
        FROM said AS s
        LEFT JOIN games_tableversion AS v ON v.table_id = substr(s."on", 7)::bigint AND v.number = (s.after ->> 'number')::integer
    )
    SELECT 'tables match the log', c."on", format(
        '%s: version %s: %s: the stored value is %s; event %s (leaf %s) says %s.', c."on", c.number, due.key, coalesce(c.stored ->> due.key, 'nothing'), c.id,
        c.leaf, coalesce(due.value #>> '{}', 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_each(c.due) AS due
    WHERE c.due <> c.stored AND due.value IS DISTINCT FROM c.stored -> due.key
$$;

-- Name versions of tables that have no event, and tables whose version in force is not their newest.
CREATE OR REPLACE FUNCTION games_verify_unlogged_versions() RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e."on", (convert_from(e.body, 'UTF8')::jsonb #>> '{data,after,number}')::integer AS number
        FROM audit_event AS e WHERE e.kind = 'table.version'
    )
    SELECT 'tables match the log', format('table:%s', v.table_id), format('table:%s: version %s: no event records it.', v.table_id, v.number)
    FROM games_tableversion AS v
    WHERE NOT EXISTS (SELECT FROM said AS s WHERE s."on" = format('table:%s', v.table_id) AND s.number = v.number)
    UNION ALL
    SELECT 'tables match the log', format('table:%s', t.id), format('table:%s: version %s is in force, but %s is the newest.', t.id, v.number, newest.number)
    FROM games_table AS t JOIN games_tableversion AS v ON v.id = t.version_id
    CROSS JOIN LATERAL (SELECT max(n.number) AS number FROM games_tableversion AS n WHERE n.table_id = t.id) AS newest
    WHERE v.table_id <> t.id OR v.number <> newest.number
$$;
