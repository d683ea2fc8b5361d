-- The event log. One function writes it; nothing and nobody changes it.

ALTER TABLE audit_event ALTER COLUMN at SET DEFAULT clock_timestamp();

-- Transaction ids tell the sealer which rows are committed; identities alone cannot (a lower id may commit later).
ALTER TABLE audit_pending ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();

CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER audit_event_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_personal_is_kept BEFORE UPDATE OR TRUNCATE ON audit_personal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- Writes an event, its place in the queue for sealing and its personal values, and returns its id.
-- `rest` is the canonical JSON of the event without its time, keys sorted: {"by":…,"data":…,"kind":…,"on":…,"personal":…}. The database's
-- clock gives the time, and "at" sorts before every other key, so putting it in front keeps the text canonical.
-- `personal` is a JSON array of {"field", "salt" (hex), "value"}.
-- What the columns say is what the proven bytes say: text that is no JSON, or names somebody else, is refused.
CREATE FUNCTION audit_record(kind text, by text, "on" text, rest text, personal jsonb) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    now_is timestamptz := clock_timestamp();
    event_id bigint;
    said jsonb := rest::jsonb;
BEGIN
    IF (said ->> 'kind', said ->> 'by', said ->> 'on') IS DISTINCT FROM (kind, by, "on") OR said ? 'at' THEN
        RAISE EXCEPTION 'event % says something else than its columns', kind USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO audit_event (at, kind, by, "on", body)
    VALUES (now_is, kind, by, "on", convert_to(
        '{"at":"' || to_char(now_is AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '",' || substr(rest, 2), 'UTF8'))
    RETURNING id INTO event_id;
    INSERT INTO audit_pending (event_id) VALUES (event_id);
    IF personal IS NOT NULL THEN
        INSERT INTO audit_personal (event_id, field, salt, value)
        SELECT event_id, line ->> 'field', decode(line ->> 'salt', 'hex'), line ->> 'value' FROM jsonb_array_elements(personal) AS line;
    END IF;
    RETURN event_id;
END $$;

REVOKE ALL ON FUNCTION audit_record FROM PUBLIC;
