-- Who is forgotten is forgotten in archived months, too: whose the events were, `audit_archived_event` says as long as personal values of them
-- are here. Otherwise as in 0012.
CREATE OR REPLACE FUNCTION audit_erase(who text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    erased bigint;
    named text;
BEGIN
    IF who !~ '^(player|staff):[0-9]+$' THEN
        RAISE EXCEPTION '% is nobody', who USING ERRCODE = 'check_violation';
    END IF;
    WITH gone AS (
        DELETE FROM audit_personal WHERE event_id IN (
            SELECT event.id FROM audit_event AS event WHERE event."on" = who OR event.by = who
            UNION ALL
            SELECT archived.event_id FROM audit_archived_event AS archived WHERE archived."on" = who OR archived.by = who)
        RETURNING field
    ), fields AS (
        SELECT field, count(*) AS number FROM gone GROUP BY field
    )
    SELECT coalesce(sum(number), 0), coalesce(string_agg(to_json(field)::text, ',' ORDER BY field COLLATE "C"), '')
    INTO erased, named FROM fields;
    PERFORM audit_write('personal.erased', 'system', who, format(
        '{"by":"system","data":{"fields":[%s],"values":%s},"kind":"personal.erased","on":"%s"}', named, erased, who), NULL);
    RETURN erased;
END $$;
