-- What a provider said stays as it said it, where it differs stays as it was found, and what staff make of it is appended.
-- No row here moves money.

CREATE TRIGGER wallet_provider_statement_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_provider_statement
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_statement_line_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_statement_line
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_difference_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_difference
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_difference_step_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_difference_step
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_deposit_note_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_deposit_note
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
