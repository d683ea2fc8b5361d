-- Who has stolen the log-in of web and workers writes what they write. So what could keep something out of sight is on record first, or is
-- refused: what is done about it may be false, but it is not silent.

-- What the log says last about something, of one kind or of those that begin as *kinds* says; NULL where it says nothing.
CREATE FUNCTION audit_last_said(about text, kinds text) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT convert_from(body, 'UTF8')::jsonb -> 'data' FROM audit_event
    WHERE "on" = about AND kind LIKE kinds ORDER BY id DESC LIMIT 1
$$;

-- A mark that lay in the future would have hours summed up before anything was written in them, and what is summed up is never changed.
CREATE FUNCTION audit_mark_is_past() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.at > clock_timestamp() THEN
        RAISE EXCEPTION '% has not come yet', NEW.at USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_mark_is_past BEFORE INSERT ON audit_mark FOR EACH ROW EXECUTE FUNCTION audit_mark_is_past();

-- What belongs to an hour comes before the hour is said to be summed up, and never again. The trigger names the sums.
CREATE FUNCTION audit_hour_is_open() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    closed timestamptz;
BEGIN
    SELECT hour INTO closed FROM new_rows AS fresh
    WHERE EXISTS (SELECT FROM audit_rolled WHERE sums = TG_ARGV[0] AND audit_rolled.hour >= fresh.hour) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% has been summed up for %', closed, TG_ARGV[0] USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

-- Nobody has read what is not sealed, and nobody forgets. What was passed over is found when leaves are read again (`audit.significant.again`).
CREATE FUNCTION audit_cursor_is_sealed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.leaves < OLD.leaves OR NEW.leaves > (SELECT coalesce(max(leaf) + 1, 0) FROM audit_leaf) THEN
        RAISE EXCEPTION '% cannot have read % leaves', NEW.name, NEW.leaves USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_cursor_is_sealed BEFORE INSERT OR UPDATE ON audit_cursor
    FOR EACH ROW EXECUTE FUNCTION audit_cursor_is_sealed();

-- What was found begins as new, and what stands under the key of an event is about that one.
CREATE FUNCTION audit_significant_is_new() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
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

CREATE TRIGGER audit_significant_is_new BEFORE INSERT ON audit_significant
    FOR EACH ROW EXECUTE FUNCTION audit_significant_is_new();

-- Nothing is closed, acknowledged or given to somebody but as the log has just said.
CREATE FUNCTION audit_significant_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb := audit_last_said('significant:' || NEW.id, 'significant.%');
BEGIN
    IF (said ->> 'before', said ->> 'after', said ->> 'to') IS DISTINCT FROM (OLD.state, NEW.state, NEW.assigned_to) THEN
        RAISE EXCEPTION 'the log does not say that % changed so', NEW.key USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_significant_as_said BEFORE UPDATE OF state, assigned_to ON audit_significant FOR EACH ROW
    WHEN ((OLD.state, OLD.assigned_to) IS DISTINCT FROM (NEW.state, NEW.assigned_to))
    EXECUTE FUNCTION audit_significant_as_said();

-- Mails wait for some minutes after the last one: one from the future would keep all of them back.
CREATE FUNCTION audit_significant_is_mailed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.mailed_at > clock_timestamp() THEN
        RAISE EXCEPTION '% has not come yet', NEW.mailed_at USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_significant_is_mailed BEFORE UPDATE OF mailed_at ON audit_significant
    FOR EACH ROW EXECUTE FUNCTION audit_significant_is_mailed();

-- No threshold is changed but as the log has just said.
CREATE FUNCTION audit_threshold_as_said() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
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

CREATE TRIGGER audit_threshold_as_said BEFORE UPDATE ON audit_threshold
    FOR EACH ROW EXECUTE FUNCTION audit_threshold_as_said();

-- A report begins with waiting, and none is given up without a word: else a day would go without its reports.
CREATE FUNCTION audit_report_waits() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' AND NEW.state <> 'waiting'
        OR NEW.state = 'failed' AND NOT EXISTS (
            SELECT FROM audit_event WHERE "on" = 'report:' || NEW.id AND kind = 'report.failed')
    THEN
        RAISE EXCEPTION 'report % waits to be made', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER audit_report_waits BEFORE INSERT OR UPDATE OF state ON audit_report
    FOR EACH ROW EXECUTE FUNCTION audit_report_waits();
