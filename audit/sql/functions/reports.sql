-- Reports: a report is made once from what was asked, and never changed.

-- A report is asked for, made once and never changed, nor are its pages and files; nor is one that could not be made.
CREATE OR REPLACE FUNCTION audit_keep_report() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'report % has been made', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

-- Pages and pieces of files come, and go again, while their report is being made. Its row is shared meanwhile, so that none comes while another
-- transaction says that it is ready.
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

-- A report is ready once the log has what it is: the hashes of its files are those of what is stored, and of its rows none is missing.
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

-- A report begins with waiting, and none is given up without a word: else a day would go without its reports.
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
