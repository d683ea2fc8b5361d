-- The house stop. A stake, bank, deposit, hold or top-up checks in its own transaction whether the
-- house is stopped. A new stop waits for the transactions that have checked.

-- Hold off house stops until the transaction ends, after waiting for one that is being made. A statement
-- that begins afterwards sees it.
-- Raises active_sql_transaction (25001) in another isolation level than READ COMMITTED, because the
-- statement could see only what was before.
-- Locks advisory lock (1022, 0) shared until the transaction ends. wallet_begin_stop takes it
-- exclusively and waits.
CREATE OR REPLACE FUNCTION wallet_hold_off_stops() RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    held_off text;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'nothing begins in a transaction that sees only what was before it'
            USING ERRCODE = 'active_sql_transaction';
    END IF;
    held_off := pg_advisory_xact_lock_shared(1022, 0);
END $$;

-- Return whether the house is stopped. The answer stays true until the transaction ends.
-- Raises the error of wallet_hold_off_stops.
-- VOLATILE, so that it sees what was committed while it waited.
CREATE OR REPLACE FUNCTION wallet_is_stopped() RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    held_off text := public.wallet_hold_off_stops();
BEGIN
    RETURN EXISTS (SELECT FROM public.wallet_housestop AS s WHERE s.ended_at IS NULL);
END $$;

-- Return whether a staff member may start and end a house stop (permission wallet.stop_house); NULL
-- for an unknown id.
CREATE OR REPLACE FUNCTION wallet_may_stop(staff bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT players_staff_may('staff:' || s.id, s.person, 'wallet', 'stop_house') FROM players_staff AS s
    WHERE s.id = staff
$$;

-- Check and start a house stop. Trigger function, BEFORE INSERT on wallet_housestop. Sets `at` to
-- the database's time.
-- Raises restrict_violation (23001) if the staff member may not stop the house or the row already
-- has an end.
-- Locks advisory lock (1022, 0): waits for transactions that have read that the house is not
-- stopped.
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

-- Check and end a house stop. Trigger function, BEFORE UPDATE on wallet_housestop. Sets `ended_at`
-- to the database's time.
-- Raises restrict_violation (23001) if the stop has ended, if another column changes, or if the
-- staff member may not end it.
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

-- Refuse new play and deposits while the house is stopped. Trigger function, AFTER INSERT or UPDATE
-- on wallet_journal, wallet_hold and wallet_payment. Stakes that were held, payouts and reversals
-- are other journal kinds and continue.
-- Raises SB040, and the error of wallet_is_stopped.
CREATE OR REPLACE FUNCTION wallet_refuse_stopped() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF wallet_is_stopped() THEN
        RAISE EXCEPTION 'the house is stopped' USING ERRCODE = 'SB040';
    END IF;
    RETURN NULL;
END $$;
