-- The person behind an account.

-- Who asks for an approval and who decides it are members of staff, and the person named with them is theirs: so nobody
-- is somebody else for the length of a click. The ground floor knows no staff, so this stands here.
CREATE OR REPLACE FUNCTION players_check_person() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM players_staff AS s WHERE 'staff:' || s.id = NEW."by" AND s.person = NEW.person) THEN
        RAISE EXCEPTION '% is not the person %', NEW."by", NEW.person USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- An account is one person's for good.
CREATE OR REPLACE FUNCTION players_refuse_other_person() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% stays the account of one person', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
