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
-- `accounts`: those with a hold for the round, in ascending order of id. `paid[i]`: minor units paid to
-- `accounts[i]`, stake included. `stake_key`, `settle_key`: idempotency keys of the journals.
-- Returns the balance of each player's account afterwards; no row if nothing is held.
-- Raises SB008 for a negative payout, or if other accounts have holds than those named; SB002 if a key was used
-- before. Money and limits were checked when the holds were made, so neither is refused here.
-- Locks the accounts in ascending order of id, then the keys, then the days of the players in
-- ascending order of id.
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
    -- The lines of players come first in each journal, in order of their accounts; those of the house follow.
    WITH player AS MATERIALIZED (
        SELECT h.account, h.staked, h.currency, h.mode, h.pay, (h.account = h.named AND h.pay >= 0) IS NOT TRUE AS is_wrong
        FROM ROWS FROM (wallet_lock_holds(round), unnest(accounts, paid))
            AS h (account, staked, balance, currency, mode, named, pay)
    ), together AS (
        SELECT bool_or(p.is_wrong) AS is_wrong, array_agg(p.account) AS accounts, array_agg(-p.staked) AS stakes,
            array_agg(p.pay) AS pays, array_agg(p.account) FILTER (WHERE p.pay > 0) AS winners,
            array_agg(p.pay) FILTER (WHERE p.pay > 0) AS wins
        FROM player AS p
    ), house AS (
        SELECT array_agg(m.id ORDER BY m.id) AS house, array_agg(m.stake ORDER BY m.id) AS house_stakes,
            array_agg(m.pay ORDER BY m.id) AS house_pays, array_agg(m.currency ORDER BY m.id) AS house_currencies,
            array_agg(m.mode ORDER BY m.id) AS house_modes,
            array_agg(m.id ORDER BY m.id) FILTER (WHERE m.stake <> 0) AS stake_house,
            array_agg(m.stake ORDER BY m.id) FILTER (WHERE m.stake <> 0) AS to_house,
            array_agg(m.id ORDER BY m.id) FILTER (WHERE m.pay <> 0) AS settle_house,
            array_agg(m.pay ORDER BY m.id) FILTER (WHERE m.pay <> 0) AS of_house
        FROM (
            SELECT h.id, t.currency, t.mode, CASE h.kind WHEN 'escrow' THEN t.staked ELSE 0 END AS stake,
                CASE h.kind WHEN 'escrow' THEN -t.staked ELSE t.staked - t.paid END AS pay
            FROM (SELECT p.currency, p.mode, sum(p.staked)::bigint AS staked, sum(p.pay)::bigint AS paid
                  FROM player AS p GROUP BY p.currency, p.mode) AS t
            JOIN wallet_account AS h ON h.owner_id IS NULL AND h.kind IN ('escrow', 'house') AND h.currency = t.currency
                AND h.mode = t.mode AND h.subject_id IS NULL
        ) AS m
    )
    SELECT together.*, house.*,
        wallet_request_hash('held_stake', round, NULL, (together.accounts || house.stake_house)::text,
            (together.stakes || house.to_house)::text) AS stake_hash,
        wallet_request_hash('settle', round, NULL, (together.winners || house.settle_house)::text,
            (together.wins || house.of_house)::text) AS settle_hash
    INTO lines FROM together, house;
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
    -- Most players have staked before today, and to update their day costs half of an insert that finds it. But if one has not,
    -- all are inserted: first those that are there and then the others would be no order.
    RETURN QUERY
    WITH updated AS (
        UPDATE wallet_account AS a SET balance = a.balance + each.stake + each.pay, held = a.held + each.stake,
            version = a.version + CASE WHEN each.pay > 0 THEN 2 ELSE 1 END
        FROM unnest(lines.accounts, lines.stakes, lines.pays) WITH ORDINALITY AS each (id, stake, pay, line)
        WHERE a.id = each.id
        RETURNING a.id, a.currency, a.mode, a.owner_id, a.balance, a.version, each.stake, each.pay, each.line
    ), played AS MATERIALIZED (
        SELECT each.owner_id, here.day, each.staked, each.paid, bool_and((
            SELECT count(*) = 1 FROM wallet_day AS k WHERE k.player_id = each.owner_id AND k.day = here.day)) OVER () AS are_there
        FROM (SELECT m.owner_id, -sum(m.stake)::bigint AS staked, sum(m.pay)::bigint AS paid FROM updated AS m
              WHERE m.mode = 'R' AND m.owner_id IS NOT NULL GROUP BY m.owner_id) AS each
        JOIN players_player AS p ON p.id = each.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
        CROSS JOIN LATERAL (SELECT (now_is AT TIME ZONE z.time_zone)::date AS day) AS here
        ORDER BY each.owner_id
    ), counted AS (
        UPDATE wallet_day AS d SET staked = d.staked + each.staked, paid = d.paid + each.paid
        FROM played AS each WHERE d.player_id = each.owner_id AND d.day = each.day AND each.are_there RETURNING d.player_id
    ), begun AS (
        INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
        SELECT each.owner_id, each.day, 0, 0, each.staked, each.paid FROM played AS each
        WHERE each.owner_id NOT IN (SELECT c.player_id FROM counted AS c)
        ON CONFLICT (player_id, day) DO UPDATE SET staked = d.staked + excluded.staked, paid = d.paid + excluded.paid
    ), entries AS (
        INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount, balance_after, version)
        SELECT stake_id, m.line, m.id, m.currency, m.mode, m.stake, m.balance - m.pay,
            m.version - CASE WHEN m.pay > 0 THEN 1 ELSE 0 END
        FROM updated AS m
        UNION ALL
        SELECT settle_id, row_number() OVER (ORDER BY m.line), m.id, m.currency, m.mode, m.pay, m.balance, m.version
        FROM updated AS m WHERE m.pay > 0
        UNION ALL
        SELECT stake_id, cardinality(lines.accounts) + row_number() OVER (ORDER BY h.id), h.id, h.currency, h.mode, h.stake, NULL, NULL
        FROM unnest(lines.house, lines.house_stakes, lines.house_currencies, lines.house_modes) AS h (id, stake, currency, mode)
        WHERE h.stake <> 0
        UNION ALL
        SELECT settle_id, coalesce(cardinality(lines.winners), 0) + row_number() OVER (ORDER BY h.id), h.id, h.currency, h.mode,
            h.pay, NULL, NULL
        FROM unnest(lines.house, lines.house_pays, lines.house_currencies, lines.house_modes) AS h (id, pay, currency, mode)
        WHERE h.pay <> 0
    )
    SELECT m.id, m.balance FROM updated AS m ORDER BY m.id;
    PERFORM wallet_end_writing();
END $$;
REVOKE ALL ON FUNCTION wallet_settle_holds FROM PUBLIC;
