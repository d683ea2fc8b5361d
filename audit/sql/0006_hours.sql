-- What has been summed up is never changed, and hours are summed up one after the other, each when nothing more can come.

-- Says whether all transactions before that one have ended. It sees those of the whole server, since their numbers are the server's.
CREATE FUNCTION audit_is_past(transaction bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT transaction <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
$$;

-- The moment before which every row written is in sight; NULL where no mark says so. The minute is for who read the time and had not begun
-- to write when the mark was set, and for a clock that is set back.
CREATE FUNCTION audit_settled() RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT max(at) - interval '1 minute' FROM audit_mark WHERE audit_is_past(transaction)
$$;

-- A volatile function sees the rows that its own statement has inserted before.
CREATE FUNCTION audit_hour_is_next() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.hour <> date_trunc('hour', NEW.hour, 'UTC')
        OR NEW.hour <> (SELECT max(hour) + interval '1 hour' FROM audit_rolled WHERE sums = NEW.sums)
        OR (NEW.hour + interval '1 hour' <= audit_settled()) IS NOT TRUE THEN
        RAISE EXCEPTION '% is not the hour of % to be summed up next', NEW.hour, NEW.sums USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_rolled_is_next BEFORE INSERT ON audit_rolled
    FOR EACH ROW EXECUTE FUNCTION audit_hour_is_next();
CREATE TRIGGER audit_rolled_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_rolled
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
