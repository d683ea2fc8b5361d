-- Hourly totals: an hour is summed up once, after the hour before it, when no more rows can come.

-- Says whether all transactions before that one have ended. It sees those of the whole server, since their numbers are the server's.
CREATE OR REPLACE FUNCTION audit_is_past(transaction bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT transaction <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
$$;

-- The moment before which every row written is in sight; NULL where no mark says so. The minute is for who read the time and had not begun
-- to write when the mark was set, and for a clock that is set back.
CREATE OR REPLACE FUNCTION audit_settled() RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT max(at) - interval '1 minute' FROM audit_mark WHERE audit_is_past(transaction)
$$;

-- An hour follows one that is there, or is the first of its sums.
CREATE OR REPLACE FUNCTION audit_hours_are_next() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    wrong record;
    settled timestamptz := audit_settled();
BEGIN
    SELECT hour, sums INTO wrong FROM new_hours AS fresh
    WHERE hour <> date_trunc('hour', hour, 'UTC') OR (hour + interval '1 hour' <= settled) IS NOT TRUE
        OR EXISTS (SELECT FROM audit_rolled AS another WHERE another.sums = fresh.sums AND another.hour <> fresh.hour)
            AND NOT EXISTS (
                SELECT FROM audit_rolled AS before
                WHERE before.sums = fresh.sums AND before.hour = fresh.hour - interval '1 hour')
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% is not the hour of % to be summed up next', wrong.hour, wrong.sums USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

-- A mark that lay in the future would have hours summed up before anything was written in them, and what is summed up is never changed.
CREATE OR REPLACE FUNCTION audit_mark_is_past() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.at > clock_timestamp() THEN
        RAISE EXCEPTION '% has not come yet', NEW.at USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- What belongs to an hour comes before the hour is said to be summed up, and never again. The trigger names the sums.
CREATE OR REPLACE FUNCTION audit_hour_is_open() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    closed timestamptz;
BEGIN
    SELECT hour INTO closed FROM new_rows AS fresh
    WHERE EXISTS (SELECT FROM audit_rolled WHERE sums = TG_ARGV[0] AND audit_rolled.hour >= fresh.hour) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% has been summed up for %', closed, TG_ARGV[0] USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;
