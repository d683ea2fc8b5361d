-- A payment says for ever what was asked for, and money that was credited stays credited. What a provider said is
-- appended and never changed.

CREATE TRIGGER wallet_payment_is_kept BEFORE DELETE OR TRUNCATE ON wallet_payment
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

CREATE FUNCTION wallet_refuse_payment_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'payment % stays as it is', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER wallet_payment_identity BEFORE UPDATE ON wallet_payment
    FOR EACH ROW WHEN (
        (OLD.id, OLD.player_id, OLD.amount, OLD.currency, OLD.total, OLD.variant, OLD.token, OLD.begun_at)
            IS DISTINCT FROM
        (NEW.id, NEW.player_id, NEW.amount, NEW.currency, NEW.total, NEW.variant, NEW.token, NEW.begun_at)
        OR OLD.state = 'credited' AND (OLD.state, OLD.authorisation, OLD.journal_id, OLD.decided_at)
            IS DISTINCT FROM (NEW.state, NEW.authorisation, NEW.journal_id, NEW.decided_at)
        OR OLD.state <> 'waiting' AND NEW.state = 'waiting')
    EXECUTE FUNCTION wallet_refuse_payment_change();

-- One number in two ways of counting: minor units for the house, decimals for providers.
ALTER TABLE wallet_payment ADD CONSTRAINT wallet_payment_total CHECK (total * 100 = amount);

CREATE TRIGGER wallet_payment_notice_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_payment_notice
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
