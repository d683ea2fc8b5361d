-- The tree over the event log (RFC 6962): which event is which leaf, the tiles of hashes, and the checkpoints that were signed over them.

-- An entry of a tile begins with its length in two bytes (C2SP tlog-tiles): no event is longer.
ALTER TABLE audit_event ADD CONSTRAINT audit_event_fits CHECK (octet_length(body) <= 65535);

-- Whatever can be seen in the queue is committed, and stays in it until it is a leaf: nothing is skipped, whichever transaction commits first,
-- and no long transaction holds others back. So nobody needs to know who wrote it.
ALTER TABLE audit_pending DROP COLUMN xid;

ALTER TABLE audit_leaf
    ADD CONSTRAINT audit_leaf_counts CHECK (leaf >= 0);

ALTER TABLE audit_tile
    ADD CONSTRAINT audit_tile_place CHECK (level BETWEEN 0 AND 7 AND number >= 0),
    ADD CONSTRAINT audit_tile_is_of_hashes CHECK (octet_length(hashes) % 32 = 0 AND octet_length(hashes) BETWEEN 32 AND 8192);

ALTER TABLE audit_checkpoint
    ADD CONSTRAINT audit_checkpoint_is_of_leaves CHECK (size > 0 AND octet_length(root) = 32);

CREATE TRIGGER audit_leaf_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_leaf
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_checkpoint_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_checkpoint
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_tile_is_kept BEFORE DELETE OR TRUNCATE ON audit_tile
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- A tile at the right edge of the tree gets longer until it is full. What stands in it stays.
CREATE FUNCTION audit_tile_grows() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.level, NEW.number) IS DISTINCT FROM (OLD.level, OLD.number)
        OR octet_length(NEW.hashes) <= octet_length(OLD.hashes)
        OR substring(NEW.hashes FOR octet_length(OLD.hashes)) <> OLD.hashes THEN
        RAISE EXCEPTION 'a tile only grows' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_tile_only_grows BEFORE UPDATE ON audit_tile
    FOR EACH ROW EXECUTE FUNCTION audit_tile_grows();

-- Makes leaves of up to `most` events that wait, in the order of their ids, without gaps, and returns how many leaves there are then.
-- One at a time: whoever comes second waits, and then sees what the first one made.
CREATE FUNCTION audit_seal(most integer) RETURNS bigint
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
