-- Approvals: a request that one person makes and another person decides.

-- The clock is the database's, read when the row is written: a form sent in time that waited too long comes too late.
CREATE OR REPLACE FUNCTION audit_decide_in_time() RETURNS trigger
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
