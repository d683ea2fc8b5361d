-- Flags are kept: what was seen and what staff did about it is never changed, and a flag is closed once, now.

CREATE TRIGGER players_sighting_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_sighting
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_contact_is_kept BEFORE DELETE OR TRUNCATE ON players_contact
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_marker_look_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_marker_look
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_flag_is_kept BEFORE DELETE OR TRUNCATE ON players_flag
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_flag_identity BEFORE UPDATE OF id, player_id, marker, raised_at ON players_flag
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- What staff wrote about a player goes with the player, once the account has been erased, and never before.
CREATE FUNCTION players_flag_is_erased(flag bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM players_flag AS f JOIN players_closure AS c ON c.player_id = f.player_id AND c.state = 'erased'
        WHERE f.id = flag)
$$;

CREATE FUNCTION players_keep_contact() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.said = '' AND players_flag_is_erased(OLD.flag_id) AND to_jsonb(NEW) - 'said' = to_jsonb(OLD) - 'said' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of players_contact are never changed before the account is erased' USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER players_contact_stays BEFORE UPDATE ON players_contact
    FOR EACH ROW EXECUTE FUNCTION players_keep_contact();

CREATE FUNCTION players_forget_flags(player bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE players_contact AS c SET said = '' FROM players_flag AS f
    WHERE f.id = c.flag_id AND f.player_id = player AND c.said <> '';
    UPDATE players_flag SET note = '' WHERE player_id = player AND note <> '';
END $$;

REVOKE ALL ON FUNCTION players_forget_flags FROM PUBLIC;

CREATE FUNCTION players_close_flag() RETURNS trigger
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

CREATE TRIGGER players_flag_closes BEFORE UPDATE ON players_flag
    FOR EACH ROW EXECUTE FUNCTION players_close_flag();
