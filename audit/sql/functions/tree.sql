-- The Merkle tree over the event log (RFC 6962, tiles as in C2SP tlog-tiles) and its checkpoints.

-- Refuse a change of a tile except more hashes at its end. Trigger function, BEFORE UPDATE on
-- audit_tile.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION audit_tile_grows() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.level, NEW.number) IS DISTINCT FROM (OLD.level, OLD.number)
        OR octet_length(NEW.hashes) <= octet_length(OLD.hashes)
        OR substring(NEW.hashes FOR octet_length(OLD.hashes)) <> OLD.hashes THEN
        RAISE EXCEPTION 'a tile only grows' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Make leaves of the events in the queue, in the order of their ids and without gaps.
-- `most`: largest number of events.
-- Returns the number of leaves of the tree afterwards.
-- Locks advisory lock (1012, 0) until the transaction ends: a second caller waits, and then sees
-- the new leaves.
-- An event that is visible in the queue is committed, and stays there until it is a leaf. So no
-- event is skipped, whichever transaction commits first.
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

-- Return the root over the hashes of leaves, or of a full tile (RFC 6962): a hash without a neighbour rises as it is.
-- `hashes`: at least one SHA-256 hash of 32 bytes.
CREATE OR REPLACE FUNCTION audit_root(hashes bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    WHILE octet_length(hashes) > 32 LOOP
        SELECT string_agg(CASE octet_length(two.part) WHEN 64 THEN sha256('\x01'::bytea || two.part) ELSE two.part END,
                          ''::bytea ORDER BY two.pair)
        INTO hashes FROM (
            SELECT pair, substring(hashes FROM 64 * pair + 1 FOR 64) AS part
            FROM generate_series(0, (octet_length(hashes) - 1) / 64) AS pair
        ) AS two;
    END LOOP;
    RETURN hashes;
END $$;

-- Check that the new hashes of a tile are those of its leaves or, above level 0, of the full tiles
-- below it, and that the tile before it is full. Trigger function, AFTER INSERT OR UPDATE on
-- audit_tile.
-- Raises check_violation (23514).
-- Only new hashes are checked: the others were checked when they were added. A wrong tile could
-- never be corrected, and the signer would be asked to sign a tree that does not match the log.
CREATE OR REPLACE FUNCTION audit_tile_agrees() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held integer := CASE TG_OP WHEN 'UPDATE' THEN octet_length(OLD.hashes) ELSE 0 END;
    first bigint := 256 * NEW.number + held / 32;
    beyond bigint := 256 * NEW.number + octet_length(NEW.hashes) / 32;
    due bytea;
BEGIN
    IF NEW.level = 0 THEN
        SELECT string_agg(sha256('\x00'::bytea || audit_entry(event.body, event.salt)), ''::bytea ORDER BY leaf.leaf) INTO due
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

-- Check that a full tile has its hash in the level above. Constraint trigger function, AFTER INSERT
-- OR UPDATE on audit_tile, at commit, because the level above is written after the tile.
-- Raises check_violation (23514).
-- The sealer continues from the last leaf and would not find a missing hash.
CREATE OR REPLACE FUNCTION audit_tile_rises() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF octet_length(NEW.hashes) = 8192 AND NOT EXISTS (
        SELECT FROM audit_tile AS above
        WHERE above.level = NEW.level + 1 AND above.number = NEW.number / 256 AND octet_length(above.hashes) > NEW.number % 256 * 32) THEN
        RAISE EXCEPTION 'tile % of level % is full and has no hash above', NEW.number, NEW.level USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;

-- Refuse a checkpoint that has more leaves than the tree, or no more than the newest checkpoint.
-- Trigger function, BEFORE INSERT on audit_checkpoint.
-- Raises restrict_violation (23001).
-- The database cannot verify the signature: readers do. With these limits a forged checkpoint is
-- the newest one, so it is found at once, and the next real one can follow it.
CREATE OR REPLACE FUNCTION audit_checkpoint_follows() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.size > (SELECT coalesce(max(leaf) + 1, 0) FROM audit_leaf) OR NEW.size <= (SELECT max(size) FROM audit_checkpoint) THEN
        RAISE EXCEPTION 'a checkpoint of % leaves is none to come next', NEW.size USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
