-- Withdrawals. Money that a player asks for waits in the account `pending` until it is paid or returned.

-- Secrets may be sealed under another key (`manage.py reseal`), and nothing else of the row becomes another: no length, and
-- no other column. Whether it is the same secret the database cannot see: that is held when it is opened, to the id of the
-- account or the name of the key. The role of web and workers has no right to these columns.
CREATE OR REPLACE FUNCTION wallet_keep_payout_account() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.player_id, NEW.country, NEW.at, NEW.last_four, octet_length(NEW.sealed), octet_length(NEW.fingerprint))
        IS NOT DISTINCT FROM
        (OLD.id, OLD.player_id, OLD.country, OLD.at, OLD.last_four, octet_length(OLD.sealed), octet_length(OLD.fingerprint))
        AND NEW.sealed <> OLD.sealed THEN
        RETURN NEW;
    END IF;
    IF (NEW.id, NEW.player_id, NEW.country, NEW.at, NEW.last_four, NEW.sealed, NEW.fingerprint)
        IS DISTINCT FROM (OLD.id, OLD.player_id, OLD.country, OLD.at, '', ''::bytea, uuid_send(OLD.id))
        OR NOT EXISTS (SELECT FROM players_closure AS c WHERE c.player_id = OLD.player_id AND c.state = 'erased') THEN
        RAISE EXCEPTION 'bank account % stays as it is', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Forgets the numbers of a player's bank accounts, and returns how many there were. Refused by the trigger above unless the player is forgotten.
CREATE OR REPLACE FUNCTION wallet_forget_accounts(player bigint) RETURNS bigint
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

-- Above this a withdrawal takes two people, in minor units.
CREATE OR REPLACE FUNCTION wallet_two_people_above(currency text) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE currency
        WHEN 'SEK' THEN 2000000 WHEN 'DKK' THEN 2000000 WHEN 'RON' THEN 1000000 WHEN 'EUR' THEN 200000 WHEN 'GBP' THEN 200000
        ELSE 0 END
$$;

-- A withdrawal is to an account of the same player, in the player's money, and was asked for now. What one player asks for within a day counts
-- together, one request after another: parts of a large sum are no way around the second person.
CREATE OR REPLACE FUNCTION wallet_check_withdrawal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    lately numeric;
BEGIN
    IF NEW.status <> 'requested'
        OR NOT EXISTS (SELECT FROM wallet_payout_account AS a WHERE a.id = NEW.account_id AND a.player_id = NEW.player_id)
        OR NOT EXISTS (SELECT FROM players_player AS p WHERE p.id = NEW.player_id AND p.currency = NEW.currency) THEN
        RAISE EXCEPTION 'no withdrawal begins like this' USING ERRCODE = 'check_violation';
    END IF;
    NEW.at := clock_timestamp();
    IF NEW.takes_two THEN
        RETURN NEW;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('wallet_withdrawal', NEW.player_id));
    SELECT coalesce(sum(w.amount), 0) INTO lately FROM wallet_withdrawal AS w
    WHERE w.player_id = NEW.player_id AND w.at > NEW.at - interval '1 day' AND w.status NOT IN ('returned', 'refused', 'cancelled');
    IF lately + NEW.amount > wallet_two_people_above(NEW.currency) THEN
        RAISE EXCEPTION 'a withdrawal of % takes two people', NEW.amount USING ERRCODE = 'SB032';
    END IF;
    RETURN NEW;
END $$;

-- Forward only. Where it takes two people, they have agreed on this very payment before the status says so, and both may approve withdrawals now.
CREATE OR REPLACE FUNCTION wallet_move_withdrawal() RETURNS trigger
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
        SELECT FROM audit_approval AS asked
        JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
        JOIN wallet_payout_account AS a ON a.id = OLD.account_id
        WHERE asked.kind = 'withdrawal' AND asked."on" = 'withdrawal:' || OLD.id
          AND asked.request::jsonb @> jsonb_build_object(
              'withdrawal', OLD.id, 'player', OLD.player_id, 'amount', OLD.amount, 'currency', OLD.currency,
              'reference', OLD.reference, 'account_hash', encode(a.fingerprint, 'hex'))
          AND wallet_staff_may(asked."by", asked.person, 'approve_withdrawal')
          AND wallet_staff_may(decided."by", decided.person, 'approve_withdrawal')) THEN
        RAISE EXCEPTION 'withdrawal % takes two people', OLD.id USING ERRCODE = 'SB032';
    END IF;
    RETURN NEW;
END $$;
