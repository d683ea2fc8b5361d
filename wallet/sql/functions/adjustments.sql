-- Adjustments: two people correct a balance, against a house account that is used for nothing else.

-- Return whether a staff account may use a permission of the wallet app now; see players_staff_may.
-- `account`: 'staff:<id>'. `person`: the person of that account. `codename`: permission without the
-- app's name.
CREATE OR REPLACE FUNCTION wallet_staff_may(account text, person uuid, codename text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT players_staff_may(account, person, 'wallet', codename)
$$;

-- Refuse an adjustment that differs from its approval. Trigger function, BEFORE INSERT on
-- wallet_adjustment.
-- Raises SB030.
--
-- The approval has kind balance.adjust, was approved, and names the same player, currency, mode,
-- amount, key and reason. Both staff members still hold their permissions: ask_adjustment and
-- decide_adjustment. Only cash accounts are adjusted. The real money of an operator's player is
-- never adjusted, because it is here only during a round.
CREATE OR REPLACE FUNCTION wallet_check_adjustment() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM audit_approval AS asked
        JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
        JOIN wallet_account AS a ON a.id = NEW.account_id AND a.kind = 'cash'
        JOIN players_player AS p ON p.id = a.owner_id AND NOT (p.uses_operator_wallet AND a.mode = 'R')
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

-- Return whether a journal moves exactly what an adjustment with the same key says: its amount to
-- its account, and the opposite amount to the house account of kind adjusted, in two lines.
CREATE OR REPLACE FUNCTION wallet_adjusts_so(journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM wallet_journal AS j JOIN wallet_adjustment AS of ON of.key = j.key
        WHERE j.id = journal AND j.kind = 'adjustment' AND j.round_id IS NULL AND j.reverses_id IS NULL
          AND (SELECT count(*) = 2 AND bool_and(
                   e.account_id = of.account_id AND e.amount = of.amount OR a.kind = 'adjusted' AND e.amount = -of.amount)
               FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id WHERE e.journal_id = j.id))
$$;

-- Post the adjustment that an approval asks for, against the house account of kind adjusted.
-- `approval`: id of an approval of kind balance.adjust.
-- Returns two rows, as wallet_write does.
-- Raises SB030 if the approval is unknown, not approved or has no account, unique_violation (23505,
-- wallet_adjustment_pkey) if it was posted before, and the errors of wallet_write.
CREATE OR REPLACE FUNCTION wallet_adjust(approval bigint)
RETURNS TABLE (journal_number integer, journal bigint, repeated boolean, account bigint, balance bigint)
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
    RETURN QUERY SELECT * FROM wallet_write(jsonb_build_array(jsonb_build_object(
        'key', wish ->> 'key', 'kind', 'adjustment', 'round', NULL, 'lines', jsonb_build_array(
            jsonb_build_array(cash.id, cash.currency, cash.mode, (wish ->> 'amount')::bigint),
            jsonb_build_array(house, cash.currency, cash.mode, -(wish ->> 'amount')::bigint)))), false);
END $$;
REVOKE ALL ON FUNCTION wallet_adjust FROM PUBLIC;
