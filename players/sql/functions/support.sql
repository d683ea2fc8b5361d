-- Conversations with customer support, and the templates of replies.

-- Refuse to delete a conversation, its messages and its complaint steps before their retention time
-- is over, counted from the last message or change. Trigger function, BEFORE DELETE on
-- players_conversation, players_servicemessage and players_complaint_step.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION players_keep_conversation() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    conversation bigint := (to_jsonb(OLD) ->> CASE TG_TABLE_NAME WHEN 'players_conversation' THEN 'id' ELSE 'conversation_id' END)::bigint;
    retained_since timestamptz := clock_timestamp() - audit_retention_period('conversation');
BEGIN
    IF EXISTS (SELECT FROM players_conversation AS c WHERE c.id = conversation AND c.changed_at > retained_since)
       OR EXISTS (SELECT FROM players_servicemessage AS m WHERE m.conversation_id = conversation AND m.at > retained_since) THEN
        RAISE EXCEPTION 'conversation % is kept for longer', conversation USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;

-- Allow only valid status changes of a conversation. Trigger function, BEFORE UPDATE on
-- players_conversation.
-- A closed conversation may only be reopened, with a new due date in the future. Otherwise `due_at`
-- never changes, because it was promised to the player. The verdict and end of a closed complaint
-- stay.
-- Raises restrict_violation (23001) for any other change.
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

-- Check a new version of a reply template. Trigger function, BEFORE INSERT on
-- players_reply_template. Sets `at` to the database's time.
-- Raises check_violation (23514) without an author or without a text in sv, da, ro, de or en.
-- Raises unique_violation (23505) if the number is not the next one.
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
