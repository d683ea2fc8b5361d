-- Retention: how long each kind of record is kept, and the deletion of personal values after that
-- time.

-- Return how long a kind of record is kept; NULL if no time is set, so that a comparison with it
-- never allows a deletion.
-- `what`: key of audit_retention.
CREATE OR REPLACE FUNCTION audit_retention_period(what text) RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT make_interval(days => rule.days) FROM audit_retention AS rule WHERE rule.what = audit_retention_period.what
$$;

-- Change how long a kind of record is kept, as an approval says, and record the event
-- retention.changed.
-- `approval`: id of an approved approval of kind retention.change; its request has `what`, `before`
-- and `days`.
-- Raises check_violation (23514) if there is no such approval or the time is shorter than the legal
-- minimum. Raises SB008 if the time is no longer `before`, or a newer approval was executed: so
-- none is executed twice or out of order.
CREATE OR REPLACE FUNCTION audit_keep_for(approval bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    asked jsonb;
    decider text;
BEGIN
    SELECT a.request::jsonb, d.by INTO asked, decider
    FROM audit_approval AS a JOIN audit_decision AS d ON d.approval_id = a.id
    WHERE a.id = approval AND a.kind = 'retention.change' AND d.verdict = 'approved';
    IF asked IS NULL THEN
        RAISE EXCEPTION 'approval % changes no retention', approval USING ERRCODE = 'check_violation';
    END IF;
    UPDATE audit_retention AS rule SET days = (asked ->> 'days')::integer, approval_id = approval
    WHERE rule.what = asked ->> 'what' AND rule.days = (asked ->> 'before')::integer AND coalesce(rule.approval_id, 0) < approval;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'approval % does not fit any more', approval USING ERRCODE = 'SB008';
    END IF;
    PERFORM audit_write('retention.changed', decider, 'retention:' || (asked ->> 'what'), format(
        '{"by":%s,"data":{"approval":%s,"before":%s,"days":%s},"kind":"retention.changed","on":%s}', to_json(decider), approval,
        asked ->> 'before', asked ->> 'days', to_json('retention:' || (asked ->> 'what'))), NULL);
END $$;
REVOKE ALL ON FUNCTION audit_keep_for FROM PUBLIC;

-- Delete personal values whose retention time is over, oldest first, and record the event
-- personal.expired.
-- `what`: key of audit_retention, which lists the fields. `most`: largest number of values for each
-- field.
-- Returns the number of values.
-- Raises no_data_found (P0002) for an unknown `what`.
-- Locks the row of audit_retention.
-- The events stay: they hold only salted hashes of the values.
CREATE OR REPLACE FUNCTION audit_expire(what text, most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    rule audit_retention%ROWTYPE;
    ends timestamptz;
    expired bigint;
BEGIN
    SELECT * INTO STRICT rule FROM audit_retention AS r WHERE r.what = audit_expire.what FOR UPDATE;
    ends := clock_timestamp() - make_interval(days => rule.days);
    WITH oldest AS (
        SELECT value.event_id, value.field FROM unnest(rule.fields) AS named(field),
            LATERAL (SELECT p.event_id, p.field FROM audit_personal AS p WHERE p.field = named.field ORDER BY p.event_id LIMIT most) AS value
    )
    DELETE FROM audit_personal AS p USING oldest
    WHERE p.event_id = oldest.event_id AND p.field = oldest.field
        AND ends > (SELECT event.at FROM audit_event AS event WHERE event.id = oldest.event_id);
    GET DIAGNOSTICS expired = ROW_COUNT;
    IF expired > 0 THEN
        PERFORM audit_write('personal.expired', 'system', 'retention:' || rule.what, format(
            '{"by":"system","data":{"before":"%s","days":%s,"fields":%s,"values":%s},"kind":"personal.expired","on":%s}',
            to_char(ends AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), rule.days,
            (SELECT '[' || string_agg(to_json(field)::text, ',' ORDER BY field) || ']' FROM unnest(rule.fields) AS field),
            expired, to_json('retention:' || rule.what)), NULL);
    END IF;
    RETURN expired;
END $$;
REVOKE ALL ON FUNCTION audit_expire FROM PUBLIC;

-- Return the players that an event of kind data.accessed names, as 'player:<id>'; empty for other
-- events.
-- `body`: the bytes of the event. IMMUTABLE, because an index uses it.
CREATE OR REPLACE FUNCTION audit_players(body bytea) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT ARRAY(SELECT jsonb_array_elements_text(convert_from(body, 'UTF8')::jsonb #> '{data,players}'))
$$;

-- Return the words of an event's data, for the text search of the audit log.
-- `body`: the bytes of the event. IMMUTABLE, because an index uses it.
CREATE OR REPLACE FUNCTION audit_words(body bytea) RETURNS tsvector
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT jsonb_to_tsvector('simple', convert_from(body, 'UTF8')::jsonb -> 'data', '["string"]')
$$;
