-- What has been summed up is never changed; a mark is of the moment it is made.

CREATE TRIGGER audit_rolled_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_rolled
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
