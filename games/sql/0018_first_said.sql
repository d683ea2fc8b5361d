-- Nothing comes into an hour that has been summed up, and no alarm is raised or kept from closing tables without a word in the log.

CREATE TRIGGER games_tally_is_open AFTER INSERT ON games_tally REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.tally');
CREATE TRIGGER games_bettally_is_open AFTER INSERT ON games_bettally REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.tally');
CREATE TRIGGER games_evidence_is_open AFTER INSERT ON games_evidence REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.evidence');
CREATE TRIGGER games_cardtally_is_open AFTER INSERT ON games_cardtally REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.cards');
CREATE TRIGGER games_shuffletally_is_open AFTER INSERT ON games_shuffletally REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.shuffles');

-- An alarm is raised once in a life: one that nobody raised would keep the real one from being.
CREATE FUNCTION games_alarm_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('game:' || NEW.variant, 'returns.alarm');
BEGIN
    IF (said ->> 'rules', said ->> 'mode', said ->> 'evidence') IS DISTINCT FROM (NEW.rules_digest, NEW.mode, NEW.evidence) THEN
        RAISE EXCEPTION 'the log knows of no such alarm about %', NEW.variant USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER games_returnsalarm_as_said BEFORE INSERT ON games_returnsalarm
    FOR EACH ROW EXECUTE FUNCTION games_alarm_as_said();

CREATE FUNCTION games_policy_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('game:' || NEW.variant, 'returns.stop_policy');
BEGIN
    IF (said -> 'after')::boolean IS DISTINCT FROM NEW.stops THEN
        RAISE EXCEPTION 'the log does not say so of alarms about %', NEW.variant USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER games_stoppolicy_as_said BEFORE INSERT OR UPDATE ON games_stoppolicy
    FOR EACH ROW EXECUTE FUNCTION games_policy_as_said();
