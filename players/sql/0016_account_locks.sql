-- Locks of accounts are kept, and follow one another: what is locked is not locked again, what is open not opened.

CREATE TRIGGER players_accountlock_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_accountlock
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

CREATE FUNCTION players_begin_accountlock() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    locked boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('players_accountlock', NEW.player_id));
    SELECT l.locks INTO locked FROM players_accountlock AS l WHERE l.player_id = NEW.player_id ORDER BY l.id DESC LIMIT 1;
    IF coalesce(locked, false) = NEW.locks THEN
        RAISE EXCEPTION 'the account of player % is so already', NEW.player_id USING ERRCODE = 'check_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER players_accountlock_begins BEFORE INSERT ON players_accountlock
    FOR EACH ROW EXECUTE FUNCTION players_begin_accountlock();
