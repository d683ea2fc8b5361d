-- Approvals. What was asked for never changes, it is decided once, in time, and by another person.

ALTER TABLE audit_approval
    ADD CONSTRAINT audit_approval_frozen CHECK (sha256 = sha256(convert_to(request, 'UTF8'))),
    ADD CONSTRAINT audit_approval_expires CHECK (expires_at > at),
    ADD CONSTRAINT audit_approval_person UNIQUE (id, person);

-- `asker` is the person who asked: the foreign key sees to it, and the check can then compare the two in one row.
ALTER TABLE audit_decision
    ADD CONSTRAINT audit_decision_asker FOREIGN KEY (approval_id, asker) REFERENCES audit_approval (id, person),
    ADD CONSTRAINT audit_decision_verdict CHECK (verdict IN ('approved', 'refused', 'expired')),
    ADD CONSTRAINT audit_decision_somebody CHECK ((person IS NULL) = (verdict = 'expired')),
    ADD CONSTRAINT audit_decision_other_person CHECK (person <> asker);

CREATE TRIGGER audit_approval_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_approval
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_decision_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_decision
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- The clock is the database's, read when the row is written: a form sent in time that waited too long comes too late.
CREATE FUNCTION audit_decide_in_time() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    ends timestamptz;
BEGIN
    SELECT expires_at INTO ends FROM audit_approval WHERE id = NEW.approval_id;
    NEW.at := clock_timestamp();
    IF (NEW.verdict = 'expired') <> (NEW.at >= ends) THEN
        RAISE EXCEPTION 'approval % ends at %, not %', NEW.approval_id, ends, NEW.verdict USING ERRCODE = 'SB007';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_decision_in_time BEFORE INSERT ON audit_decision
    FOR EACH ROW EXECUTE FUNCTION audit_decide_in_time();
