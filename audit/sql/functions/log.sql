-- The event log: one function writes events, and nothing changes them.

CREATE OR REPLACE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Writes an event, its place in the queue for sealing and its personal values, and returns its id. Nobody but the owner's own functions may call it.
-- `rest` is the canonical JSON of the event without its time, keys sorted: {"by":…,"data":…,"kind":…,"on":…,"personal":…}. The database's
-- clock gives the time, and "at" sorts before every other key, so putting it in front keeps the text canonical.
-- `personal` is a JSON array of {"field", "salt" (hex), "value"}.
-- What the columns say is what the proven bytes say. So `rest` has to be what comes of its own parts when they are put together again: no other
-- key, none twice, no other order, nothing around it. What jsonb does not take could never be queried; what is nested more deeply or has
-- larger numbers than other programs read could be checked by nobody outside. And its hashes are those of the personal values: one that is
-- not would look for ever as if somebody had changed the value, or taken it.
CREATE OR REPLACE FUNCTION audit_write(kind text, by text, "on" text, rest text, personal jsonb) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    now_is timestamptz := clock_timestamp();
    event_id bigint;
    said json := rest;
    parts jsonb := rest;
BEGIN
    IF rest IS DISTINCT FROM
            '{"by":' || to_json(by)::text || ',"data":' || (said -> 'data')::text || ',"kind":' || to_json(kind)::text
            || ',"on":' || to_json("on")::text || coalesce(',"personal":' || (said -> 'personal')::text, '') || '}'
        OR json_typeof(said -> 'data') <> 'object' OR json_typeof(said -> 'personal') <> 'object'
        OR rest IS NOT JSON OBJECT WITH UNIQUE KEYS THEN
        RAISE EXCEPTION 'event % says something else than its columns', kind USING ERRCODE = 'check_violation';
    END IF;
    IF parts @? '$.**{32 to last}' OR parts @? '$.** ? (@ > 1e100 || @ < -1e100)' THEN
        RAISE EXCEPTION 'event % holds what not everybody could read', kind USING ERRCODE = 'check_violation';
    END IF;
    IF parts -> 'personal' IS DISTINCT FROM (
        SELECT jsonb_object_agg(
            line ->> 'field', encode(sha256(decode(line ->> 'salt', 'hex') || convert_to(line ->> 'value', 'UTF8')), 'hex'))
        FROM jsonb_array_elements(personal) AS line) THEN
        RAISE EXCEPTION 'event % has other personal values than its hashes', kind USING ERRCODE = 'check_violation';
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
REVOKE ALL ON FUNCTION audit_write FROM PUBLIC;

-- The way in for everybody: `audit_write`, but for what the database alone can say that it has done.
CREATE OR REPLACE FUNCTION audit_record(kind text, by text, "on" text, rest text, personal jsonb) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF kind IN ('personal.erased', 'personal.expired', 'retention.changed') THEN
        RAISE EXCEPTION 'only the database says %', kind USING ERRCODE = 'check_violation';
    END IF;
    RETURN audit_write(kind, by, "on", rest, personal);
END $$;
REVOKE ALL ON FUNCTION audit_record FROM PUBLIC;

CREATE OR REPLACE FUNCTION audit_event_is_there() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    missing bigint;
BEGIN
    SELECT n.event_id INTO missing FROM new_rows AS n
    WHERE n.event_id IS NOT NULL AND NOT EXISTS (SELECT FROM audit_event AS e WHERE e.id = n.event_id) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'there is no event %', missing
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NULL;
END $$;
