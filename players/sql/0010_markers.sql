-- Flags are kept: what was seen and what staff did about it is never changed, and a flag is closed once, now.

CREATE TRIGGER players_sighting_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_sighting
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_contact_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_contact
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_marker_look_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_marker_look
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_flag_is_kept BEFORE DELETE OR TRUNCATE ON players_flag
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_flag_identity BEFORE UPDATE OF id, player_id, marker, raised_at ON players_flag
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

CREATE FUNCTION players_close_flag() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'flag % is closed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.closed_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER players_flag_closes BEFORE UPDATE ON players_flag
    FOR EACH ROW EXECUTE FUNCTION players_close_flag();
