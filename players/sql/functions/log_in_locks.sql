-- Locks of log-ins after wrong passwords. Nothing else writes players_log_in_lock; all times are the
-- database's. `name`: keyed hash of an e-mail address, whether or not an account has it.
--
--   SB135 tries or a lock would be forgotten without a proof

-- Return how many of these times are within an interval before now.
CREATE OR REPLACE FUNCTION players_times_within(times timestamptz[], recent interval) RETURNS timestamptz[]
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(array_agg(each.at), '{}') FROM unnest(times) AS each (at) WHERE each.at > clock_timestamp() - recent
$$;

-- Count an attempt to log in, and return its number within thirty minutes, from 1 to 3; NULL if the address
-- is locked or has had three.
-- Concurrent attempts wait for each other.
CREATE OR REPLACE FUNCTION players_begin_log_in(name text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    number integer;
BEGIN
    INSERT INTO players_log_in_lock AS held (name, tries) VALUES (players_begin_log_in.name, ARRAY[clock_timestamp()])
    ON CONFLICT ON CONSTRAINT players_log_in_lock_pkey
    DO UPDATE SET tries = players_times_within(held.tries, interval '30 minutes') || clock_timestamp()
    WHERE held.locked_at IS NULL AND cardinality(players_times_within(held.tries, interval '30 minutes')) < 3
    RETURNING cardinality(held.tries) INTO number;
    RETURN number;
END $$;
REVOKE ALL ON FUNCTION players_begin_log_in FROM PUBLIC;

-- Lock an address after three attempts; return whether it is locked now and was not before.
CREATE OR REPLACE FUNCTION players_lock_log_in(name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE players_log_in_lock AS held SET locked_at = clock_timestamp()
    WHERE held.name = players_lock_log_in.name AND held.locked_at IS NULL AND cardinality(held.tries) >= 3;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION players_lock_log_in FROM PUBLIC;

-- Store the hash of a code that opens a lock for fifteen minutes; return whether a code may be mailed: at
-- most one a minute and five an hour.
CREATE OR REPLACE FUNCTION players_store_unlock_code(name text, digest text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE players_log_in_lock AS held
    SET code_hash = digest, code_ends_at = clock_timestamp() + interval '15 minutes', code_tries = 0,
        codes_sent = players_times_within(held.codes_sent, interval '1 hour') || clock_timestamp()
    WHERE held.name = players_store_unlock_code.name
        AND cardinality(players_times_within(held.codes_sent, interval '1 hour')) < 5
        AND cardinality(players_times_within(held.codes_sent, interval '1 minute')) = 0;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION players_store_unlock_code FROM PUBLIC;

-- Count an attempt with a mailed code, and return the hash of the code; NULL after five attempts or its end.
CREATE OR REPLACE FUNCTION players_try_unlock_code(name text) RETURNS text
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE players_log_in_lock AS held SET code_tries = held.code_tries + 1
    WHERE held.name = players_try_unlock_code.name AND held.code_tries < 5 AND held.code_ends_at > clock_timestamp()
    RETURNING held.code_hash
$$;
REVOKE ALL ON FUNCTION players_try_unlock_code FROM PUBLIC;

-- Forget the attempts of an address after a right password, or open its lock.
-- `opens`: whether a lock is opened, too. `proof`: that of players_is_proven_here for "log in" and the name.
-- Only a process that has the key has compared the password or the code.
-- Returns whether a lock was opened.
-- Raises SB135 for a wrong proof.
CREATE OR REPLACE FUNCTION players_forget_tries(name text, opens boolean, proof bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    was_locked boolean;
BEGIN
    IF players_is_proven_here('log in', name, proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'nothing proves that this log-in succeeded' USING ERRCODE = 'SB135';
    END IF;
    DELETE FROM players_log_in_lock AS held
    WHERE held.name = players_forget_tries.name AND (opens OR held.locked_at IS NULL)
    RETURNING held.locked_at IS NOT NULL INTO was_locked;
    RETURN coalesce(was_locked, false);
END $$;
REVOKE ALL ON FUNCTION players_forget_tries FROM PUBLIC;

-- Delete attempts that no longer count. Locks stay until they are opened.
CREATE OR REPLACE FUNCTION players_forget_old_tries() RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    DELETE FROM players_log_in_lock AS held
    WHERE held.locked_at IS NULL AND players_times_within(held.tries, interval '30 minutes') = '{}'
$$;
REVOKE ALL ON FUNCTION players_forget_old_tries FROM PUBLIC;
