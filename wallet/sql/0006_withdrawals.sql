-- Withdrawals. Money that a player has asked for lies in an account of its own, pending, until it is paid or comes back.

DROP TRIGGER wallet_account_opens ON wallet_account;

CREATE TRIGGER wallet_account_opens BEFORE INSERT ON wallet_account
    FOR EACH ROW WHEN ((
        NEW.currency IN ('SEK', 'DKK', 'RON', 'EUR', 'GBP') AND NEW.mode IN ('R', 'F')
        AND (NEW.kind IN ('cash', 'purse') AND NEW.owner_id IS NOT NULL AND NEW.balance = 0
             OR NEW.kind = 'pending' AND NEW.owner_id IS NOT NULL AND NEW.balance = 0 AND NEW.mode = 'R'
             OR NEW.kind IN ('escrow', 'house', 'cashier', 'mint') AND NEW.owner_id IS NULL AND NEW.balance IS NULL)
        AND NEW.held = 0 AND NEW.version = 0) IS NOT TRUE)
    EXECUTE FUNCTION wallet_refuse_account();

CREATE TRIGGER wallet_payout_account_is_kept BEFORE DELETE OR TRUNCATE ON wallet_payout_account
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- A bank account never becomes another one. Its number goes once the house has forgotten whose account it was.
CREATE FUNCTION wallet_keep_payout_account() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.player_id, NEW.country, NEW.at, NEW.last_four, NEW.sealed, NEW.fingerprint)
        IS DISTINCT FROM (OLD.id, OLD.player_id, OLD.country, OLD.at, '', ''::bytea, uuid_send(OLD.id))
        OR NOT EXISTS (SELECT FROM players_closure AS c WHERE c.player_id = OLD.player_id AND c.state = 'erased') THEN
        RAISE EXCEPTION 'bank account % stays as it is', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_payout_account_changes BEFORE UPDATE ON wallet_payout_account
    FOR EACH ROW EXECUTE FUNCTION wallet_keep_payout_account();

-- Forgets the numbers of a player's bank accounts, and returns how many there were. Refused by the trigger above unless the player is forgotten.
CREATE FUNCTION wallet_forget_accounts(player bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    forgotten bigint;
BEGIN
    UPDATE wallet_payout_account AS a SET last_four = '', sealed = ''::bytea, fingerprint = uuid_send(a.id)
    WHERE a.player_id = player AND a.sealed <> ''::bytea;
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END $$;

REVOKE ALL ON FUNCTION wallet_forget_accounts FROM PUBLIC;

CREATE TRIGGER wallet_withdrawal_is_kept BEFORE DELETE OR TRUNCATE ON wallet_withdrawal
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_withdrawal_step_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_withdrawal_step
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_payout_notice_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_payout_notice
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- A withdrawal is to an account of the same player, in the player's money.
CREATE FUNCTION wallet_check_withdrawal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.status <> 'requested'
        OR NOT EXISTS (SELECT FROM wallet_payout_account AS a WHERE a.id = NEW.account_id AND a.player_id = NEW.player_id)
        OR NOT EXISTS (SELECT FROM players_player AS p WHERE p.id = NEW.player_id AND p.currency = NEW.currency) THEN
        RAISE EXCEPTION 'no withdrawal begins like this' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_withdrawal_begins BEFORE INSERT ON wallet_withdrawal
    FOR EACH ROW EXECUTE FUNCTION wallet_check_withdrawal();

-- Forward only. Where it takes two people, the second one's decision stands before the status says so.
CREATE FUNCTION wallet_move_withdrawal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.player_id, OLD.account_id, OLD.key, OLD.reference, OLD.amount, OLD.currency, OLD.takes_two, OLD.at)
        IS DISTINCT FROM
        (NEW.id, NEW.player_id, NEW.account_id, NEW.key, NEW.reference, NEW.amount, NEW.currency, NEW.takes_two, NEW.at)
    THEN
        RAISE EXCEPTION 'withdrawal % stays what was asked for', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF (OLD.status, NEW.status) NOT IN (
        ('requested', 'seconding'), ('requested', 'approved'), ('requested', 'refused'), ('requested', 'cancelled'),
        ('seconding', 'approved'), ('seconding', 'refused'), ('approved', 'sending'),
        ('sending', 'paid'), ('sending', 'returned')) THEN
        RAISE EXCEPTION 'withdrawal %: % does not become %', OLD.id, OLD.status, NEW.status
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.status = 'approved' AND OLD.takes_two AND NOT EXISTS (
        SELECT FROM audit_approval AS a JOIN audit_decision AS d ON d.approval_id = a.id
        WHERE a.kind = 'withdrawal' AND a."on" = 'withdrawal:' || OLD.id AND d.verdict = 'approved') THEN
        RAISE EXCEPTION 'withdrawal % takes two people', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_withdrawal_moves BEFORE UPDATE ON wallet_withdrawal
    FOR EACH ROW EXECUTE FUNCTION wallet_move_withdrawal();
