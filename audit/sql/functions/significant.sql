-- Significant events. Each row, and each change of a row, needs an event in the log first.

-- Return the data of the newest event about a subject; NULL if there is none.
-- `about`: column "on" of the event. `kinds`: a LIKE pattern for its kind.
CREATE OR REPLACE FUNCTION audit_last_said(about text, kinds text) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT convert_from(body, 'UTF8')::jsonb -> 'data' FROM audit_event
    WHERE "on" = about AND kind LIKE kinds ORDER BY id DESC LIMIT 1
$$;

-- Refuse a reading position that moves back or is beyond the sealed leaves. Trigger function,
-- BEFORE INSERT OR UPDATE on audit_cursor.
-- Raises restrict_violation (23001).
-- Events that were skipped are found when the leaves are read again (`audit.significant.detection`).
CREATE OR REPLACE FUNCTION audit_cursor_is_sealed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.leaves < OLD.leaves OR NEW.leaves > (SELECT coalesce(max(leaf) + 1, 0) FROM audit_leaf) THEN
        RAISE EXCEPTION '% cannot have read % leaves', NEW.name, NEW.leaves USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a new significant event that is not in state new (an AML alert: case), is assigned or mailed, or has the key
-- of an event from which it differs. Trigger function, BEFORE INSERT on audit_significant.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION audit_significant_is_new() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.state, NEW.assigned_to) IS DISTINCT FROM (CASE NEW.category WHEN 'laundering' THEN 'case' ELSE 'new' END, '') OR NEW.mailed_at IS NOT NULL
        OR NEW.key LIKE 'event:%' AND NOT EXISTS (
            SELECT FROM audit_event AS event
            WHERE event.id = NEW.event_id AND NEW.key = 'event:' || event.id
                AND event.at = NEW.happened_at AND event."on" = NEW."on")
    THEN
        RAISE EXCEPTION '% is not what was found', NEW.key USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a change of state or assignment that the newest event of the log about it does not state.
-- Trigger function, BEFORE UPDATE on audit_significant.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION audit_significant_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('significant:' || NEW.id, 'significant.%');
BEGIN
    IF (said ->> 'before', said ->> 'after', said ->> 'to') IS DISTINCT FROM (OLD.state, NEW.state, NEW.assigned_to)
        OR OLD.state = 'case' THEN
        RAISE EXCEPTION 'the log does not say that % changed so', NEW.key USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a mailing time in the future. Trigger function, BEFORE UPDATE OF mailed_at on
-- audit_significant.
-- Raises restrict_violation (23001).
-- Mails wait some minutes after the last one, so a time in the future would hold all of them back.
CREATE OR REPLACE FUNCTION audit_significant_is_mailed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.mailed_at > clock_timestamp() THEN
        RAISE EXCEPTION '% has not come yet', NEW.mailed_at USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a change of a threshold that the newest event threshold.changed does not state. Trigger
-- function, BEFORE UPDATE on audit_threshold.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION audit_threshold_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('threshold:' || NEW.what || ':' || NEW.currency, 'threshold.changed');
BEGIN
    IF (said -> 'before', said -> 'after') IS DISTINCT FROM (
        jsonb_build_object('single', OLD.single, 'summed', OLD.summed, 'days', OLD.days),
        jsonb_build_object('single', NEW.single, 'summed', NEW.summed, 'days', NEW.days))
    THEN
        RAISE EXCEPTION 'the log does not say that the threshold of % changed so', NEW.what USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Return the SHA-256 in hex of what a significant event says, without what changes while staff work on it.
CREATE OR REPLACE FUNCTION audit_significant_digest(s audit_significant) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT encode(sha256(convert_to(jsonb_build_array(
        s.key, s.category, s.weight, s.event_id, s."on", s.currency, s.amount, s.title, s.because, s.rows,
        (extract(epoch FROM s.happened_at) * 1000000)::bigint)::text, 'UTF8')), 'hex')
$$;

-- Compare the events `significant.found` of the leaves from `first` to below `beyond` with the significant events.
-- Returns what was verified, the subject as in the event log, and a sentence.
CREATE OR REPLACE FUNCTION audit_verify_logged_significant(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    SELECT 'significant events match the log', e."on", format(
        '%s%s: %s; event %s (leaf %s) records its detection.', e."on", ' (' || s.key || ')',
        CASE WHEN s.id IS NULL THEN 'is missing' ELSE 'was changed afterwards' END, e.id, l.leaf)
    FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind = 'significant.found'
    CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
    LEFT JOIN audit_significant AS s ON s.id = split_part(e."on", ':', 2)::bigint
    WHERE l.leaf >= first AND l.leaf < beyond AND audit_significant_digest(s) IS DISTINCT FROM d.data ->> 'sha256'
$$;

-- Name significant events without an event in the log, from the id `significant` on; events are read from the id `event` on.
CREATE OR REPLACE FUNCTION audit_verify_unlogged_significant(significant bigint, event bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT split_part(e."on", ':', 2)::bigint AS id
        FROM audit_event AS e WHERE e.kind = 'significant.found' AND e.id >= event
    )
    SELECT 'significant events match the log', s."on", format('significant:%s (%s): no event records its detection.', s.id, s.key)
    FROM audit_significant AS s WHERE s.id >= significant AND NOT EXISTS (SELECT FROM said AS f WHERE f.id = s.id)
$$;
