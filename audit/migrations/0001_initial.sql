-- The parts of the tables of `audit` that Django cannot declare.

-- Events are kept in a table for each month. A month is a block of 2^32 ids (audit/id_ranges.py); November 2026 is the
-- first, and everything before it is one table.
ALTER TABLE audit_event
    ALTER id SET START WITH 1382979469312 RESTART,
    ALTER at SET DEFAULT clock_timestamp(),
    -- An entry of a tile begins with its length in two bytes (C2SP tlog-tiles): no event with its salt is longer.
    ADD CONSTRAINT audit_event_fits CHECK (octet_length(body) <= 65519),
    ADD CONSTRAINT audit_event_is_salted CHECK (octet_length(salt) = 16);
CREATE TABLE audit_event_before PARTITION OF audit_event FOR VALUES FROM (MINVALUE) TO (1382979469312);

ALTER TABLE audit_personal
    ADD CONSTRAINT audit_personal_is_salted CHECK (octet_length(salt) = 16);

ALTER TABLE audit_leaf
    ADD CONSTRAINT audit_leaf_counts CHECK (leaf >= 0);

ALTER TABLE audit_tile
    ADD CONSTRAINT audit_tile_place CHECK (level BETWEEN 0 AND 7 AND number >= 0),
    ADD CONSTRAINT audit_tile_is_of_hashes CHECK (octet_length(hashes) % 32 = 0 AND octet_length(hashes) BETWEEN 32 AND 8192);

ALTER TABLE audit_checkpoint
    ADD CONSTRAINT audit_checkpoint_is_of_leaves CHECK (size > 0 AND octet_length(root) = 32);

ALTER TABLE audit_approval
    ADD CONSTRAINT audit_approval_frozen CHECK (sha256 = sha256(convert_to(request, 'UTF8'))),
    ADD CONSTRAINT audit_approval_expires CHECK (expires_at > at),
    ADD CONSTRAINT audit_approval_person UNIQUE (id, person);

-- `asker` is the person who asked: the foreign key makes sure of it, and the check can then compare the two in one row.
ALTER TABLE audit_decision
    ADD CONSTRAINT audit_decision_asker FOREIGN KEY (approval_id, asker) REFERENCES audit_approval (id, person),
    ADD CONSTRAINT audit_decision_verdict CHECK (verdict IN ('approved', 'refused', 'expired', 'withdrawn')),
    ADD CONSTRAINT audit_decision_somebody CHECK ((person IS NULL) = (verdict = 'expired')),
    ADD CONSTRAINT audit_decision_other_person CHECK ((person = asker) = (verdict = 'withdrawn'));

ALTER TABLE audit_retention
    ADD CONSTRAINT audit_retention_long_enough CHECK (days >= minimum AND minimum > 0),
    ADD CONSTRAINT audit_retention_has_a_source CHECK (source <> '');
