-- Notes are kept: what staff wrote about a player is never changed, and goes with the player.

CREATE TRIGGER players_note_is_kept BEFORE DELETE OR TRUNCATE ON players_note
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

CREATE FUNCTION players_keep_note() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.text = '' AND to_jsonb(NEW) - 'text' = to_jsonb(OLD) - 'text' AND EXISTS (
        SELECT FROM players_closure AS c WHERE c.player_id = OLD.player_id AND c.state = 'erased')
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of players_note are never changed before the account is erased' USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER players_note_stays BEFORE UPDATE ON players_note
    FOR EACH ROW EXECUTE FUNCTION players_keep_note();

-- A note says something, from now, until it is erased.
CREATE FUNCTION players_begin_note() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF btrim(NEW.text) = '' THEN
        RAISE EXCEPTION 'a note about a player says something' USING ERRCODE = 'check_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER players_note_begins BEFORE INSERT ON players_note
    FOR EACH ROW EXECUTE FUNCTION players_begin_note();

CREATE FUNCTION players_forget_notes(player bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE players_note SET text = '' WHERE player_id = player AND text <> '';
$$;

REVOKE ALL ON FUNCTION players_forget_notes FROM PUBLIC;
