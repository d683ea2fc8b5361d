-- What players and the house wrote to each other is never changed, and kept for five years after the last message.

CREATE FUNCTION players_keep_conversation() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    conversation bigint := (to_jsonb(OLD) ->> CASE TG_TABLE_NAME WHEN 'players_conversation' THEN 'id' ELSE 'conversation_id' END)::bigint;
    kept_since timestamptz := clock_timestamp() - interval '5 years';
BEGIN
    IF EXISTS (SELECT FROM players_conversation AS c WHERE c.id = conversation AND c.moved_at > kept_since)
       OR EXISTS (SELECT FROM players_servicemessage AS m WHERE m.conversation_id = conversation AND m.at > kept_since) THEN
        RAISE EXCEPTION 'conversation % is kept for five years', conversation USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;

CREATE TRIGGER players_servicemessage_is_kept BEFORE UPDATE OR TRUNCATE ON players_servicemessage
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_servicemessage_is_kept_long BEFORE DELETE ON players_servicemessage
    FOR EACH ROW EXECUTE FUNCTION players_keep_conversation();
CREATE TRIGGER players_conversation_is_kept BEFORE TRUNCATE ON players_conversation
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_conversation_identity
    BEFORE UPDATE OF id, player_id, topic, round_id, round_code, began_at, due_at ON players_conversation
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_conversation_is_kept_long BEFORE DELETE ON players_conversation
    FOR EACH ROW EXECUTE FUNCTION players_keep_conversation();
