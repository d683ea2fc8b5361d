-- Money that comes in: deposits that a payment provider has confirmed, and free play money.
--
--   SB132 the deposit is credited already, or nothing proves that it was paid
--   SB133 the player has as much play money as a top-up gives

-- Refuse a change of a payment. Trigger function, BEFORE UPDATE on wallet_payment.
-- Raises restrict_violation (23001), always. The rules are in the WHEN condition of
-- wallet_payment_identity.
CREATE OR REPLACE FUNCTION wallet_refuse_payment_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'payment % stays as it is', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

-- Refuse to mark a payment as credited, unless the owner of the tables does it: wallet_credit_deposit.
-- Trigger function, BEFORE INSERT OR UPDATE OF state on wallet_payment. Payment providers of
-- django-payments save whole rows, so the login role of web and workers keeps its right on all columns.
-- Raises SB132.
CREATE OR REPLACE FUNCTION wallet_payment_is_paid() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.state = 'credited' THEN
        RETURN NEW;
    END IF;
    IF NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = TG_RELID) THEN
        RAISE EXCEPTION 'payment % is credited by no statement', NEW.id USING ERRCODE = 'SB132';
    END IF;
    RETURN NEW;
END $$;

-- Credit a deposit that its provider has confirmed: post its amount to the player's cash account, and
-- mark the payment as credited.
-- `key`: idempotency key of the journal. `authorisation`: the provider's number of the payment. `proof`:
-- HMAC under CREDENTIALS_KEY (players/sql/functions/credentials.sql) of the payment and the SHA-256 of
-- `authorisation` in hex, as "deposit:1b4e…:9f86…". Only a process that has the key, and has checked what
-- the provider says, can make it.
-- Returns the id of the journal and the balance after it.
-- Raises SB132, and the errors of wallet_write.
-- Locks the payment, then the account.
CREATE OR REPLACE FUNCTION wallet_credit_deposit(
    payment uuid, key uuid, authorisation text, proof bytea, OUT journal bigint, OUT balance bigint
) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    paid record;
BEGIN
    SELECT p.id, p.amount, p.currency, cash.id AS cash, house.id AS cashier INTO paid
    FROM wallet_payment AS p
    JOIN wallet_account AS cash ON cash.owner_id = p.player_id AND cash.kind = 'cash' AND cash.mode = 'R'
        AND cash.currency = p.currency
    JOIN wallet_account AS house ON house.owner_id IS NULL AND house.kind = 'cashier' AND house.mode = 'R'
        AND house.currency = p.currency
    WHERE p.id = payment AND p.state <> 'credited' FOR UPDATE OF p;
    IF NOT FOUND OR players_is_text_proven(concat_ws(':', 'deposit', payment), authorisation, proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'nothing proves that payment % was paid', payment USING ERRCODE = 'SB132';
    END IF;
    SELECT w.journal, w.balance INTO journal, balance
    FROM wallet_write(jsonb_build_array(jsonb_build_object(
        'key', key, 'kind', 'deposit', 'round', NULL, 'lines', jsonb_build_array(
            jsonb_build_array(paid.cashier, paid.currency, 'R', -paid.amount),
            jsonb_build_array(paid.cash, paid.currency, 'R', paid.amount)))), false) AS w
    WHERE w.account = paid.cash;
    UPDATE wallet_payment AS p SET state = 'credited', decided_at = clock_timestamp(),
        journal_id = wallet_credit_deposit.journal, authorisation = wallet_credit_deposit.authorisation
    WHERE p.id = payment;
END $$;
REVOKE ALL ON FUNCTION wallet_credit_deposit FROM PUBLIC;

-- Return the free play money that a player has after a top-up, in minor units.
CREATE OR REPLACE FUNCTION wallet_free_money(currency text) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE currency WHEN 'SEK' THEN 1000000 WHEN 'DKK' THEN 1000000 WHEN 'RON' THEN 500000 WHEN 'EUR' THEN 100000
           WHEN 'GBP' THEN 100000 END::bigint
$$;

-- Raise a player's free play money to wallet_free_money.
-- `key`: idempotency key of the journal.
-- Returns the id of the journal, the amount added and the balance after it.
-- Raises SB133 if the player has as much, and the errors of wallet_write, such as SB040 while the house is
-- stopped.
-- Locks the account.
CREATE OR REPLACE FUNCTION wallet_top_up(
    player bigint, key uuid, OUT journal bigint, OUT amount bigint, OUT balance bigint
) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    theirs record;
BEGIN
    SELECT cash.id, cash.currency, wallet_free_money(cash.currency) - cash.balance AS missing, mint.id AS mint INTO theirs
    FROM wallet_account AS cash
    JOIN players_player AS p ON p.id = cash.owner_id AND p.currency = cash.currency
    JOIN wallet_account AS mint ON mint.owner_id IS NULL AND mint.kind = 'mint' AND mint.mode = 'F'
        AND mint.currency = cash.currency
    WHERE cash.owner_id = player AND cash.kind = 'cash' AND cash.mode = 'F' FOR UPDATE OF cash;
    IF (theirs.missing > 0) IS NOT TRUE THEN
        RAISE EXCEPTION 'player % has enough play money', player USING ERRCODE = 'SB133';
    END IF;
    amount := theirs.missing;
    SELECT w.journal, w.balance INTO journal, balance
    FROM wallet_write(jsonb_build_array(jsonb_build_object(
        'key', key, 'kind', 'top_up', 'round', NULL, 'lines', jsonb_build_array(
            jsonb_build_array(theirs.mint, theirs.currency, 'F', -amount),
            jsonb_build_array(theirs.id, theirs.currency, 'F', amount)))), false) AS w
    WHERE w.account = theirs.id;
END $$;
REVOKE ALL ON FUNCTION wallet_top_up FROM PUBLIC;
