-- Withdrawals. The requested money waits in the player's account of kind pending until it is paid
-- or returned.

-- Allow two changes of a player's bank account only. Trigger function, BEFORE UPDATE on
-- wallet_payout_account.
-- Its number may be encrypted again with another key (`manage.py reseal`), and it is erased after
-- the player's account was erased.
-- Raises restrict_violation (23001) for any other change.
-- The database cannot see whether it is the same number: decryption checks that against the
-- account's id. The role of web and workers has no right to update these columns.
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

-- Erase the numbers of a player's bank accounts.
-- Returns the number of accounts.
-- Raises restrict_violation (23001), from wallet_keep_payout_account, unless the player's account
-- was erased.
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

-- Return the amount in minor units above which a withdrawal needs two people; 0 for an unknown
-- currency.
CREATE OR REPLACE FUNCTION wallet_two_people_above(currency text) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE currency
        WHEN 'SEK' THEN 2000000 WHEN 'DKK' THEN 2000000 WHEN 'RON' THEN 1000000 WHEN 'EUR' THEN 200000 WHEN 'GBP' THEN 200000
        ELSE 0 END
$$;

-- Return the facts that speak against a payout of a player's money to a bank account, as kind and number: a lock
-- of the account ("lock:3"), open cases that hold payouts and confirmed matches of the screening ("case:7"), open duplicates ("duplicate:2"), and other players who
-- have this account, or the hash of any bank account of this player ("shared:12").
CREATE OR REPLACE FUNCTION wallet_payout_holds(player bigint, account uuid) RETURNS TABLE (fact text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT 'lock:' || newest.id
    FROM (SELECT l.id, l.locks FROM players_accountlock AS l WHERE l.player_id = player ORDER BY l.id DESC LIMIT 1) AS newest
    WHERE newest.locks
    UNION ALL
    SELECT 'case:' || c.id FROM players_case AS c WHERE c.player_id = player AND c.holds
        AND (c.closed_at IS NULL OR c.kind = 'screening' AND c.outcome <> 'other_person')
    UNION ALL
    SELECT 'duplicate:' || d.id FROM players_duplicate AS d
    WHERE player IN (d.first_id, d.second_id) AND d.resolution = ''
    UNION ALL
    SELECT 'shared:' || other.player_id FROM (
        SELECT theirs.player_id FROM wallet_payout_account AS mine
        JOIN wallet_payout_account AS theirs ON theirs.fingerprint = mine.fingerprint AND theirs.player_id <> player
        WHERE mine.id = account
        UNION
        SELECT theirs.player_id FROM players_trait AS mine
        JOIN players_trait AS theirs ON theirs.ground = 'payout' AND theirs.fingerprint = mine.fingerprint
            AND theirs.player_id <> player
        WHERE mine.player_id = player AND mine.ground = 'payout'
    ) AS other
$$;

-- Return whether a fact speaks against the payout of a withdrawal that no two people have released. They release the
-- facts that the request of an approval of kind withdrawal.release names for this withdrawal and its amount; a fact
-- that was found later is not among them. Both must still hold the permission release_withdrawal.
CREATE OR REPLACE FUNCTION wallet_payout_is_held(withdrawal wallet_withdrawal) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM wallet_payout_holds(withdrawal.player_id, withdrawal.account_id) AS h
        WHERE NOT EXISTS (
            SELECT FROM audit_approval AS asked
            JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
            WHERE asked.kind = 'withdrawal.release' AND asked."on" = 'withdrawal:' || withdrawal.id
              AND asked.request::jsonb @> jsonb_build_object(
                  'withdrawal', withdrawal.id, 'player', withdrawal.player_id, 'amount', withdrawal.amount,
                  'currency', withdrawal.currency, 'facts', jsonb_build_array(h.fact))
              AND wallet_staff_may(asked."by", asked.person, 'release_withdrawal')
              AND wallet_staff_may(decided."by", decided.person, 'release_withdrawal')))
$$;

-- Check a new withdrawal. Trigger function, BEFORE INSERT on wallet_withdrawal. Sets `at` to the
-- database's time.
-- Raises check_violation (23514) unless the status is requested, the bank account belongs to the
-- player and the currency is the player's. Raises SB032 if it needs two people and `takes_two` is
-- false.
-- Locks an advisory lock of the player, so that concurrent requests count each other.
-- All withdrawals of a player in 24 hours count together, so that several small ones do not avoid
-- the second person. Returned, refused and cancelled ones do not count.
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

-- Allow only forward changes of a withdrawal's status. Trigger function, BEFORE UPDATE on
-- wallet_withdrawal.
-- Raises restrict_violation (23001) for another order or a change of the request itself. An approved one is
-- refused only while it is held. Raises SB137 if it
-- is approved or sent while a fact speaks against it that two people have not released. Raises
-- SB032 if a withdrawal that needs two people is approved without their approval of exactly this
-- payment. Both must still hold the permission approve_withdrawal.
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
        ('sending', 'paid'), ('sending', 'returned'))
        AND NOT ((OLD.status, NEW.status) = ('approved', 'refused') AND wallet_payout_is_held(OLD)) THEN
        RAISE EXCEPTION 'withdrawal %: % does not become %', OLD.id, OLD.status, NEW.status
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.status IN ('approved', 'sending') THEN
        PERFORM players_hold_off_exclusions(OLD.player_id);  -- and locks
        IF wallet_payout_is_held(OLD) THEN
            RAISE EXCEPTION 'withdrawal % is held', OLD.id USING ERRCODE = 'SB137';
        END IF;
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
