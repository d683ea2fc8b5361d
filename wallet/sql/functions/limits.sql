-- Daily totals of each player's real money, and the check of deposit, stake and loss limits.

-- Return the kinds of limits that apply to a movement. The loss limit applies to a stake too,
-- because a stake may become a loss.
-- Raises invalid_parameter_value for a movement other than 'stake' and 'deposit'.
CREATE OR REPLACE FUNCTION wallet_limits_on(movement text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    CASE movement
        WHEN 'stake' THEN RETURN '{stake,loss}';
        WHEN 'deposit' THEN RETURN '{deposit}';
        ELSE RAISE EXCEPTION 'no limits are known on %', movement USING ERRCODE = 'invalid_parameter_value';
    END CASE;
END $$;

-- Return what counts against a limit of this kind, in minor units, from the start of the period to
-- `day`.
-- A loss is stakes minus payouts. Money on hold counts as staked today, and pending deposits count
-- as deposited today. Only cash and purse accounts have holds; a bank at Chemin de Fer has none.
-- Raises invalid_parameter_value for a kind that does not limit money.
CREATE OR REPLACE FUNCTION wallet_used(player bigint, kind text, period text, day date) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    since date := date_trunc(period, day::timestamp)::date;
BEGIN
    CASE kind
        WHEN 'deposit' THEN
            RETURN (SELECT coalesce(sum(d.deposited), 0) FROM wallet_day AS d
                    WHERE d.player_id = player AND d.day BETWEEN since AND wallet_used.day)
                 + (SELECT coalesce(sum(r.amount), 0) FROM wallet_reserved AS r
                    WHERE r.player_id = player AND r.ended_at IS NULL);
        WHEN 'stake', 'loss' THEN
            RETURN (SELECT coalesce(sum(CASE kind WHEN 'stake' THEN d.staked ELSE d.staked - d.paid END), 0)
                    FROM wallet_day AS d WHERE d.player_id = player AND d.day BETWEEN since AND wallet_used.day)
                 + (SELECT coalesce(sum(a.held), 0) FROM wallet_account AS a
                    WHERE a.owner_id = player AND a.mode = 'R' AND a.kind IN ('cash', 'purse'));
        ELSE
            RAISE EXCEPTION '% is no limit on money', coalesce(kind, 'NULL') USING ERRCODE = 'invalid_parameter_value';
    END CASE;
END $$;

-- Return today's date in the time zone of the player's jurisdiction; NULL for an unknown player.
CREATE OR REPLACE FUNCTION wallet_today(player bigint) RETURNS date
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT (clock_timestamp() AT TIME ZONE j.time_zone)::date
    FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id WHERE p.id = player
$$;

-- Return the limit that leaves least for a movement ('stake' or 'deposit') as the detail of SB006;
-- NULL if the player has none.
-- VOLATILE, so that it sees what was committed while the calling statement waited for a lock.
CREATE OR REPLACE FUNCTION wallet_room(player bigint, movement text) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    day date := wallet_today(player);
    kinds text[] := wallet_limits_on(movement);
BEGIN
    RETURN (SELECT concat_ws('|', l.kind, l.period, l.amount, greatest(l.amount - u.used, 0), p.currency)
            FROM players_limits_of(player) AS l CROSS JOIN wallet_used(player, l.kind, l.period, day) AS u (used)
            CROSS JOIN players_player AS p
            WHERE l.kind = ANY (kinds) AND p.id = player ORDER BY l.amount - u.used, l.kind, l.period LIMIT 1);
END $$;

-- Raise SB006 if `added` minor units exceed a limit on the movement ('stake' or 'deposit'). They
-- are already counted in wallet_day. The error detail has what was left before them.
CREATE OR REPLACE FUNCTION wallet_refuse_beyond(player bigint, day date, movement text, added bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    kinds text[] := wallet_limits_on(movement);
    passed record;
BEGIN
    IF NOT EXISTS (SELECT FROM players_limits_kinds(player) AS l WHERE l.kind = ANY (kinds)) THEN
        RETURN;
    END IF;
    SELECT l.kind, l.period, l.amount, l.amount - u.used AS room INTO passed
    FROM players_limits_of(player) AS l CROSS JOIN wallet_used(player, l.kind, l.period, day) AS u (used)
    WHERE l.kind = ANY (kinds) ORDER BY room, l.kind, l.period LIMIT 1;
    IF passed.room < 0 THEN
        RAISE EXCEPTION 'a limit of player % is reached', player USING ERRCODE = 'SB006', DETAIL = concat_ws(
            '|', passed.kind, passed.period, passed.amount, greatest(passed.room + added, 0),
            (SELECT p.currency FROM players_player AS p WHERE p.id = player));
    END IF;
END $$;

-- Return the time at which a journal's movement of `amount` on a player's account counts against
-- limits. It is the journal's own time, with two exceptions:
-- - A returned stake, and the part of a bank that returns without having been lost, count on the day
--   of the stake.
-- - What a banker must return because a coup was voided counts when the bank last had an entry. On a later
--   day it would make room under that day's limits.
CREATE OR REPLACE FUNCTION wallet_counts_at(journal bigint, kind text, round uuid, at timestamptz, account bigint, amount bigint) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF kind = 'bank_back' OR kind = 'stake' AND amount > 0 THEN
        RETURN coalesce((
            SELECT min(j.at) FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
            WHERE j.round_id = round AND j.kind = CASE wallet_counts_at.kind WHEN 'stake' THEN 'stake' ELSE 'bank' END
              AND e.account_id = account AND e.amount < 0), at);
    ELSIF kind = 'void_transfer' THEN
        RETURN coalesce((
            SELECT max(j.at) FROM wallet_entry AS e
            JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'bank'
            JOIN wallet_journal AS j ON j.round_id = a.subject_id WHERE e.journal_id = journal), at);
    END IF;
    RETURN at;
END $$;

-- Add a real-money line to the daily total of its player, and check limits.
-- `journal`, `kind`, `key`, `round`, `reverses`, `at`: of the journal, which is written. `player`,
-- `account`, `amount`: of the line, in minor units.
-- Raises SB006 if a stake, a bank, a studio stake or a deposit passes a limit. Nothing else is
-- refused. A deposit with a reservation was compared with the limits by wallet_credit_deposit. One that
-- was held and is credited after all takes new room.
-- Locks the limits of the player if they are checked. The accounts are locked already: accounts
-- always come before limits.
--
-- A bank counts as staked when it is posted. Its unlost part is subtracted when it returns, and its
-- winnings count as paid. A studio's stakes and wins count like stakes and payouts. A reversal
-- counts with the opposite sign, as the kind and on the day of the journal that it reverses.
-- wallet_write counts journals in order, so a stake comes before the payout of its round.
-- wallet_due_days computes the same totals again.
CREATE OR REPLACE FUNCTION wallet_count(
    journal bigint, kind text, key uuid, round uuid, reverses bigint, at timestamptz, player bigint, account bigint, amount bigint
) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    was wallet_journal;
    forward bigint := amount;  -- the amount with the sign of the journal that is counted
    checks text;  -- the movement whose limits are checked
    on_day date;
BEGIN
    IF reverses IS NOT NULL THEN
        SELECT j.* INTO was FROM wallet_journal AS j WHERE j.id = reverses;
        kind := was.kind;
        journal := was.id;
        round := was.round_id;
        at := was.at;
        forward := -amount;
    ELSIF kind IN ('stake', 'bank', 'studio_stake') AND amount < 0 THEN
        checks := 'stake';
    ELSIF kind IN ('deposit', 'deposit_released') AND amount > 0 THEN
        checks := 'deposit';
    END IF;
    IF kind = 'deposit_released' AND amount < 0 THEN
        RETURN;
    END IF;
    IF kind NOT IN ('deposit', 'deposit_released', 'withdraw_paid', 'stake', 'held_stake', 'settle', 'bank', 'bank_back', 'bank_won',
                    'studio_stake', 'studio_win', 'void_transfer') THEN
        RETURN;
    END IF;
    IF kind = 'void_transfer' THEN
        PERFORM FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
        WHERE e.journal_id = journal AND a.kind = 'bank';
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    IF checks IS NOT NULL THEN
        PERFORM players_lock_limits(player);
    END IF;
    IF kind IN ('bank_back', 'void_transfer') OR kind = 'stake' AND forward > 0 THEN
        at := wallet_counts_at(journal, kind, round, at, account, forward);
    END IF;
    INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
    SELECT player, (at AT TIME ZONE j.time_zone)::date, CASE WHEN kind IN ('deposit', 'deposit_released') THEN amount ELSE 0 END,
           CASE kind WHEN 'withdraw_paid' THEN -amount ELSE 0 END,
           CASE WHEN kind IN ('stake', 'held_stake', 'bank', 'bank_back', 'studio_stake') THEN -amount ELSE 0 END,
           CASE WHEN kind IN ('settle', 'bank_won', 'void_transfer', 'studio_win') THEN amount ELSE 0 END
    FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id WHERE p.id = player
    ON CONFLICT (player_id, day) DO UPDATE SET
        deposited = d.deposited + excluded.deposited, withdrawn = d.withdrawn + excluded.withdrawn,
        staked = d.staked + excluded.staked, paid = d.paid + excluded.paid
    RETURNING d.day INTO on_day;
    IF checks = 'deposit' THEN
        UPDATE wallet_reserved AS r SET ended_at = coalesce(r.ended_at, clock_timestamp())
        WHERE r.key = wallet_count.key AND r.player_id = player AND r.amount >= wallet_count.amount;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;
    IF checks IS NOT NULL THEN
        PERFORM wallet_refuse_beyond(player, on_day, checks, abs(amount));
    END IF;
END $$;
REVOKE ALL ON FUNCTION wallet_count FROM PUBLIC;

-- Return what journals add to the daily totals of players, computed from the ledger: over all journals,
-- the same as what wallet_count stores.
-- `low`, `high`: ids of the journals, from `low` to below `high`. wallet_counts_at is asked where it may
-- return another time than the journal's own.
-- Returns one row per player and day; amounts in minor units. The day is in the time zone of the
-- player's jurisdiction. A reversal counts on the day of the journal that it reverses, with the
-- opposite sign.
CREATE OR REPLACE FUNCTION wallet_due_days(low bigint, high bigint)
RETURNS TABLE (player_id bigint, day date, deposited bigint, withdrawn bigint, staked bigint, paid bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    WITH line AS (
        SELECT a.owner_id AS player_id, e.amount, counted.kind, (
                   CASE WHEN counted.kind IN ('bank_back', 'void_transfer') OR counted.kind = 'stake' AND forward.amount > 0
                        THEN wallet_counts_at(counted.id, counted.kind, counted.round_id, counted.at, a.id, forward.amount)
                        ELSE counted.at END
                   AT TIME ZONE z.time_zone)::date AS day
        FROM wallet_entry AS e
        JOIN wallet_account AS a ON a.id = e.account_id AND a.subject_id IS NULL
        JOIN wallet_journal AS j ON j.id = e.journal_id
        LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
        CROSS JOIN LATERAL (
            SELECT coalesce(was.id, j.id), CASE WHEN was.id IS NULL THEN j.kind ELSE was.kind END,
                   CASE WHEN was.id IS NULL THEN j.round_id ELSE was.round_id END, coalesce(was.at, j.at)
        ) AS counted (id, kind, round_id, at)
        CROSS JOIN LATERAL (SELECT CASE WHEN was.id IS NULL THEN e.amount ELSE -e.amount END) AS forward (amount)
        JOIN players_player AS p ON p.id = a.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
        WHERE e.mode = 'R' AND e.journal_id >= low AND e.journal_id < high AND j.id >= low AND j.id < high
          AND (counted.kind <> 'void_transfer' OR EXISTS (
            SELECT FROM wallet_entry AS o JOIN wallet_account AS b ON b.id = o.account_id
            WHERE o.journal_id = j.id AND b.kind = 'bank'))
    )
    SELECT player_id, day, coalesce(sum(amount) FILTER (WHERE kind = 'deposit' OR kind = 'deposit_released' AND amount > 0), 0)::bigint,
           coalesce(-sum(amount) FILTER (WHERE kind = 'withdraw_paid'), 0)::bigint,
           coalesce(-sum(amount) FILTER (WHERE kind IN ('stake', 'held_stake', 'bank', 'bank_back', 'studio_stake')), 0)::bigint,
           coalesce(sum(amount) FILTER (WHERE kind IN ('settle', 'bank_won', 'void_transfer', 'studio_win')), 0)::bigint
    FROM line
    WHERE kind IN ('deposit', 'deposit_released', 'withdraw_paid', 'stake', 'held_stake', 'settle', 'bank', 'bank_back', 'bank_won', 'void_transfer', 'studio_stake',
                   'studio_win')
    GROUP BY player_id, day
$$;

-- Reserve room under the player's deposit limits for a deposit that begins.
-- `key`: idempotency key of the deposit's future journal; the same key again does nothing.
-- `amount`: minor units.
-- Raises SB006, and SB145 if the player has neither set nor declined the deposit limits that the
-- jurisdiction asks for before the first deposit; detail: the reason, as for SB086.
-- Locks the player's real cash account, then the limits.
-- When the money arrives it is compared with the limits of that moment (wallet_credit_deposit).
CREATE OR REPLACE FUNCTION wallet_reserve(key uuid, player bigint, amount bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    missing text;
BEGIN
    PERFORM FROM wallet_account WHERE owner_id = player AND kind = 'cash' AND mode = 'R' FOR UPDATE;
    PERFORM players_lock_limits(player);
    INSERT INTO wallet_reserved (key, player_id, amount, at) VALUES (key, player, amount, clock_timestamp())
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        missing := (SELECT due.reason FROM players_limits_due(player) AS due);
        IF missing IS NOT NULL THEN
            RAISE EXCEPTION 'player % was not asked for limits', player USING ERRCODE = 'SB145', DETAIL = missing;
        END IF;
        PERFORM wallet_refuse_beyond(player, wallet_today(player), 'deposit', amount);
    END IF;
END $$;
REVOKE ALL ON FUNCTION wallet_reserve FROM PUBLIC;

-- End the reservation of a deposit of which the provider says that nothing will come. Does nothing if it has
-- ended or does not exist.
-- If the provider still authorises the deposit later, it is held and not credited.
CREATE OR REPLACE FUNCTION wallet_release(key uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE wallet_reserved SET ended_at = clock_timestamp()
    WHERE wallet_reserved.key = wallet_release.key AND ended_at IS NULL
$$;
REVOKE ALL ON FUNCTION wallet_release FROM PUBLIC;
