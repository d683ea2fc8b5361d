-- Money that comes in: deposits that a payment provider has confirmed, and free play money.
--
--   SB086 the player may not deposit; detail: the reason, as players.protection.eligibility names it
--   SB132 the deposit was decided already, or nothing proves that it was paid or sent back
--   SB133 the player has as much play money as a top-up gives
--   SB136 no two people have decided this about the deposit, or it may still not be credited

-- Refuse a change of a payment. Trigger function, BEFORE UPDATE on wallet_payment.
-- Raises restrict_violation (23001), always. The rules are in the WHEN condition of
-- wallet_payment_identity.
CREATE OR REPLACE FUNCTION wallet_refuse_payment_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'payment % stays as it is', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

-- Refuse to mark a payment as credited, held or returned, unless the owner of the tables does it: the
-- functions below.
-- Trigger function, BEFORE INSERT OR UPDATE OF state on wallet_payment. Payment providers of
-- django-payments save whole rows, so the login role of web and workers keeps its right on all columns.
-- Raises SB132.
CREATE OR REPLACE FUNCTION wallet_payment_is_paid() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.state = NEW.state THEN
        RETURN NEW;
    END IF;
    IF NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = TG_RELID) THEN
        RAISE EXCEPTION 'payment % becomes % by no statement', NEW.id, NEW.state USING ERRCODE = 'SB132';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a new deposit of a player who may not play at all, or whose identity is not confirmed. Trigger
-- function, AFTER INSERT on wallet_payment. Terms and limits are checked by its caller.
-- Raises SB086; detail: the reason, as players.protection.eligibility names it.
CREATE OR REPLACE FUNCTION wallet_refuse_unknown() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    reason text := (
        SELECT coalesce(e.reason, i.reason)
        FROM players_exclusion_of(NEW.player_id) AS e CROSS JOIN players_identity_due(NEW.player_id) AS i);
BEGIN
    IF reason IS NOT NULL THEN
        RAISE EXCEPTION 'player % may not deposit', NEW.player_id USING ERRCODE = 'SB086', DETAIL = reason;
    END IF;
    RETURN NULL;
END $$;

-- Return why a player's account may take no deposit at all, as a code of wallet.models.HeldReason; NULL if it
-- may. The caller must have called players_hold_off_exclusions. A register that did not answer is no reason
-- here, and neither is the closing of the account: its money is paid out. The code is excluded under whichever
-- account the person is, and for every reason that HeldReason does not know.
CREATE OR REPLACE FUNCTION wallet_deposits_barred(player bigint) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(
        (SELECT CASE WHEN e.reason IN ('locked', 'register') THEN e.reason ELSE 'excluded' END
         FROM players_exclusion_of(player) AS e WHERE e.reason NOT IN ('unreachable', 'closing')),
        CASE WHEN players_borrows(player) THEN 'borrowed' END)
$$;

-- Return whether a deposit of `amount` would exceed a deposit limit of the player today. What other deposits
-- have reserved does not count: each of them is compared with the limits when it arrives.
-- The caller must have locked the account and the limits.
CREATE OR REPLACE FUNCTION wallet_exceeds_deposit_limit(player bigint, amount bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    today date := wallet_today(player);
BEGIN
    RETURN EXISTS (
        SELECT FROM players_limits_of(player) AS l
        WHERE l.kind = 'deposit' AND l.amount < wallet_exceeds_deposit_limit.amount + (
            SELECT coalesce(sum(d.deposited), 0) FROM wallet_day AS d
            WHERE d.player_id = player AND d.day BETWEEN date_trunc(l.period, today::timestamp)::date AND today));
END $$;
REVOKE ALL ON FUNCTION wallet_exceeds_deposit_limit FROM PUBLIC;

-- Post the money of a deposit that its provider has confirmed. It goes to the player's cash account, and the
-- payment is credited. Or it goes to the player's account of kind refund, from where nothing can be played, and
-- the payment is held: if the player is excluded or locked or
-- known to borrow, if it would exceed a deposit limit, if
-- it was made by credit where that is forbidden, or if the payment is over. A payment is over if it is not waiting any more, or if its reservation has ended.
-- `key`: idempotency key of the journal, under which the deposit was reserved. `authorisation`: the provider's
-- number of the payment. `proof`: HMAC under CREDENTIALS_KEY (players/sql/functions/credentials.sql) of the
-- payment and the SHA-256 of `authorisation` in hex, as "deposit:1b4e…:9f86…". Only a process that has the key,
-- and has checked what the provider says, can make it.
-- Returns the id of the journal, the balance after it, and why the money is held, NULL if it was credited.
-- Raises SB132, and the errors of wallet_write.
-- Locks the payment, holds off exclusions, then locks the account and the limits.
CREATE OR REPLACE FUNCTION wallet_credit_deposit(
    payment uuid, key uuid, authorisation text, proof bytea, OUT journal bigint, OUT balance bigint, OUT held text
) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    paid record;
    target bigint;
BEGIN
    SELECT p.id, p.player_id, p.amount, p.currency, p.state, p.funding = 'credit' AND j.credit_forbidden AS is_credit,
           cash.id AS cash, house.id AS cashier INTO paid
    FROM wallet_payment AS p
    JOIN players_player AS owner ON owner.id = p.player_id
    JOIN players_jurisdiction AS j ON j.code = owner.jurisdiction_id
    JOIN wallet_account AS cash ON cash.owner_id = p.player_id AND cash.kind = 'cash' AND cash.mode = 'R'
        AND cash.currency = p.currency
    JOIN wallet_account AS house ON house.owner_id IS NULL AND house.kind = 'cashier' AND house.mode = 'R'
        AND house.currency = p.currency
    WHERE p.id = payment AND p.state NOT IN ('credited', 'held', 'returned') FOR UPDATE OF p;
    IF NOT FOUND OR players_is_text_proven(concat_ws(':', 'deposit', payment), authorisation, proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'nothing proves that payment % was paid', payment USING ERRCODE = 'SB132';
    END IF;
    PERFORM players_hold_off_exclusions(paid.player_id);
    PERFORM FROM wallet_account AS a WHERE a.id = paid.cash FOR UPDATE;
    PERFORM players_lock_limits(paid.player_id);
    held := CASE WHEN wallet_deposits_barred(paid.player_id) IS NOT NULL THEN wallet_deposits_barred(paid.player_id)
        WHEN paid.is_credit THEN 'credit'
        WHEN paid.state <> 'waiting' OR NOT EXISTS (
            SELECT FROM wallet_reserved AS r WHERE r.key = wallet_credit_deposit.key AND r.player_id = paid.player_id
                AND r.amount >= paid.amount AND r.ended_at IS NULL) THEN 'over'
        WHEN wallet_exceeds_deposit_limit(paid.player_id, paid.amount) THEN 'limit' END;
    target := CASE WHEN held IS NULL THEN paid.cash ELSE wallet_open_account(paid.player_id, paid.currency, 'R', 'refund') END;
    SELECT w.journal, w.balance INTO journal, balance
    FROM wallet_write(jsonb_build_array(jsonb_build_object(
        'key', key, 'kind', CASE WHEN held IS NULL THEN 'deposit' ELSE 'deposit_held' END, 'round', NULL,
        'lines', jsonb_build_array(
            jsonb_build_array(paid.cashier, paid.currency, 'R', -paid.amount),
            jsonb_build_array(target, paid.currency, 'R', paid.amount)))), false) AS w
    WHERE w.account = target;
    UPDATE wallet_reserved AS r SET ended_at = clock_timestamp()
    WHERE r.key = wallet_credit_deposit.key AND r.player_id = paid.player_id AND r.ended_at IS NULL;
    UPDATE wallet_payment AS p SET state = CASE WHEN held IS NULL THEN 'credited' ELSE 'held' END,
        decided_at = clock_timestamp(), authorisation = wallet_credit_deposit.authorisation,
        journal_id = CASE WHEN held IS NULL THEN wallet_credit_deposit.journal END,
        held_journal_id = CASE WHEN held IS NOT NULL THEN wallet_credit_deposit.journal END,
        held_because = coalesce(held, '')
    WHERE p.id = payment;
END $$;
REVOKE ALL ON FUNCTION wallet_credit_deposit FROM PUBLIC;

-- End a held payment: move its money out of the player's account of kind refund, and mark the payment.
-- `state`: returned, or credited to the player's cash account.
-- Returns the id of the journal and the balance after it, of the refund account or of the cash account.
-- Raises SB132 if the payment is not held, and the errors of wallet_write.
-- Locks the payment, then the account.
CREATE OR REPLACE FUNCTION wallet_end_held_deposit(payment uuid, state text, OUT journal bigint, OUT balance bigint) RETURNS record
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held record;
    target bigint;
BEGIN
    SELECT p.amount, p.currency, refund.id AS refund, cash.id AS cash, house.id AS cashier INTO held
    FROM wallet_payment AS p
    JOIN wallet_account AS refund ON refund.owner_id = p.player_id AND refund.kind = 'refund' AND refund.currency = p.currency
    JOIN wallet_account AS cash ON cash.owner_id = p.player_id AND cash.kind = 'cash' AND cash.mode = 'R'
        AND cash.currency = p.currency
    JOIN wallet_account AS house ON house.owner_id IS NULL AND house.kind = 'cashier' AND house.mode = 'R'
        AND house.currency = p.currency
    WHERE p.id = payment AND p.state = 'held' FOR UPDATE OF p;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'payment % is not held', payment USING ERRCODE = 'SB132';
    END IF;
    target := CASE wallet_end_held_deposit.state WHEN 'credited' THEN held.cash ELSE held.cashier END;
    SELECT w.journal, w.balance INTO journal, balance
    FROM wallet_write(jsonb_build_array(jsonb_build_object(
        'key', gen_random_uuid(), 'round', NULL,
        'kind', CASE wallet_end_held_deposit.state WHEN 'credited' THEN 'deposit_released' ELSE 'deposit_returned' END,
        'lines', jsonb_build_array(
            jsonb_build_array(held.refund, held.currency, 'R', -held.amount),
            jsonb_build_array(target, held.currency, 'R', held.amount)))), false) AS w
    WHERE w.account = CASE wallet_end_held_deposit.state WHEN 'credited' THEN held.cash ELSE held.refund END;
    UPDATE wallet_payment AS p SET state = wallet_end_held_deposit.state, decided_at = clock_timestamp(),
        journal_id = wallet_end_held_deposit.journal
    WHERE p.id = payment;
END $$;
REVOKE ALL ON FUNCTION wallet_end_held_deposit FROM PUBLIC;

-- Record that the provider has sent the money of a held deposit back.
-- `reference`: the provider's number, here that of the payment. `proof`: as for wallet_credit_deposit, of
-- "refund:1b4e…:9f86…".
-- Returns what wallet_end_held_deposit does. Raises SB132.
CREATE OR REPLACE FUNCTION wallet_return_deposit(payment uuid, reference text, proof bytea, OUT journal bigint, OUT balance bigint)
RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF players_is_text_proven(concat_ws(':', 'refund', payment), reference, proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'nothing proves that payment % was sent back', payment USING ERRCODE = 'SB132';
    END IF;
    SELECT e.journal, e.balance INTO journal, balance FROM wallet_end_held_deposit(payment, 'returned') AS e;
END $$;
REVOKE ALL ON FUNCTION wallet_return_deposit FROM PUBLIC;

-- Carry out what two people have decided about a held deposit: that finance has sent it back, or that it is
-- credited after all. It is credited only if nothing forbids it now but that the payment was over. What was
-- paid by credit is never credited.
-- `approval`: id of an approval of kind deposit.held. Its request names the payment, the player, the amount,
-- the currency and the action, "return" or "credit". Both people must still hold their permissions:
-- handle_deposit and decide_deposit.
-- Returns what wallet_end_held_deposit does.
-- Raises SB136, SB132 if the payment is not held, SB006 if it would exceed a limit, and the errors of
-- wallet_write.
CREATE OR REPLACE FUNCTION wallet_decide_deposit(approval bigint, OUT journal bigint, OUT balance bigint) RETURNS record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    wish record;
BEGIN
    SELECT p.id, p.player_id, p.held_because, a.request::jsonb ->> 'action' AS action INTO wish
    FROM audit_approval AS a
    JOIN audit_decision AS d ON d.approval_id = a.id AND d.verdict = 'approved'
    JOIN wallet_payment AS p ON a.request::jsonb @> jsonb_build_object(
        'payment', p.id, 'player', p.player_id, 'amount', p.amount, 'currency', p.currency)
    WHERE a.id = approval AND a.kind = 'deposit.held' AND a."on" = 'payment:' || p.id
      AND p.id = (a.request::jsonb ->> 'payment')::uuid
      AND wallet_staff_may(a."by", a.person, 'handle_deposit')
      AND wallet_staff_may(d."by", d.person, 'decide_deposit');
    IF NOT FOUND OR wish.action NOT IN ('return', 'credit') THEN
        RAISE EXCEPTION 'approval % decides about no deposit', approval USING ERRCODE = 'SB136';
    END IF;
    IF wish.action = 'credit' THEN
        PERFORM players_hold_off_exclusions(wish.player_id);
        IF wish.held_because = 'credit' OR wallet_deposits_barred(wish.player_id) IS NOT NULL THEN
            RAISE EXCEPTION 'player % may still take no deposit', wish.player_id USING ERRCODE = 'SB136';
        END IF;
    END IF;
    SELECT e.journal, e.balance INTO journal, balance
    FROM wallet_end_held_deposit(wish.id, CASE wish.action WHEN 'credit' THEN 'credited' ELSE 'returned' END) AS e;
END $$;
REVOKE ALL ON FUNCTION wallet_decide_deposit FROM PUBLIC;

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
