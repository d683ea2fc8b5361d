-- Conversations with customer support, and the templates of replies.

-- Refuse to delete a conversation and its messages before their retention time is over, counted from the last message or
-- change, and that of a complaint which is not decided, however old it is. Trigger function, BEFORE DELETE on players_conversation and players_servicemessage.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION players_keep_conversation() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    conversation bigint := (to_jsonb(OLD) ->> CASE TG_TABLE_NAME WHEN 'players_conversation' THEN 'id' ELSE 'conversation_id' END)::bigint;
    retained_since timestamptz := clock_timestamp() - audit_retention_period('conversation');
BEGIN
    IF EXISTS (SELECT FROM players_conversation AS c WHERE c.id = conversation AND c.changed_at > retained_since)
       OR EXISTS (SELECT FROM players_servicemessage AS m WHERE m.conversation_id = conversation AND m.at > retained_since)
       OR EXISTS (
            SELECT FROM players_conversation AS v
            JOIN players_case AS c ON (c.player_id, c.kind, c.subject) = (v.player_id, 'complaint', 'conversation:' || v.id)
            WHERE v.id = conversation AND (c.closed_at IS NULL OR c.closed_at > retained_since))
    THEN
        RAISE EXCEPTION 'conversation % is kept for longer', conversation USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;

-- Allow only valid status changes of a conversation. Trigger function, BEFORE UPDATE on
-- players_conversation.
-- A closed conversation stays closed, but a complaint is closed as long as its case is (players_turn_complaint).
-- Raises restrict_violation (23001) for any other change.
CREATE OR REPLACE FUNCTION players_conversation_goes_on() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (CASE OLD.topic
        WHEN 'complaint' THEN (NEW.state = 'closed') IS DISTINCT FROM (
            SELECT c.closed_at IS NOT NULL FROM players_case AS c
            WHERE (c.player_id, c.kind, c.subject) = (OLD.player_id, 'complaint', 'conversation:' || OLD.id))
        ELSE OLD.state = 'closed' AND NEW.state <> 'closed' END)
    THEN
        RAISE EXCEPTION 'conversation % is closed or open as its case is, or as it was', OLD.id USING ERRCODE = 'restrict_violation';
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
