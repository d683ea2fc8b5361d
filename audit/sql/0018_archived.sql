-- Personal values expire whether or not the month of their event has gone to an archive: how old it is, `audit_archived_event` says then.
CREATE OR REPLACE FUNCTION audit_expire(what text, most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    kept audit_retention%ROWTYPE;
    ends timestamptz;
    expired bigint;
BEGIN
    SELECT * INTO STRICT kept FROM audit_retention AS r WHERE r.what = audit_expire.what FOR UPDATE;
    ends := clock_timestamp() - make_interval(days => kept.days);
    WITH oldest AS (
        SELECT value.event_id, value.field FROM unnest(kept.fields) AS named(field),
            LATERAL (SELECT p.event_id, p.field FROM audit_personal AS p WHERE p.field = named.field ORDER BY p.event_id LIMIT most) AS value
    )
    DELETE FROM audit_personal AS p USING oldest
    WHERE p.event_id = oldest.event_id AND p.field = oldest.field AND ends > coalesce(
        (SELECT event.at FROM audit_event AS event WHERE event.id = oldest.event_id),
        (SELECT archived.at FROM audit_archived_event AS archived WHERE archived.event_id = oldest.event_id));
    GET DIAGNOSTICS expired = ROW_COUNT;
    IF expired > 0 THEN
        PERFORM audit_write('personal.expired', 'system', 'retention:' || kept.what, format(
            '{"by":"system","data":{"before":"%s","days":%s,"fields":%s,"values":%s},"kind":"personal.expired","on":%s}',
            to_char(ends AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), kept.days,
            (SELECT '[' || string_agg(to_json(field)::text, ',' ORDER BY field) || ']' FROM unnest(kept.fields) AS field),
            expired, to_json('retention:' || kept.what)), NULL);
    END IF;
    RETURN expired;
END $$;
