-- What was found stays as it was found; what was done about it, too.

CREATE TRIGGER audit_significant_step_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_significant_step
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_significant_is_kept BEFORE DELETE OR TRUNCATE ON audit_significant
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_significant_identity
    BEFORE UPDATE OF key, category, weight, event_id, "on", currency, amount, title, because, rows, happened_at, at
    ON audit_significant FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_threshold_is_kept BEFORE TRUNCATE ON audit_threshold
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
