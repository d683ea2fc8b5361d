-- What a program did once. A row begins without an answer and gets it in the same transaction; an answered call never says anything else, and is kept for
-- a week, since whoever repeats it within that time is told the same.

CREATE FUNCTION players_begin_call() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.at := clock_timestamp();
    IF NEW.status <> 0 OR NEW.body <> '' THEN
        RAISE EXCEPTION 'a call begins unanswered' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION players_answer_call() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    answer text[] := ARRAY['status', 'body'];
BEGIN
    IF OLD.status <> 0 OR to_jsonb(NEW) - answer <> to_jsonb(OLD) - answer THEN
        RAISE EXCEPTION 'call % is answered once, and not changed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION players_keep_call() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.at > clock_timestamp() - interval '7 days' THEN
        RAISE EXCEPTION 'call % is kept for a week', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;

ALTER TABLE players_api_call
    ADD CONSTRAINT players_api_call_has_a_key CHECK (key <> ''),
    ADD CONSTRAINT players_api_call_is_hashed CHECK (octet_length(request_hash) = 32),
    ADD CONSTRAINT players_api_call_status CHECK (status = 0 OR status BETWEEN 200 AND 499);
CREATE TRIGGER players_api_call_begins BEFORE INSERT ON players_api_call
    FOR EACH ROW EXECUTE FUNCTION players_begin_call();
CREATE TRIGGER players_api_call_is_answered BEFORE UPDATE ON players_api_call
    FOR EACH ROW EXECUTE FUNCTION players_answer_call();
CREATE TRIGGER players_api_call_is_kept BEFORE DELETE ON players_api_call
    FOR EACH ROW EXECUTE FUNCTION players_keep_call();
CREATE TRIGGER players_api_call_stays BEFORE TRUNCATE ON players_api_call
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
