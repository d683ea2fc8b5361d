-- Alarms about returns and randomness, and whether they stop tables. Each row needs an event in the
-- log first.

-- Refuse an alarm that the newest event returns.alarm of its game does not state. Trigger function,
-- BEFORE INSERT on games_returnsalarm.
-- Raises restrict_violation (23001).
-- An alarm is raised once per game, rules and mode, so a false one would prevent the real one.
CREATE OR REPLACE FUNCTION games_alarm_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('game:' || NEW.variant, 'returns.alarm');
BEGIN
    IF (said ->> 'rules', said ->> 'mode', said ->> 'evidence') IS DISTINCT FROM (NEW.rules_digest, NEW.mode, NEW.evidence) THEN
        RAISE EXCEPTION 'the log knows of no such alarm about %', NEW.variant USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a stop policy that the newest event returns.stop_policy of its game does not state.
-- Trigger function, BEFORE INSERT OR UPDATE on games_stoppolicy.
-- Raises restrict_violation (23001).
-- So the log shows every change of whether alarms close tables.
CREATE OR REPLACE FUNCTION games_policy_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('game:' || NEW.variant, 'returns.stop_policy');
BEGIN
    IF (said -> 'after')::boolean IS DISTINCT FROM NEW.stops THEN
        RAISE EXCEPTION 'the log does not say so of alarms about %', NEW.variant USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
