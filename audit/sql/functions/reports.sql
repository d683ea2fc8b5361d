-- Reports. A report is made once from what was requested, and never changes.

-- Refuse a change of a report that is ready or failed. Trigger function, BEFORE UPDATE on
-- audit_report.
-- Raises restrict_violation (23001), always. The rule is in the WHEN condition of
-- audit_report_is_kept.
CREATE OR REPLACE FUNCTION audit_keep_report() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'report % has been made', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

-- Allow pages and parts of files only while their report is being made. Trigger function, BEFORE
-- INSERT OR DELETE on audit_report_page and audit_report_part.
-- Raises restrict_violation (23001).
-- Locks the report FOR SHARE, so that none is added while another transaction marks the report as
-- ready.
CREATE OR REPLACE FUNCTION audit_report_in_the_making() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    report bigint := CASE TG_OP WHEN 'INSERT' THEN NEW.report_id ELSE OLD.report_id END;
    is_now text;
BEGIN
    SELECT state INTO is_now FROM audit_report WHERE id = report FOR SHARE;
    IF is_now IS DISTINCT FROM 'making' THEN
        RAISE EXCEPTION 'report % is not being made', report USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN CASE TG_OP WHEN 'INSERT' THEN NEW ELSE OLD END;
END $$;

-- Refuse a report that becomes ready but differs from its event report.made. Trigger function,
-- BEFORE INSERT OR UPDATE on audit_report, for the state ready.
-- The event has the digests of the stored csv and xlsx files and the number of rows. The pages have
-- no gaps and hold exactly these rows.
-- Raises check_violation (23514).
CREATE OR REPLACE FUNCTION audit_report_is_as_said() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said jsonb;
    files jsonb;
    pages bigint;
    last_page bigint;
    held bigint;
BEGIN
    SELECT convert_from(body, 'UTF8')::jsonb -> 'data' INTO said FROM audit_event
    WHERE "on" = 'report:' || NEW.id AND kind = 'report.made';
    SELECT jsonb_object_agg(format, encode(sha256(content), 'hex')) INTO files FROM (
        SELECT format, string_agg(content, ''::bytea ORDER BY number) AS content
        FROM audit_report_part WHERE report_id = NEW.id GROUP BY format) AS file;
    SELECT count(*), coalesce(max(number), 0), coalesce(sum(jsonb_array_length(rows)), 0) INTO pages, last_page, held
    FROM audit_report_page WHERE report_id = NEW.id;
    IF OLD.state IS DISTINCT FROM 'making' OR NEW.made_at IS NULL OR NEW.head IS NULL
        OR NOT coalesce(files ?& ARRAY['csv', 'xlsx'], false) OR NEW.digests - 'screen' IS DISTINCT FROM files
        OR (said -> 'digests', said ->> 'kind') IS DISTINCT FROM (NEW.digests, NEW.kind)
        OR (said -> 'rows')::bigint IS DISTINCT FROM held OR NEW.done <> held OR pages <> last_page THEN
        RAISE EXCEPTION 'report % is not what the log says', NEW.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a new report that is not waiting, and a failed report without an event report.failed.
-- Trigger function, BEFORE INSERT OR UPDATE OF state on audit_report.
-- Raises restrict_violation (23001).
-- Otherwise a day could lack its reports without a reason in the log.
CREATE OR REPLACE FUNCTION audit_report_waits() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' AND NEW.state <> 'waiting'
        OR NEW.state = 'failed' AND NOT EXISTS (
            SELECT FROM audit_event WHERE "on" = 'report:' || NEW.id AND kind = 'report.failed')
    THEN
        RAISE EXCEPTION 'report % waits to be made', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
