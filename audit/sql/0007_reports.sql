-- A report that has been made is never changed, nor are its pages and files.

CREATE FUNCTION audit_keep_report() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'report % has been made', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER audit_report_is_kept BEFORE UPDATE ON audit_report
    FOR EACH ROW WHEN (OLD.state IN ('ready', 'failed')) EXECUTE FUNCTION audit_keep_report();
