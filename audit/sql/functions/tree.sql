-- The Merkle tree over the event log (RFC 6962, tiles as in C2SP tlog-tiles) and its checkpoints.

-- A tile at the right edge of the tree gets longer until it is full. What stands in it stays.
CREATE OR REPLACE FUNCTION audit_tile_grows() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.level, NEW.number) IS DISTINCT FROM (OLD.level, OLD.number)
        OR octet_length(NEW.hashes) <= octet_length(OLD.hashes)
        OR substring(NEW.hashes FOR octet_length(OLD.hashes)) <> OLD.hashes THEN
        RAISE EXCEPTION 'a tile only grows' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Makes leaves of up to `most` events that wait, in the order of their ids, without gaps, and returns how many leaves there are then.
-- One at a time: whoever comes second waits, and then sees what the first one made.
CREATE OR REPLACE FUNCTION audit_seal(most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    leaves bigint;
    made bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(1012, 0);
    SELECT coalesce(max(leaf) + 1, 0) INTO leaves FROM audit_leaf;
    WITH taken AS (
        DELETE FROM audit_pending WHERE event_id IN (SELECT event_id FROM audit_pending ORDER BY event_id LIMIT most)
        RETURNING event_id
    )
    INSERT INTO audit_leaf (leaf, event_id)
    SELECT leaves + row_number() OVER (ORDER BY event_id) - 1, event_id FROM taken;
    GET DIAGNOSTICS made = ROW_COUNT;
    RETURN leaves + made;
END $$;
REVOKE ALL ON FUNCTION audit_seal FROM PUBLIC;

-- The root over the 256 hashes of a full tile (RFC 6962).
CREATE OR REPLACE FUNCTION audit_root(hashes bytea) RETURNS bytea
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
CREATE OR REPLACE FUNCTION audit_tile_agrees() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
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

-- Once a transaction is over, a tile that is full has its hash in the level above: the sealer goes on from where the leaves end, and looks for no other.
CREATE OR REPLACE FUNCTION audit_tile_rises() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF octet_length(NEW.hashes) = 8192 AND NOT EXISTS (
        SELECT FROM audit_tile AS above
        WHERE above.level = NEW.level + 1 AND above.number = NEW.number / 256 AND octet_length(above.hashes) > NEW.number % 256 * 32) THEN
        RAISE EXCEPTION 'tile % of level % is full and has no hash above', NEW.number, NEW.level USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;

-- Nothing here can tell whether a note is signed; whoever reads it does. But one that is not must neither stand above all that will ever be
-- signed, nor hide below what is: so it is found at once, and the next one is above it.
CREATE OR REPLACE FUNCTION audit_checkpoint_follows() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.size > (SELECT coalesce(max(leaf) + 1, 0) FROM audit_leaf) OR NEW.size <= (SELECT max(size) FROM audit_checkpoint) THEN
        RAISE EXCEPTION 'a checkpoint of % leaves is none to come next', NEW.size USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
