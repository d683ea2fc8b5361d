-- The house stop. What begins reads in its own transaction whether the house is stopped; a stop waits for those that have
-- read that it is not.

-- Whether the house is stopped, which stays so until the transaction ends. Volatile, so that what was committed while it
-- waited is seen; under another isolation it would not be.
CREATE OR REPLACE FUNCTION wallet_is_stopped() RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'nothing begins in a transaction that sees only what was before it'
            USING ERRCODE = 'active_sql_transaction';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(1022, 0);
    RETURN EXISTS (SELECT FROM wallet_housestop AS s WHERE s.ended_at IS NULL);
END $$;

CREATE OR REPLACE FUNCTION wallet_may_stop(staff bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT players_staff_may('staff:' || s.id, s.person, 'wallet', 'stop_house') FROM players_staff AS s
    WHERE s.id = staff
$$;

CREATE OR REPLACE FUNCTION wallet_begin_stop() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF wallet_may_stop(NEW.by_id) IS NOT TRUE OR NEW.ended_at IS NOT NULL THEN
        RAISE EXCEPTION 'staff % may not stop the house like this', NEW.by_id USING ERRCODE = 'restrict_violation';
    END IF;
    PERFORM pg_advisory_xact_lock(1022, 0);
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION wallet_end_stop() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.ended_at IS NOT NULL OR NEW.ended_at IS NULL OR wallet_may_stop(NEW.ended_by_id) IS NOT TRUE
        OR (OLD.id, OLD.at, OLD.by_id, OLD.reason) IS DISTINCT FROM (NEW.id, NEW.at, NEW.by_id, NEW.reason) THEN
        RAISE EXCEPTION 'stop % does not change like this', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.ended_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION wallet_refuse_stopped() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF wallet_is_stopped() THEN
        RAISE EXCEPTION 'the house is stopped' USING ERRCODE = 'SB040';
    END IF;
    RETURN NULL;
END $$;
