-- What has been summed up is never changed, nor is an alarm.

CREATE TRIGGER games_evidence_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_evidence
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER games_returnsalarm_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_returnsalarm
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
