-- Conversations with customer support, and the templates of replies.

-- What players and the house wrote to each other is never changed, and kept for as long as it is to be after the last message.
CREATE OR REPLACE FUNCTION players_keep_conversation() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    conversation bigint := (to_jsonb(OLD) ->> CASE TG_TABLE_NAME WHEN 'players_conversation' THEN 'id' ELSE 'conversation_id' END)::bigint;
    kept_since timestamptz := clock_timestamp() - audit_kept('conversation');
BEGIN
    IF EXISTS (SELECT FROM players_conversation AS c WHERE c.id = conversation AND c.moved_at > kept_since)
       OR EXISTS (SELECT FROM players_servicemessage AS m WHERE m.conversation_id = conversation AND m.at > kept_since) THEN
        RAISE EXCEPTION 'conversation % is kept for longer', conversation USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;

CREATE OR REPLACE FUNCTION players_conversation_goes_on() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.state = 'closed' AND NEW.state NOT IN ('closed', 'reopened') THEN
        RAISE EXCEPTION 'conversation % is closed', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.state = 'closed' AND NEW.state = 'reopened' AND NEW.due_at > clock_timestamp() AND NEW.due_at <> OLD.due_at THEN
        RETURN NEW;
    END IF;
    IF NEW.due_at IS DISTINCT FROM OLD.due_at OR NEW.state = 'reopened' AND OLD.state = 'closed' THEN
        RAISE EXCEPTION 'by when complaint % is decided was promised', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.state = 'closed' AND (NEW.verdict, NEW.ended_at) IS DISTINCT FROM (OLD.verdict, OLD.ended_at) THEN
        RAISE EXCEPTION 'how complaint % ended stands', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION players_begin_reply_template() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.by_id IS NULL THEN
        RAISE EXCEPTION 'a version of a template is somebody''s' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.number <> 1 + (SELECT coalesce(max(t.number), 0) FROM players_reply_template AS t WHERE t.name = NEW.name) THEN
        RAISE EXCEPTION 'version % of % is not the next one', NEW.number, NEW.name USING ERRCODE = 'unique_violation';
    END IF;
    IF EXISTS (
        SELECT FROM unnest(ARRAY['sv', 'da', 'ro', 'de', 'en']) AS spoken (language)
        WHERE btrim(coalesce(NEW.texts ->> spoken.language, '')) = '')
    THEN
        RAISE EXCEPTION 'a template says something in every language of the house' USING ERRCODE = 'check_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
