-- A balance is put right by a journal of a kind of its own, against an account of the house of its own kind, and only as
-- an approval says: asked for by one person, decided by another. The approval is read here, whoever writes.

DROP TRIGGER wallet_account_opens ON wallet_account;

CREATE TRIGGER wallet_account_opens BEFORE INSERT ON wallet_account
    FOR EACH ROW WHEN ((
        NEW.currency IN ('SEK', 'DKK', 'RON', 'EUR', 'GBP') AND NEW.mode IN ('R', 'F')
        AND (NEW.kind IN ('cash', 'purse') AND NEW.owner_id IS NOT NULL AND NEW.balance = 0 AND NEW.stands_for IS NULL
             OR NEW.kind = 'pending' AND NEW.owner_id IS NOT NULL AND NEW.balance = 0 AND NEW.mode = 'R'
                AND NEW.stands_for IS NULL
             OR NEW.kind = 'bank' AND NEW.balance = 0 AND NEW.stands_for IS NOT NULL
                AND (NEW.owner_id IS NOT NULL OR NEW.mode = 'F')
             OR NEW.kind = 'stakes' AND NEW.owner_id IS NULL AND NEW.balance = 0 AND NEW.stands_for IS NOT NULL
             OR NEW.kind = 'seat' AND NEW.owner_id IS NULL AND NEW.balance = 0 AND NEW.stands_for IS NOT NULL
                AND NEW.mode = 'F'
             OR NEW.kind IN ('escrow', 'house', 'cashier', 'mint', 'adjusted') AND NEW.owner_id IS NULL
                AND NEW.balance IS NULL AND NEW.stands_for IS NULL)
        AND NEW.held = 0 AND NEW.version = 0) IS NOT TRUE)
    EXECUTE FUNCTION wallet_refuse_account();

INSERT INTO wallet_account (kind, currency, mode, held, version, lock_only)
SELECT 'adjusted', currency, mode, 0, 0, false
FROM unnest(ARRAY['SEK', 'DKK', 'RON', 'EUR', 'GBP']) AS currency, unnest(ARRAY['R', 'F']) AS mode;


-- What is adjusted is what was approved -----------------------------------------------------------------------------

CREATE TRIGGER wallet_adjustment_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_adjustment
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- Whether the account of staff is of that person, in use, and of a role that has the permission.
CREATE FUNCTION wallet_staff_may(account text, person uuid, codename text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM players_staff AS s
        JOIN players_user AS u ON u.id = s.user_id AND u.is_active
        JOIN players_user_groups AS m ON m.user_id = u.id
        JOIN auth_group_permissions AS held ON held.group_id = m.group_id
        JOIN auth_permission AS p ON p.id = held.permission_id
        JOIN django_content_type AS c ON c.id = p.content_type_id AND c.app_label = 'wallet'
        WHERE 'staff:' || s.id = wallet_staff_may.account AND s.person = wallet_staff_may.person
          AND p.codename = wallet_staff_may.codename)
$$;

-- One row for each approval that was executed (its key says that it is the only one), and exactly what the frozen request
-- says. The approval stands or falls with the permissions that its two people have now.
CREATE FUNCTION wallet_check_adjustment() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM audit_approval AS asked
        JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
        JOIN wallet_account AS a ON a.id = NEW.account_id AND a.kind = 'cash'
        WHERE asked.id = NEW.approval_id AND asked.kind = 'balance.adjust'
          AND asked.request::jsonb @> jsonb_build_object(
              'player', a.owner_id, 'currency', a.currency, 'mode', a.mode, 'amount', NEW.amount, 'key', NEW.key,
              'why', NEW.why)
          AND wallet_staff_may(asked."by", asked.person, 'ask_adjustment')
          AND wallet_staff_may(decided."by", decided.person, 'decide_adjustment'))
    THEN
        RAISE EXCEPTION 'no approval % says so', NEW.approval_id USING ERRCODE = 'SB030';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_adjustment_is_approved BEFORE INSERT ON wallet_adjustment
    FOR EACH ROW EXECUTE FUNCTION wallet_check_adjustment();

-- Whether the journal moves what an approved adjustment says between its two accounts, and nothing else.
CREATE FUNCTION wallet_adjusts_so(journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM wallet_journal AS j JOIN wallet_adjustment AS of ON of.key = j.key
        WHERE j.id = journal AND j.kind = 'adjustment' AND j.round_id IS NULL AND j.reverses_id IS NULL
          AND (SELECT count(*) = 2 AND bool_and(
                   e.account_id = of.account_id AND e.amount = of.amount OR a.kind = 'adjusted' AND e.amount = -of.amount)
               FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id WHERE e.journal_id = j.id))
$$;

CREATE FUNCTION wallet_check_adjusting() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT wallet_adjusts_so(NEW.id) THEN
        RAISE EXCEPTION 'journal % is no adjustment that two people agreed on', NEW.id USING ERRCODE = 'SB009';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER wallet_journal_adjusts_as_approved AFTER INSERT ON wallet_journal
    FOR EACH ROW WHEN (NEW.kind = 'adjustment') EXECUTE FUNCTION wallet_check_adjusting();

-- As before; the account against which balances are put right moves by nothing else.
CREATE OR REPLACE FUNCTION wallet_follow_lines() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    astray record;
BEGIN
    LOOP
        SELECT n.journal_id, n.line, n.account_id, n.currency, n.mode, n.version, n.balance_after, a.id AS home,
               a.kind = 'adjusted' OR a.stands_for IS NOT NULL AND n.version BETWEEN 1 AND a.version AS stands
        INTO astray
        FROM new_lines AS n
        LEFT JOIN wallet_account AS a ON a.id = n.account_id AND a.currency = n.currency AND a.mode = n.mode
        WHERE (CASE WHEN a.balance IS NULL THEN a.id IS NOT NULL AND n.version IS NULL AND n.balance_after IS NULL
                         AND (a.kind <> 'adjusted' OR wallet_adjusts_so(n.journal_id))
                    WHEN a.stands_for IS NULL THEN n.version BETWEEN 1 AND a.version
                    ELSE n.version BETWEEN 1 AND a.version AND wallet_stands_so(a.kind, a.stands_for, n.journal_id)
               END) IS NOT TRUE
        LIMIT 1;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        UPDATE wallet_account AS a SET balance = n.balance_after, version = n.version
        FROM new_lines AS n
        WHERE a.id = n.account_id AND a.version = n.version - 1 AND a.balance + n.amount = n.balance_after;
        EXIT WHEN NOT FOUND;
    END LOOP;
    IF astray.home IS NULL THEN
        RAISE EXCEPTION 'there is no account % in % %', astray.account_id, astray.currency, astray.mode
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'wallet_entry_account';
    END IF;
    IF astray.stands THEN
        RAISE EXCEPTION 'journal % line %: account % does not move like this',
            astray.journal_id, astray.line, astray.account_id USING ERRCODE = 'SB009';
    END IF;
    RAISE EXCEPTION 'journal % line %: number % with balance % does not follow on account %',
        astray.journal_id, astray.line, astray.version, astray.balance_after, astray.account_id
        USING ERRCODE = 'restrict_violation';
END $$;

-- Does what an approval says, once: answers as wallet_post does.
CREATE FUNCTION wallet_adjust(approval bigint)
RETURNS TABLE (place integer, journal bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    wish jsonb;
    cash wallet_account%ROWTYPE;
    house bigint;
BEGIN
    SELECT request::jsonb INTO wish FROM audit_approval WHERE id = approval AND kind = 'balance.adjust';
    SELECT * INTO cash FROM wallet_account AS a
    WHERE a.owner_id = (wish ->> 'player')::bigint AND a.kind = 'cash' AND a.currency = wish ->> 'currency'
      AND a.mode = wish ->> 'mode';
    SELECT a.id INTO house FROM wallet_account AS a
    WHERE a.kind = 'adjusted' AND a.currency = cash.currency AND a.mode = cash.mode;
    IF house IS NULL THEN
        RAISE EXCEPTION 'approval % adjusts nobody''s balance', approval USING ERRCODE = 'SB030';
    END IF;
    INSERT INTO wallet_adjustment (approval_id, key, account_id, amount, why)
    VALUES (approval, (wish ->> 'key')::uuid, cash.id, (wish ->> 'amount')::bigint, wish ->> 'why');
    RETURN QUERY SELECT * FROM wallet_post(jsonb_build_array(jsonb_build_object(
        'key', wish ->> 'key', 'kind', 'adjustment', 'round', NULL, 'lines', jsonb_build_array(
            jsonb_build_array(cash.id, cash.currency, cash.mode, (wish ->> 'amount')::bigint),
            jsonb_build_array(house, cash.currency, cash.mode, -(wish ->> 'amount')::bigint)))));
END $$;

REVOKE ALL ON FUNCTION wallet_adjust FROM PUBLIC;
