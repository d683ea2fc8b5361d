-- Notes of staff about a player.

-- Allow one change of a note: its text is emptied after the account was erased. Trigger function,
-- BEFORE UPDATE on players_note.
-- Raises restrict_violation (23001) for any other change.
CREATE OR REPLACE FUNCTION players_keep_note() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.text = '' AND to_jsonb(NEW) - 'text' = to_jsonb(OLD) - 'text' AND EXISTS (
        SELECT FROM players_closure AS c WHERE c.player_id = OLD.player_id AND c.state = 'erased')
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of players_note are never changed before the account is erased' USING ERRCODE = 'restrict_violation';
END $$;

-- Refuse an empty note. Trigger function, BEFORE INSERT on players_note. Sets `at` to the
-- database's time.
-- Raises check_violation (23514).
CREATE OR REPLACE FUNCTION players_begin_note() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF btrim(NEW.text) = '' THEN
        RAISE EXCEPTION 'a note about a player says something' USING ERRCODE = 'check_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

-- Empty the texts of all notes about a player.
-- Raises restrict_violation (23001), from players_keep_note, unless the account was erased.
CREATE OR REPLACE FUNCTION players_forget_notes(player bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE players_note SET text = '' WHERE player_id = player AND text <> '';
$$;
REVOKE ALL ON FUNCTION players_forget_notes FROM PUBLIC;
