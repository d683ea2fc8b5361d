-- Approvals: a request that one person makes and another person decides.

-- Set the time of a decision to the database's time, and check it against the approval's end.
-- Trigger function, BEFORE INSERT on audit_decision.
-- Raises SB007 for a decision after `expires_at`, or for the verdict expired before it.
-- The time is read when the row is written, so a form that was sent in time but waited too long is
-- late.
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
