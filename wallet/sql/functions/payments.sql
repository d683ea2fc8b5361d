-- Deposits.

-- Refuse a change of a payment. Trigger function, BEFORE UPDATE on wallet_payment.
-- Raises restrict_violation (23001), always. The rules are in the WHEN condition of
-- wallet_payment_identity.
CREATE OR REPLACE FUNCTION wallet_refuse_payment_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'payment % stays as it is', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
