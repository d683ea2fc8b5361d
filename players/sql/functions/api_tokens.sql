-- API tokens, and the stored answers of repeated API calls. The database decides what a token may
-- be used for: a player's token never reads what staff read, and a staff token never plays.

-- Check a new API token. Trigger function, BEFORE INSERT on players_api_token. Sets `made_at` to
-- the database's time.
-- Raises check_violation (23514) if it does not end within 365 days, is already used or revoked, or
-- has a scope that its user may not give. Players may give read, play and limits. Staff may give
-- events, rounds, reports and checkpoints.
CREATE OR REPLACE FUNCTION players_begin_token() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.made_at := clock_timestamp();
    IF NEW.ends_at <= NEW.made_at OR NEW.ends_at > NEW.made_at + interval '365 days' THEN
        RAISE EXCEPTION 'a token ends within a year' USING ERRCODE = 'check_violation';
    END IF;
    IF num_nonnulls(NEW.used_at, NEW.revoked_at, NEW.session_id) > 0 OR NEW.used_from <> '' THEN
        RAISE EXCEPTION 'a token begins unused' USING ERRCODE = 'check_violation';
    END IF;
    IF NOT NEW.scopes <@ (CASE
        WHEN EXISTS (SELECT FROM players_player AS p WHERE p.user_id = NEW.user_id) THEN ARRAY['read', 'play', 'limits']
        WHEN EXISTS (SELECT FROM players_staff AS s WHERE s.user_id = NEW.user_id) THEN ARRAY['events', 'rounds', 'reports', 'checkpoints']
        ELSE '{}' END)::varchar[]
    THEN
        RAISE EXCEPTION 'user % may not create an API token for %', NEW.user_id, NEW.scopes USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Allow only the changes in the life of an API token. Trigger function, BEFORE UPDATE on
-- players_api_token.
-- Its last use and its session may change, it is revoked once, and its name may be emptied. The
-- database sets the time of revocation.
-- Raises restrict_violation (23001) for any other change, or for a session of another user.
CREATE OR REPLACE FUNCTION players_keep_token() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    alters text[] := ARRAY['name', 'used_at', 'used_from', 'revoked_at', 'session_id'];
BEGIN
    IF to_jsonb(NEW) - alters <> to_jsonb(OLD) - alters OR NEW.name NOT IN (OLD.name, '')
        OR (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
    THEN
        RAISE EXCEPTION 'token % is used and revoked, and not changed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.session_id IS DISTINCT FROM OLD.session_id
        AND NOT EXISTS (SELECT FROM players_session AS s WHERE s.id = NEW.session_id AND s.user_id = NEW.user_id)
    THEN
        RAISE EXCEPTION 'session % is not of owner token % is', NEW.session_id, OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL THEN
        NEW.revoked_at := clock_timestamp();
    END IF;
    RETURN NEW;
END $$;

-- Refuse a new API call that already has an answer. Trigger function, BEFORE INSERT on
-- players_api_call. Sets `at` to the database's time.
-- Raises check_violation (23514).
-- The row is inserted first and answered in the same transaction: a call with the same key waits
-- for it.
CREATE OR REPLACE FUNCTION players_begin_call() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.at := clock_timestamp();
    IF NEW.status <> 0 OR NEW.body <> '' THEN
        RAISE EXCEPTION 'a call begins unanswered' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Allow one change of an API call: its answer. Trigger function, BEFORE UPDATE on players_api_call.
-- Raises restrict_violation (23001) for any other change or a second answer.
CREATE OR REPLACE FUNCTION players_answer_call() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    answer text[] := ARRAY['status', 'body'];
BEGIN
    IF OLD.status <> 0 OR to_jsonb(NEW) - answer <> to_jsonb(OLD) - answer THEN
        RAISE EXCEPTION 'call % is answered once, and not changed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse to delete an API call that is younger than 7 days. Trigger function, BEFORE DELETE on
-- players_api_call.
-- Raises restrict_violation (23001).
-- A call with the same key within that time gets the same answer.
CREATE OR REPLACE FUNCTION players_keep_call() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.at > clock_timestamp() - interval '7 days' THEN
        RAISE EXCEPTION 'call % is kept for a week', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;

-- Return whether a session is one of API clients.
CREATE OR REPLACE FUNCTION players_is_of_api_client(playing uuid) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM players_session AS s JOIN players_api_token AS t ON t.user_id = s.user_id AND t.session_id = s.id
        WHERE s.id = playing)
$$;
REVOKE ALL ON FUNCTION players_is_of_api_client FROM PUBLIC;
