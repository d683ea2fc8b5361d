-- Approvals: a request that one person makes and another person decides.

-- Set the time of a decision to the database's time, and check it against the approval's end.
-- Trigger function, BEFORE INSERT on audit_decision.
-- Raises SB007 for a decision after `expires_at`, or for the verdict expired before it.
-- The time is read when the row is written, so a form that was sent in time but waited too long is
-- late.
CREATE OR REPLACE FUNCTION audit_decide_in_time() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    ends timestamptz;
BEGIN
    SELECT expires_at INTO ends FROM audit_approval WHERE id = NEW.approval_id;
    NEW.at := clock_timestamp();
    IF (NEW.verdict = 'expired') <> (NEW.at >= ends) THEN
        RAISE EXCEPTION 'approval % ends at %, not %', NEW.approval_id, ends, NEW.verdict USING ERRCODE = 'SB007';
    END IF;
    RETURN NEW;
END $$;

-- Compare the events about approvals of the leaves from `first` to below `beyond` with the requests and with how they ended.
-- Findings have three columns: what was verified, the subject as in the event log, and a sentence.
CREATE OR REPLACE FUNCTION audit_verify_logged_approvals(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e.id, l.leaf, e.kind, e.by, e."on", substr(e."on", 10)::bigint AS approval, d.data
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind IN (
            'approval.asked', 'approval.decided', 'approval.withdrawn', 'approval.expired')
        CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
        WHERE l.leaf >= first AND l.leaf < beyond
    ), compared AS (
        SELECT s.id, s.leaf, s.kind, s."on", 'request' AS what,
            jsonb_build_object(
                'kind', s.data -> 'kind', 'on', s.data -> 'on', 'request', s.data -> 'sha256', 'by', s.by, 'person', s.data -> 'person',
                'reason', s.data -> 'reason', 'expires at', (s.data ->> 'expires_at')::timestamptz) AS due,
            jsonb_build_object(
                'kind', a.kind, 'on', a."on", 'request', encode(sha256(convert_to(a.request, 'UTF8')), 'hex'), 'by', a.by, 'person', a.person,
                'reason', a.reason, 'expires at', a.expires_at) AS stored
        FROM said AS s LEFT JOIN audit_approval AS a ON a.id = s.approval WHERE s.kind = 'approval.asked'
        UNION ALL
        SELECT s.id, s.leaf, s.kind, s."on", 'decision',
            jsonb_build_object(
                'verdict', CASE s.kind WHEN 'approval.withdrawn' THEN 'withdrawn' WHEN 'approval.expired' THEN 'expired'
                    ELSE CASE WHEN (s.data ->> 'yes')::boolean THEN 'approved' ELSE 'refused' END END,
                'by', s.by, 'person', s.data -> 'person', 'reason', coalesce(s.data ->> 'reason', '')),
            jsonb_build_object('verdict', d.verdict, 'by', d.by, 'person', d.person, 'reason', d.reason)
        FROM said AS s LEFT JOIN audit_decision AS d ON d.approval_id = s.approval WHERE s.kind <> 'approval.asked'
    )
    SELECT 'approvals match the log', c."on", format(
        '%s: %s: %s: the stored value is %s; event %s (%s, leaf %s) says %s.', c."on", c.what, due.key, coalesce(c.stored ->> due.key, 'nothing'), c.id, c.kind,
        c.leaf, coalesce(due.value #>> '{}', 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_each(c.due) AS due
    WHERE c.due <> c.stored AND due.value IS DISTINCT FROM c.stored -> due.key
$$;

-- Name approvals that no event has asked for, and those that no event has decided, withdrawn or expired.
-- `approval`: the lowest id that is verified. Those that have ended in the last day are verified whatever their id is.
CREATE OR REPLACE FUNCTION audit_verify_unlogged_approvals(approval bigint) RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    SELECT 'approvals have events', format('approval:%s', a.id), format('approval:%s: no event records the request.', a.id)
    FROM audit_approval AS a
    WHERE a.id >= approval AND NOT EXISTS (
        SELECT FROM audit_event AS e WHERE e."on" = format('approval:%s', a.id) AND e.kind = 'approval.asked')
    UNION ALL
    SELECT 'approvals have events', format('approval:%s', d.approval_id), format('approval:%s: is %s, but no event records this.', d.approval_id, d.verdict)
    FROM audit_decision AS d
    WHERE (d.approval_id >= approval OR d.at >= now() - interval '1 day') AND NOT EXISTS (
        SELECT FROM audit_event AS e WHERE e."on" = format('approval:%s', d.approval_id)
        AND e.kind = CASE d.verdict WHEN 'withdrawn' THEN 'approval.withdrawn' WHEN 'expired' THEN 'approval.expired' ELSE 'approval.decided' END)
$$;
