-- Markers of harm: flags, contacts with players, and their erasure.

-- What staff wrote about a player goes with the player, once the account has been erased, and never before.
CREATE OR REPLACE FUNCTION players_flag_is_erased(flag bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM players_flag AS f JOIN players_closure AS c ON c.player_id = f.player_id AND c.state = 'erased'
        WHERE f.id = flag)
$$;

CREATE OR REPLACE FUNCTION players_keep_contact() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.said = '' AND players_flag_is_erased(OLD.flag_id) AND to_jsonb(NEW) - 'said' = to_jsonb(OLD) - 'said' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of players_contact are never changed before the account is erased' USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE FUNCTION players_forget_flags(player bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE players_contact AS c SET said = '' FROM players_flag AS f
    WHERE f.id = c.flag_id AND f.player_id = player AND c.said <> '';
    UPDATE players_flag SET note = '' WHERE player_id = player AND note <> '';
END $$;
REVOKE ALL ON FUNCTION players_forget_flags FROM PUBLIC;

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
