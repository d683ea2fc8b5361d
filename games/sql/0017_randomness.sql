-- What has been summed up is never changed.

CREATE TRIGGER games_cardtally_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_cardtally
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER games_shuffletally_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_shuffletally
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
