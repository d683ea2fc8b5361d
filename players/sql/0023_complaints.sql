-- What was done with a complaint is added, step by step, and goes with the conversation after its time. By when it is to be decided was promised to the
-- player: it changes only where the complaint is opened again, and then lies in the future.

DROP TRIGGER players_conversation_identity ON players_conversation;
CREATE TRIGGER players_conversation_identity
    BEFORE UPDATE OF id, player_id, topic, round_id, round_code, began_at ON players_conversation
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

CREATE FUNCTION players_conversation_goes_on() RETURNS trigger
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

CREATE TRIGGER players_conversation_goes_on BEFORE UPDATE ON players_conversation
    FOR EACH ROW EXECUTE FUNCTION players_conversation_goes_on();
CREATE TRIGGER players_complaint_step_is_kept BEFORE UPDATE OR TRUNCATE ON players_complaint_step
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_complaint_step_is_kept_long BEFORE DELETE ON players_complaint_step
    FOR EACH ROW EXECUTE FUNCTION players_keep_conversation();
