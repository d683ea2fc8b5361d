-- A purse is a second account of a player: the balance of a game that has one of its own. It opens, is covered and
-- moves like cash; nothing else about the ledger changes.

DROP TRIGGER wallet_account_opens ON wallet_account;

CREATE TRIGGER wallet_account_opens BEFORE INSERT ON wallet_account
    FOR EACH ROW WHEN ((
        NEW.currency IN ('SEK', 'DKK', 'RON', 'EUR', 'GBP') AND NEW.mode IN ('R', 'F')
        AND (NEW.kind IN ('cash', 'purse') AND NEW.owner_id IS NOT NULL AND NEW.balance = 0
             OR NEW.kind IN ('escrow', 'house', 'cashier', 'mint') AND NEW.owner_id IS NULL AND NEW.balance IS NULL)
        AND NEW.held = 0 AND NEW.version = 0) IS NOT TRUE)
    EXECUTE FUNCTION wallet_refuse_account();

DROP FUNCTION wallet_open_account;

-- Opens a player's account, or finds it, and returns its id. Of what kind a player's account may be, the trigger says.
CREATE FUNCTION wallet_open_account(owner bigint, currency text, mode text, kind text DEFAULT 'cash') RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    found_id bigint;
BEGIN
    INSERT INTO wallet_account (owner_id, kind, currency, mode, balance, held, version, lock_only)
    VALUES (owner, wallet_open_account.kind, wallet_open_account.currency, wallet_open_account.mode, 0, 0, 0, false)
    ON CONFLICT DO NOTHING;
    SELECT a.id INTO found_id FROM wallet_account AS a
    WHERE a.owner_id = owner AND a.kind = wallet_open_account.kind AND a.currency = wallet_open_account.currency
      AND a.mode = wallet_open_account.mode;
    RETURN found_id;
END $$;

REVOKE ALL ON FUNCTION wallet_open_account FROM PUBLIC;
