-- What has been summed up is never changed.

CREATE TRIGGER games_tally_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_tally
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER games_bettally_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_bettally
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
