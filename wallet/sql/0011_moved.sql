-- What has been summed up is never changed.

CREATE TRIGGER wallet_moved_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_moved
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER wallet_standing_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_standing
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
