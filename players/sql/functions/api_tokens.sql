-- API tokens, and the answers kept for repeated API calls.

-- Tokens of programs. The database alone says what each is for: a player's never reads what staff read, and that of staff never plays. What was made
-- stays as it was made, but for when it was used, in which session, and that it was revoked; its name can be forgotten.
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
        RAISE EXCEPTION 'user % gives no program %', NEW.user_id, NEW.scopes USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

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
        RAISE EXCEPTION 'session % is not of whom token % is', NEW.session_id, OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL THEN
        NEW.revoked_at := clock_timestamp();
    END IF;
    RETURN NEW;
END $$;

-- What a program did once. A row begins without an answer and gets it in the same transaction; an answered call never says anything else, and is kept for
-- a week, since whoever repeats it within that time is told the same.
CREATE OR REPLACE FUNCTION players_begin_call() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.at := clock_timestamp();
    IF NEW.status <> 0 OR NEW.body <> '' THEN
        RAISE EXCEPTION 'a call begins unanswered' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

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

CREATE OR REPLACE FUNCTION players_keep_call() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.at > clock_timestamp() - interval '7 days' THEN
        RAISE EXCEPTION 'call % is kept for a week', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;
