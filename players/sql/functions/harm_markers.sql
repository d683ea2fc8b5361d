-- Markers of harm: flags, contacts with players, and their erasure.

-- Return whether the account of a flag's player was erased. Only then may staff texts about the
-- player be emptied.
-- `flag`: id of the flag.
CREATE OR REPLACE FUNCTION players_flag_is_erased(flag bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM players_flag AS f JOIN players_closure AS c ON c.player_id = f.player_id AND c.state = 'erased'
        WHERE f.id = flag)
$$;

-- Allow one change of a contact: its text is emptied after the account was erased. Trigger
-- function, BEFORE UPDATE on players_contact.
-- Raises restrict_violation (23001) for any other change.
CREATE OR REPLACE FUNCTION players_keep_contact() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.said = '' AND players_flag_is_erased(OLD.flag_id) AND to_jsonb(NEW) - 'said' = to_jsonb(OLD) - 'said' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of players_contact are never changed before the account is erased' USING ERRCODE = 'restrict_violation';
END $$;

-- Empty the staff texts of a player's flags and contacts.
-- Raises restrict_violation (23001), from the triggers on both tables, unless the account was
-- erased.
CREATE OR REPLACE FUNCTION players_forget_flags(player bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE players_contact AS c SET said = '' FROM players_flag AS f
    WHERE f.id = c.flag_id AND f.player_id = player AND c.said <> '';
    UPDATE players_flag SET note = '' WHERE player_id = player AND note <> '';
END $$;
REVOKE ALL ON FUNCTION players_forget_flags FROM PUBLIC;

-- Allow two changes of a flag: it is closed once, and its note is emptied after the account was
-- erased. Trigger function, BEFORE UPDATE on players_flag. Sets `closed_at` to the database's time.
-- Raises restrict_violation (23001) if the flag is closed.
CREATE OR REPLACE FUNCTION players_close_flag() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.note = '' AND players_flag_is_erased(OLD.id) AND to_jsonb(NEW) - 'note' = to_jsonb(OLD) - 'note' THEN
        RETURN NEW;
    END IF;
    IF OLD.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'flag % is closed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.closed_at := clock_timestamp();
    RETURN NEW;
END $$;
