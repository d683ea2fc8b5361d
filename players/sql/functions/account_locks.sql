-- Account locks set by staff. A lock waits for rounds in progress, and new play waits for the lock.

-- Check a new lock or unlock of an account. Trigger function, BEFORE INSERT on players_accountlock.
-- Sets `at` to the database's time.
-- Raises check_violation (23514) if the account is already locked or already open,
-- restrict_violation (23001) if the staff member lacks the permission players.lock_player.
-- Locks advisory lock (1009, player id): waits for rounds in progress, which hold it shared through
-- players_ineligibility.
CREATE OR REPLACE FUNCTION players_begin_accountlock() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1009, NEW.player_id::integer);
    IF players_is_locked(NEW.player_id) = NEW.locks THEN
        RAISE EXCEPTION 'the account of player % is so already', NEW.player_id USING ERRCODE = 'check_violation';
    END IF;
    IF NOT EXISTS (
        SELECT FROM players_staff AS s
        WHERE s.id = NEW.by_id AND players_staff_may('staff:' || s.id, s.person, 'players', 'lock_player'))
    THEN
        RAISE EXCEPTION 'staff % may not lock accounts', NEW.by_id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

-- Return whether the player's account is locked by staff: the newest row of players_accountlock
-- decides.
CREATE OR REPLACE FUNCTION players_is_locked(player bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(
        (SELECT l.locks FROM players_accountlock AS l WHERE l.player_id = player ORDER BY l.id DESC LIMIT 1), false)
$$;
