-- Notes of staff about a player.

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

-- A note says something, from now, until it is erased.
CREATE OR REPLACE FUNCTION players_begin_note() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF btrim(NEW.text) = '' THEN
        RAISE EXCEPTION 'a note about a player says something' USING ERRCODE = 'check_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION players_forget_notes(player bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE players_note SET text = '' WHERE player_id = player AND text <> '';
$$;
REVOKE ALL ON FUNCTION players_forget_notes FROM PUBLIC;
