-- Deletes the personal values of all events on or by `who` ("player:12"), records that with the names of their fields, and returns how many there
-- were. The events stay as they are: they hold the values' salted hashes only. Nobody but the owner's own functions may call it.
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
        DELETE FROM audit_personal USING audit_event AS event
        WHERE event.id = audit_personal.event_id AND (event."on" = who OR event.by = who)
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
