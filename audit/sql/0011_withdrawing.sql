-- A request may also be withdrawn: by the person who asked, and by nobody else. The trigger audit_decision_in_time holds
-- already that only what nobody decided ends after its time, and everything else within it.

-- The column becomes longer. No column that a trigger looks at may change its type: triggers of the floors above, which
-- this file does not know, go for as long as that takes, and come back as they were.
DO $$
DECLARE
    looking text[] := ARRAY(
        SELECT pg_get_triggerdef(oid) FROM pg_trigger
        WHERE tgrelid = 'audit_decision'::regclass AND NOT tgisinternal AND tgqual IS NOT NULL ORDER BY tgname);
    each text;
BEGIN
    FOR each IN SELECT tgname FROM pg_trigger
        WHERE tgrelid = 'audit_decision'::regclass AND NOT tgisinternal AND tgqual IS NOT NULL
    LOOP
        EXECUTE format('DROP TRIGGER %I ON audit_decision', each);
    END LOOP;
    ALTER TABLE audit_decision ALTER verdict TYPE varchar(9);
    FOREACH each IN ARRAY looking LOOP
        EXECUTE each;
    END LOOP;
END $$;

ALTER TABLE audit_decision
    DROP CONSTRAINT audit_decision_verdict,
    DROP CONSTRAINT audit_decision_other_person,
    ADD CONSTRAINT audit_decision_verdict CHECK (verdict IN ('approved', 'refused', 'expired', 'withdrawn')),
    ADD CONSTRAINT audit_decision_other_person CHECK ((person = asker) = (verdict = 'withdrawn'));
