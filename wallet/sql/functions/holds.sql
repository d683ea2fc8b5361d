-- Holds: money set aside for a shared round from the bet until the round is paid. It cannot be spent,
-- so neither closing bets nor paying can fail for lack of money. `held` of an account is the sum of
-- its holds.

-- Keep what a hold was at each full hour (UTC) since its last change, until it changes or ends at `moment`.
-- Nearly always there is none: a hold lasts for one round.
CREATE OR REPLACE FUNCTION wallet_keep_past_hold(was wallet_hold, moment timestamptz) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO wallet_pasthold (hour, round_id, account_id, amount)
    SELECT each.hour, was.round_id, was.account_id, was.amount
    FROM generate_series(date_trunc('hour', was.at, 'UTC') + interval '1 hour', moment, interval '1 hour') AS each (hour)
$$;

-- Return what was held on players' accounts at a full hour (UTC), in minor units. Journals before the hour and holds at the
-- hour are of one moment: a hold that became a stake ends at the time of the stake's journal.
-- `moment`: a full hour that is over.
CREATE OR REPLACE FUNCTION wallet_held_at(moment timestamptz)
RETURNS TABLE (account_kind text, currency text, mode text, held bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT a.kind, a.currency, a.mode, sum(h.amount)::bigint
    FROM (
        SELECT p.account_id, p.amount FROM wallet_pasthold AS p WHERE p.hour = moment
        UNION ALL SELECT h.account_id, h.amount FROM wallet_hold AS h WHERE h.at < moment
    ) AS h JOIN wallet_account AS a ON a.id = h.account_id AND a.owner_id IS NOT NULL
    GROUP BY a.kind, a.currency, a.mode
$$;

-- Add the change of a hold to `held` of its account, and keep what the hold was at a full hour. Trigger function, AFTER
-- INSERT OR UPDATE on wallet_hold.
-- Raises check_violation (23514, wallet_account_covered) if the balance is less than `held`.
CREATE OR REPLACE FUNCTION wallet_move_held() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE wallet_account AS a SET held = a.held + coalesce(NEW.amount, 0) - coalesce(OLD.amount, 0)
    WHERE a.id = coalesce(NEW.account_id, OLD.account_id);
    IF TG_OP = 'UPDATE' AND OLD.at < date_trunc('hour', NEW.at, 'UTC') THEN
        PERFORM wallet_keep_past_hold(OLD, NEW.at);
    END IF;
    RETURN NULL;
END $$;

-- Subtract deleted holds from `held` of their accounts, and keep what they were at a full hour. Trigger function, AFTER
-- DELETE on wallet_hold, per statement. wallet_settle_holds does the same itself, with the time of its journals and in the
-- statement that moves the balances.
CREATE OR REPLACE FUNCTION wallet_give_back_held() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    now_is constant timestamptz := clock_timestamp();
BEGIN
    IF current_setting('sabot.writer', true) = 'wallet' THEN
        RETURN NULL;
    END IF;
    UPDATE wallet_account AS a SET held = a.held - h.amount
    FROM (SELECT gone.account_id, sum(gone.amount)::bigint AS amount FROM gone GROUP BY gone.account_id) AS h
    WHERE a.id = h.account_id;
    PERFORM wallet_keep_past_hold(ROW(gone.round_id, gone.account_id, gone.amount, gone.at)::wallet_hold, now_is)
    FROM gone WHERE gone.at < date_trunc('hour', now_is, 'UTC');
    RETURN NULL;
END $$;

-- Set the hold of an account for a round to `amount`, and return what is free afterwards.
-- `amount`: minor units; 0 removes the hold. `account`: a cash, purse or seat account.
-- Returns balance minus held, in minor units.
-- games_place_bets calls it for bets at shared tables, games_hold_bid for bids at Chemin de Fer.
-- Raises foreign_key_violation (23503, wallet_hold_account) for another account, check_violation
-- (23514) for a negative amount or lack of money (wallet_account_covered), SB006 if a growing
-- real-money hold passes a limit, SB040 if a hold grows while the house is stopped.
-- Locks the account, then the player's limits. A hold counts towards the stake and loss limits from
-- now on.
--
-- Sequential scans are off: statistics are usually collected while there are few holds, and a plan
-- made from them would read every hold of a round for each chip.
CREATE OR REPLACE FUNCTION wallet_set_hold(round uuid, account bigint, amount bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    theirs wallet_account;
    was bigint;
    free bigint;
BEGIN
    SELECT a.* INTO theirs FROM wallet_account AS a
    WHERE a.id = account AND a.kind IN ('cash', 'purse', 'seat') FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'nothing is held on account %', account
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'wallet_hold_account';
    END IF;
    was := coalesce((SELECT h.amount FROM wallet_hold AS h WHERE h.round_id = round AND h.account_id = account), 0);
    IF amount = 0 THEN
        DELETE FROM wallet_hold AS h WHERE h.round_id = round AND h.account_id = account;
    ELSE
        INSERT INTO wallet_hold AS h (round_id, account_id, amount, at)
        VALUES (round, account, wallet_set_hold.amount, clock_timestamp())
        ON CONFLICT (round_id, account_id) DO UPDATE SET amount = excluded.amount, at = excluded.at WHERE h.amount <> excluded.amount;
    END IF;
    IF theirs.mode = 'R' AND amount > was THEN
        PERFORM players_lock_limits(theirs.owner_id);
        PERFORM wallet_refuse_beyond(
            theirs.owner_id, wallet_today(theirs.owner_id), 'stake', amount - was);
    END IF;
    SELECT a.balance - a.held INTO free FROM wallet_account AS a WHERE a.id = account;
    RETURN free;
END $$;
REVOKE ALL ON FUNCTION wallet_set_hold FROM PUBLIC;

-- Lock the accounts that have a hold for a round, in ascending order of id, until the transaction
-- ends. Returns what is held on each, its balance and its money.
CREATE OR REPLACE FUNCTION wallet_lock_holds(round uuid)
RETURNS TABLE (account bigint, amount bigint, balance bigint, currency text, mode text)
LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT a.id, h.amount, a.balance, a.currency, a.mode
    FROM wallet_hold AS h JOIN wallet_account AS a ON a.id = h.account_id
    WHERE h.round_id = wallet_lock_holds.round ORDER BY a.id FOR UPDATE OF a
$$;
REVOKE ALL ON FUNCTION wallet_lock_holds FROM PUBLIC;

-- Delete all holds of a round that is voided before it is settled, or of a sale.
-- Returns the number of holds.
-- Locks the accounts first, in ascending order of id.
CREATE OR REPLACE FUNCTION wallet_delete_holds(round uuid) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    deleted bigint;
BEGIN
    PERFORM FROM wallet_lock_holds(round);
    DELETE FROM wallet_hold AS h WHERE h.round_id = round;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;
REVOKE ALL ON FUNCTION wallet_delete_holds FROM PUBLIC;

-- Turn the holds of a round into stakes and pay the round, under the rules of wallet_write: a journal
-- of kind held_stake takes every hold into escrow, and one of kind settle returns all of it to players
-- and the house. Each account is updated once.
-- `paid[i]`: minor units paid to `accounts[i]`, stake included; an account that is not named gets
-- nothing. `stake_key`, `settle_key`: idempotency keys of the journals.
-- Returns the balance of each player's account afterwards; no row if nothing is held.
-- Raises SB008 for a negative payout or one to an account without a hold, SB002 if a key was used
-- before. Money and limits were checked when the holds were made, so neither is refused here.
-- Locks the accounts in ascending order of id, then the keys.
--
-- The settings keep the plan on index look-ups for accounts and players whatever the statistics say;
-- joins by hash stay allowed, because nested loops alone can be turned around and become quadratic.
-- Rows of the round are never joined to each other: they carry what belongs to them.
CREATE OR REPLACE FUNCTION wallet_settle_holds(round uuid, stake_key uuid, settle_key uuid, accounts bigint[], paid bigint[])
RETURNS TABLE (account bigint, balance bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
    now_is timestamptz := clock_timestamp();
    lines record;
    stake_id bigint := nextval('wallet_journal_id_seq');
    settle_id bigint := nextval('wallet_journal_id_seq');
BEGIN
    -- One row for each account, in order: what it stakes and what it is paid, with its line in each journal.
    WITH player AS (
        SELECT coalesce(h.account, p.account) AS account, h.amount AS staked, coalesce(p.amount, 0) AS paid, h.currency, h.mode
        FROM wallet_lock_holds(round) AS h
        FULL JOIN unnest(accounts, wallet_settle_holds.paid) AS p (account, amount) ON p.account = h.account
        WHERE h.account IS NOT NULL OR p.amount <> 0
    ), total AS (
        SELECT p.currency, p.mode, sum(p.staked)::bigint AS staked, sum(p.paid)::bigint AS paid
        FROM player AS p GROUP BY p.currency, p.mode
    ), part AS (
        SELECT p.account, -p.staked AS stake, p.paid AS pay, true AS of_player, p.staked IS NULL OR p.paid < 0 AS is_wrong,
            p.currency, p.mode
        FROM player AS p
        UNION ALL
        SELECT h.id, CASE h.kind WHEN 'escrow' THEN t.staked ELSE 0 END,
            CASE h.kind WHEN 'escrow' THEN -t.staked ELSE t.staked - t.paid END, false, false, t.currency, t.mode
        FROM total AS t
        JOIN wallet_account AS h ON h.owner_id IS NULL AND h.kind IN ('escrow', 'house') AND h.currency = t.currency
            AND h.mode = t.mode AND h.subject_id IS NULL
    ), numbered AS (
        SELECT p.*, (count(*) FILTER (WHERE p.stake <> 0) OVER in_order)::integer AS stake_line,
            (count(*) FILTER (WHERE p.pay <> 0) OVER in_order)::integer AS pay_line
        FROM part AS p WINDOW in_order AS (ORDER BY p.account)
    )
    SELECT bool_or(n.is_wrong) AS is_wrong,
        array_agg(n.account) FILTER (WHERE n.of_player) AS accounts, array_agg(n.stake) FILTER (WHERE n.of_player) AS stakes,
        array_agg(n.pay) FILTER (WHERE n.of_player) AS pays, array_agg(n.stake_line) FILTER (WHERE n.of_player) AS stake_lines,
        array_agg(n.pay_line) FILTER (WHERE n.of_player) AS pay_lines,
        array_agg(n.account) FILTER (WHERE NOT n.of_player) AS house, array_agg(n.stake) FILTER (WHERE NOT n.of_player) AS house_stakes,
        array_agg(n.pay) FILTER (WHERE NOT n.of_player) AS house_pays,
        array_agg(n.stake_line) FILTER (WHERE NOT n.of_player) AS house_stake_lines,
        array_agg(n.pay_line) FILTER (WHERE NOT n.of_player) AS house_pay_lines,
        array_agg(n.currency) FILTER (WHERE NOT n.of_player) AS house_currencies,
        array_agg(n.mode) FILTER (WHERE NOT n.of_player) AS house_modes,
        wallet_request_hash('held_stake', round, NULL, (array_agg(n.account) FILTER (WHERE n.stake <> 0))::text,
            (array_agg(n.stake) FILTER (WHERE n.stake <> 0))::text) AS stake_hash,
        wallet_request_hash('settle', round, NULL, (array_agg(n.account) FILTER (WHERE n.pay <> 0))::text,
            (array_agg(n.pay) FILTER (WHERE n.pay <> 0))::text) AS settle_hash
    INTO lines FROM (SELECT * FROM numbered ORDER BY account) AS n;
    IF lines.is_wrong THEN
        RAISE EXCEPTION 'round % pays only those who have staked on it', round USING ERRCODE = 'SB008';
    END IF;
    IF lines.accounts IS NULL THEN
        RETURN;
    END IF;

    PERFORM wallet_begin_writing();
    INSERT INTO wallet_posting_key AS k (key, request_hash, journal_id)
    VALUES (stake_key, lines.stake_hash, stake_id), (settle_key, lines.settle_hash, settle_id) ON CONFLICT DO NOTHING;
    IF (SELECT count(*) FROM wallet_posting_key AS k WHERE k.journal_id IN (stake_id, settle_id) AND k.key IN (stake_key, settle_key)) < 2 THEN
        RAISE EXCEPTION 'a key of round % was used before', round USING ERRCODE = 'SB002';
    END IF;
    INSERT INTO wallet_journal (id, key, request_hash, kind, round_id, at) VALUES
        (stake_id, stake_key, lines.stake_hash, 'held_stake', round, now_is),
        (settle_id, settle_key, lines.settle_hash, 'settle', round, now_is);
    PERFORM wallet_keep_past_hold(h, now_is)
    FROM wallet_hold AS h WHERE h.round_id = round AND h.at < date_trunc('hour', now_is, 'UTC');
    DELETE FROM wallet_hold AS h WHERE h.round_id = round;
    RETURN QUERY
    WITH updated AS (
        UPDATE wallet_account AS a SET balance = a.balance + each.stake + each.pay, held = a.held + each.stake,
            version = a.version + CASE WHEN each.pay > 0 THEN 2 ELSE 1 END
        FROM unnest(lines.accounts, lines.stakes, lines.pays, lines.stake_lines, lines.pay_lines)
            AS each (id, stake, pay, stake_line, pay_line)
        WHERE a.id = each.id
        RETURNING a.id, a.currency, a.mode, a.owner_id, a.balance, a.version, each.stake, each.pay, each.stake_line, each.pay_line
    ), counted AS (
        INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
        SELECT each.owner_id, (now_is AT TIME ZONE z.time_zone)::date, 0, 0, each.staked, each.paid
        FROM (SELECT m.owner_id, -sum(m.stake)::bigint AS staked, sum(m.pay)::bigint AS paid FROM updated AS m
              WHERE m.mode = 'R' AND m.owner_id IS NOT NULL GROUP BY m.owner_id ORDER BY m.owner_id) AS each
        JOIN players_player AS p ON p.id = each.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
        ON CONFLICT (player_id, day) DO UPDATE SET staked = d.staked + excluded.staked, paid = d.paid + excluded.paid
    ), entries AS (
        INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount, balance_after, version)
        SELECT stake_id, m.stake_line, m.id, m.currency, m.mode, m.stake, m.balance - m.pay,
            m.version - CASE WHEN m.pay > 0 THEN 1 ELSE 0 END
        FROM updated AS m
        UNION ALL
        SELECT settle_id, m.pay_line, m.id, m.currency, m.mode, m.pay, m.balance, m.version FROM updated AS m WHERE m.pay > 0
        UNION ALL
        SELECT journal.id, journal.line, h.id, h.currency, h.mode, journal.amount, NULL, NULL
        FROM unnest(lines.house, lines.house_stakes, lines.house_pays, lines.house_stake_lines, lines.house_pay_lines,
                    lines.house_currencies, lines.house_modes)
            AS h (id, stake, pay, stake_line, pay_line, currency, mode)
        CROSS JOIN LATERAL (VALUES (stake_id, h.stake_line, h.stake), (settle_id, h.pay_line, h.pay)) AS journal (id, line, amount)
        WHERE journal.amount <> 0
    )
    SELECT m.id, m.balance FROM updated AS m ORDER BY m.id;
    PERFORM wallet_end_writing();
END $$;
REVOKE ALL ON FUNCTION wallet_settle_holds FROM PUBLIC;
