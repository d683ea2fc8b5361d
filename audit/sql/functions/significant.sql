-- Significant events: each row and each change of a row needs an event in the log first.

-- What the log says last about something, of one kind or of those that begin as *kinds* says; NULL where it says nothing.
CREATE OR REPLACE FUNCTION audit_last_said(about text, kinds text) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT convert_from(body, 'UTF8')::jsonb -> 'data' FROM audit_event
    WHERE "on" = about AND kind LIKE kinds ORDER BY id DESC LIMIT 1
$$;

-- Nobody has read what is not sealed, and nobody forgets. What was passed over is found when leaves are read again (`audit.significant.again`).
CREATE OR REPLACE FUNCTION audit_cursor_is_sealed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.leaves < OLD.leaves OR NEW.leaves > (SELECT coalesce(max(leaf) + 1, 0) FROM audit_leaf) THEN
        RAISE EXCEPTION '% cannot have read % leaves', NEW.name, NEW.leaves USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- What was found begins as new, and what stands under the key of an event is about that one.
CREATE OR REPLACE FUNCTION audit_significant_is_new() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.state, NEW.assigned_to) IS DISTINCT FROM ('new', '') OR NEW.mailed_at IS NOT NULL
        OR NEW.key LIKE 'event:%' AND NOT EXISTS (
            SELECT FROM audit_event AS event
            WHERE event.id = NEW.event_id AND NEW.key = 'event:' || event.id
                AND event.at = NEW.happened_at AND event."on" = NEW."on")
    THEN
        RAISE EXCEPTION '% is not what was found', NEW.key USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Nothing is closed, acknowledged or given to somebody but as the log has just said.
CREATE OR REPLACE FUNCTION audit_significant_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('significant:' || NEW.id, 'significant.%');
BEGIN
    IF (said ->> 'before', said ->> 'after', said ->> 'to') IS DISTINCT FROM (OLD.state, NEW.state, NEW.assigned_to) THEN
        RAISE EXCEPTION 'the log does not say that % changed so', NEW.key USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Mails wait for some minutes after the last one: one from the future would keep all of them back.
CREATE OR REPLACE FUNCTION audit_significant_is_mailed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.mailed_at > clock_timestamp() THEN
        RAISE EXCEPTION '% has not come yet', NEW.mailed_at USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- No threshold is changed but as the log has just said.
CREATE OR REPLACE FUNCTION audit_threshold_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('threshold:' || NEW.what || ':' || NEW.currency, 'threshold.changed');
BEGIN
    IF (said -> 'before', said -> 'after') IS DISTINCT FROM (
        jsonb_build_object('single', OLD.single, 'summed', OLD.summed, 'days', OLD.days),
        jsonb_build_object('single', NEW.single, 'summed', NEW.summed, 'days', NEW.days))
    THEN
        RAISE EXCEPTION 'the log does not say that the threshold of % changed so', NEW.what USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
