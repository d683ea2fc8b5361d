-- A table is open, pauses or is closed. It pauses only from being open, so that what is opened was opened with a reason of its own.
CREATE OR REPLACE FUNCTION games_table_is_kept() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.first_opened_at := CASE TG_OP WHEN 'UPDATE' THEN OLD.first_opened_at END;
    IF NEW.status <> 'closed' AND NEW.first_opened_at IS NULL THEN
        NEW.first_opened_at := clock_timestamp();
    END IF;
    IF NEW.status = 'paused' AND (TG_OP = 'INSERT' OR OLD.status = 'closed') THEN
        RAISE EXCEPTION 'table % is closed: it cannot pause', NEW.id USING ERRCODE = 'check_violation';
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.version_id IS NOT DISTINCT FROM OLD.version_id THEN
        RETURN NEW;
    END IF;
    IF NEW.version_id IS DISTINCT FROM (
        SELECT version.id FROM games_tableversion AS version WHERE version.table_id = NEW.id ORDER BY version.number DESC LIMIT 1) THEN
        RAISE EXCEPTION 'version % is not the newest of table %', NEW.version_id, NEW.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
