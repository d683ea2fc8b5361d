-- Alarms about returns and randomness, and what they stop.

-- An alarm is raised once in a life: one that nobody raised would keep the real one from being.
CREATE OR REPLACE FUNCTION games_alarm_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('game:' || NEW.variant, 'returns.alarm');
BEGIN
    IF (said ->> 'rules', said ->> 'mode', said ->> 'evidence') IS DISTINCT FROM (NEW.rules_digest, NEW.mode, NEW.evidence) THEN
        RAISE EXCEPTION 'the log knows of no such alarm about %', NEW.variant USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION games_policy_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('game:' || NEW.variant, 'returns.stop_policy');
BEGIN
    IF (said -> 'after')::boolean IS DISTINCT FROM NEW.stops THEN
        RAISE EXCEPTION 'the log does not say so of alarms about %', NEW.variant USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
