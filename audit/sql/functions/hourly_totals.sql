-- Hourly totals: each hour is summed up once, after the hour before it, when no more rows can
-- arrive.

-- Return whether all transactions before a transaction have ended.
-- `transaction`: a transaction id (xid8) as a number. Ids are those of the whole server, not only
-- of this database.
CREATE OR REPLACE FUNCTION audit_is_past(transaction bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT transaction <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
$$;

-- Return the time before which all written rows are visible; NULL if no mark proves one.
-- A minute is subtracted for a transaction that read the clock before the mark but began to write
-- after it, and for a clock that is set back.
CREATE OR REPLACE FUNCTION audit_settled() RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT max(at) - interval '1 minute' FROM audit_watermark WHERE audit_is_past(transaction)
$$;

-- Refuse hours that are not the next to be summed up. Trigger function, AFTER INSERT on
-- audit_rolled, per statement.
-- An hour begins on the full hour in UTC, has ended before audit_settled(), and follows an hour of
-- the same totals or is their first.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION audit_hours_are_next() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    wrong record;
    settled timestamptz := audit_settled();
BEGIN
    SELECT hour, totals INTO wrong FROM new_hours AS fresh
    WHERE hour <> date_trunc('hour', hour, 'UTC') OR (hour + interval '1 hour' <= settled) IS NOT TRUE
        OR EXISTS (SELECT FROM audit_rolled AS another WHERE another.totals = fresh.totals AND another.hour <> fresh.hour)
            AND NOT EXISTS (
                SELECT FROM audit_rolled AS before
                WHERE before.totals = fresh.totals AND before.hour = fresh.hour - interval '1 hour')
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% is not the hour of % to be summed up next', wrong.hour, wrong.totals USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

-- Refuse a mark in the future. Trigger function, BEFORE INSERT on audit_watermark.
-- Raises restrict_violation (23001).
-- A mark in the future would have hours summed up before their rows are written, and totals never
-- change.
CREATE OR REPLACE FUNCTION audit_watermark_is_past() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.at > clock_timestamp() THEN
        RAISE EXCEPTION '% has not come yet', NEW.at USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse rows for an hour that is already summed up. Trigger function, AFTER INSERT on tables of
-- hourly totals, per statement. The first argument of the trigger is the name of the totals in
-- audit_rolled.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION audit_hour_is_open() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    closed timestamptz;
BEGIN
    SELECT hour INTO closed FROM new_rows AS fresh
    WHERE EXISTS (SELECT FROM audit_rolled WHERE totals = TG_ARGV[0] AND audit_rolled.hour >= fresh.hour) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% has been summed up for %', closed, TG_ARGV[0] USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;
