-- Tokens of programs. The database alone says what each is for: a player's never reads what staff read, and that of staff never plays. What was made
-- stays as it was made, but for when it was used, in which session, and that it was revoked; its name can be forgotten.

CREATE FUNCTION players_begin_token() RETURNS trigger
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

CREATE FUNCTION players_keep_token() RETURNS trigger
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

ALTER TABLE players_api_token
    ADD CONSTRAINT players_api_token_rate CHECK (per_minute > 0),
    ADD CONSTRAINT players_api_token_is_hashed CHECK (octet_length(digest) = 32),
    ADD CONSTRAINT players_api_token_is_for_something CHECK (cardinality(scopes) > 0);
CREATE TRIGGER players_api_token_begins BEFORE INSERT ON players_api_token
    FOR EACH ROW EXECUTE FUNCTION players_begin_token();
CREATE TRIGGER players_api_token_stays BEFORE UPDATE ON players_api_token
    FOR EACH ROW EXECUTE FUNCTION players_keep_token();
CREATE TRIGGER players_api_token_is_kept BEFORE DELETE OR TRUNCATE ON players_api_token
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
