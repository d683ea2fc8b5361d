-- What stands in the log is held to what it is about, whoever writes it: events to their form, tiles to their leaves, checkpoints to the tree's size.

ALTER TABLE audit_personal
    ADD CONSTRAINT audit_personal_is_salted CHECK (octet_length(salt) = 16);

-- Writes an event, its place in the queue for sealing and its personal values, and returns its id. Nobody but the owner's own functions may call it.
-- `rest` is the canonical JSON of the event without its time, keys sorted: {"by":…,"data":…,"kind":…,"on":…,"personal":…}. The database's
-- clock gives the time, and "at" sorts before every other key, so putting it in front keeps the text canonical.
-- `personal` is a JSON array of {"field", "salt" (hex), "value"}.
-- What the columns say is what the proven bytes say. So `rest` has to be what comes of its own parts when they are put together again: no other
-- key, none twice, no other order, nothing around it. What jsonb does not take could never be queried; what is nested more deeply or has
-- larger numbers than other programs read could be checked by nobody outside. And its hashes are those of the personal values: one that is
-- not would look for ever as if somebody had changed the value, or taken it.
CREATE FUNCTION audit_write(kind text, by text, "on" text, rest text, personal jsonb) RETURNS bigint
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

-- The way in for everybody: `audit_write`, but for what the database alone can say that it has done.
CREATE OR REPLACE FUNCTION audit_record(kind text, by text, "on" text, rest text, personal jsonb) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF kind IN ('personal.erased', 'personal.expired', 'retention.changed') THEN
        RAISE EXCEPTION 'only the database says %', kind USING ERRCODE = 'check_violation';
    END IF;
    RETURN audit_write(kind, by, "on", rest, personal);
END $$;

REVOKE ALL ON FUNCTION audit_write FROM PUBLIC;

-- The root over the 256 hashes of a full tile (RFC 6962).
CREATE FUNCTION audit_root(hashes bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    WHILE octet_length(hashes) > 32 LOOP
        SELECT string_agg(sha256('\x01'::bytea || substring(hashes FROM 64 * pair + 1 FOR 64)), ''::bytea ORDER BY pair)
        INTO hashes FROM generate_series(0, octet_length(hashes) / 64 - 1) AS pair;
    END LOOP;
    RETURN hashes;
END $$;

-- A hash that comes into a tile is that of its leaf, further up that of the full tile below it: else the signer would be asked to sign what
-- never happened, and a tile that is wrong could never be set right. What was in the tile before was seen to when it came. Tiles have no gaps.
CREATE FUNCTION audit_tile_agrees() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held integer := CASE TG_OP WHEN 'UPDATE' THEN octet_length(OLD.hashes) ELSE 0 END;
    first bigint := 256 * NEW.number + held / 32;
    beyond bigint := 256 * NEW.number + octet_length(NEW.hashes) / 32;
    due bytea;
BEGIN
    IF NEW.level = 0 THEN
        SELECT string_agg(sha256('\x00'::bytea || event.body), ''::bytea ORDER BY leaf.leaf) INTO due
        FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id
        WHERE leaf.leaf >= first AND leaf.leaf < beyond;
    ELSE
        SELECT string_agg(audit_root(below.hashes), ''::bytea ORDER BY below.number) INTO due
        FROM audit_tile AS below
        WHERE below.level = NEW.level - 1 AND below.number >= first AND below.number < beyond AND octet_length(below.hashes) = 8192;
    END IF;
    IF coalesce(due, '') <> substring(NEW.hashes FROM held + 1) OR NEW.number > 0 AND NOT EXISTS (
        SELECT FROM audit_tile AS before
        WHERE before.level = NEW.level AND before.number = NEW.number - 1 AND octet_length(before.hashes) = 8192) THEN
        RAISE EXCEPTION 'tile % of level % is not that of its leaves', NEW.number, NEW.level USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER audit_tile_is_of_its_leaves AFTER INSERT OR UPDATE ON audit_tile
    FOR EACH ROW EXECUTE FUNCTION audit_tile_agrees();

-- Once a transaction is over, a tile that is full has its hash in the level above: the sealer goes on from where the leaves end, and looks for no other.
CREATE FUNCTION audit_tile_rises() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF octet_length(NEW.hashes) = 8192 AND NOT EXISTS (
        SELECT FROM audit_tile AS above
        WHERE above.level = NEW.level + 1 AND above.number = NEW.number / 256 AND octet_length(above.hashes) > NEW.number % 256 * 32) THEN
        RAISE EXCEPTION 'tile % of level % is full and has no hash above', NEW.number, NEW.level USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER audit_tile_has_its_hash_above AFTER INSERT OR UPDATE ON audit_tile DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION audit_tile_rises();

-- Nothing here can tell whether a note is signed; whoever reads it does. But one that is not must neither stand above all that will ever be
-- signed, nor hide below what is: so it is found at once, and the next one is above it.
CREATE FUNCTION audit_checkpoint_follows() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.size > (SELECT coalesce(max(leaf) + 1, 0) FROM audit_leaf) OR NEW.size <= (SELECT max(size) FROM audit_checkpoint) THEN
        RAISE EXCEPTION 'a checkpoint of % leaves is none to come next', NEW.size USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_checkpoint_is_next BEFORE INSERT ON audit_checkpoint
    FOR EACH ROW EXECUTE FUNCTION audit_checkpoint_follows();
