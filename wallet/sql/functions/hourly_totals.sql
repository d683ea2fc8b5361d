-- Hourly snapshots of account balances.

-- Refuse a balance snapshot that is in the future or older than an existing one. Trigger function,
-- BEFORE INSERT on wallet_accountsnapshot.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION wallet_accountsnapshot_is_last() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.at > clock_timestamp() OR EXISTS (SELECT FROM wallet_accountsnapshot WHERE at > NEW.at) THEN
        RAISE EXCEPTION 'nobody looks at accounts as they stand at %', NEW.at USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
