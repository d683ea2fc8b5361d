-- The person behind a staff account.

-- Check that a person who requests or decides an approval owns the staff account that acts. Trigger
-- function, BEFORE INSERT on audit_approval and audit_decision.
-- Raises check_violation (23514).
-- The function is in this app because audit does not know staff accounts.
CREATE OR REPLACE FUNCTION players_check_person() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM players_staff AS s WHERE 'staff:' || s.id = NEW."by" AND s.person = NEW.person) THEN
        RAISE EXCEPTION '% is not the person %', NEW."by", NEW.person USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse to give a staff account to another person. Trigger function, BEFORE UPDATE OF person on
-- players_staff.
-- Raises restrict_violation (23001), always.
CREATE OR REPLACE FUNCTION players_refuse_other_person() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% stays the account of one person', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
