-- What a player's real money did on each day, counted in the statement that moves it, and the limits held to it there.
--   SB006 a limit of the player is reached; the detail is kind|period|limit|left|currency


-- What has moved so far ---------------------------------------------------------------------------------------------

INSERT INTO wallet_day (player_id, day, deposited, withdrawn, staked, paid)
SELECT a.owner_id, (coalesce(was.at, j.at) AT TIME ZONE z.time_zone)::date,
       coalesce(sum(e.amount) FILTER (WHERE coalesce(was.kind, j.kind) = 'deposit'), 0),
       coalesce(-sum(e.amount) FILTER (WHERE coalesce(was.kind, j.kind) = 'withdraw_paid'), 0),
       coalesce(-sum(e.amount) FILTER (WHERE coalesce(was.kind, j.kind) = 'stake'), 0),
       coalesce(sum(e.amount) FILTER (WHERE coalesce(was.kind, j.kind) = 'settle'), 0)
FROM wallet_entry AS e
JOIN wallet_account AS a ON a.id = e.account_id JOIN wallet_journal AS j ON j.id = e.journal_id
LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
JOIN players_player AS p ON p.id = a.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
WHERE e.mode = 'R' AND coalesce(was.kind, j.kind) IN ('deposit', 'withdraw_paid', 'stake', 'settle')
GROUP BY 1, 2;


-- Rooms under limits ------------------------------------------------------------------------------------------------

-- What counts against a limit of this kind on *day* and before it in its period. A loss is what was staked less what was
-- paid. What is held counts as staked today, and deposits that are begun as authorised today.
CREATE FUNCTION wallet_used(player bigint, kind text, period text, day date) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT (CASE kind
            WHEN 'deposit' THEN coalesce(sum(d.deposited), 0) + (
                SELECT coalesce(sum(r.amount), 0) FROM wallet_reserved AS r
                WHERE r.player_id = player AND r.ended_at IS NULL)
            ELSE coalesce(sum(CASE kind WHEN 'stake' THEN d.staked ELSE d.staked - d.paid END), 0) + (
                SELECT coalesce(sum(a.held), 0) FROM wallet_account AS a WHERE a.owner_id = player AND a.mode = 'R')
            END)::bigint
    FROM wallet_day AS d
    WHERE d.player_id = player
      AND d.day BETWEEN date_trunc(period, wallet_used.day::timestamp)::date AND wallet_used.day
$$;

CREATE FUNCTION wallet_today(player bigint) RETURNS date
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT (clock_timestamp() AT TIME ZONE j.time_zone)::date
    FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id WHERE p.id = player
$$;

-- The limit that leaves least for a stake or a deposit, as in the detail of SB006; NULL where there is none. Volatile, so
-- that it sees what was committed while the statement that asks waited for a lock.
CREATE FUNCTION wallet_room(player bigint, kinds text[]) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    day date := wallet_today(player);
BEGIN
    RETURN (SELECT concat_ws('|', l.kind, l.period, l.amount, greatest(l.amount - u.used, 0), p.currency)
            FROM players_limits_of(player) AS l CROSS JOIN wallet_used(player, l.kind, l.period, day) AS u (used)
            CROSS JOIN players_player AS p
            WHERE l.kind = ANY (kinds) AND p.id = player ORDER BY l.amount - u.used, l.kind, l.period LIMIT 1);
END $$;

-- Refuses when any of these limits is passed by *added*, which has been counted already: a stake is held to the loss that
-- it may become.
CREATE FUNCTION wallet_refuse_beyond(player bigint, day date, kinds text[], added bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
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


-- Counted where it moves --------------------------------------------------------------------------------------------

-- A line counts on the day of its journal's clock; where it reverses another's, on that one's day. Stakes that were not
-- held before, and deposits that had not been begun, are held to the limits; nothing else is ever refused here.
-- It happens after all lines of the statement have moved their accounts, in the order of the lines: accounts are locked
-- before limits, always, and a stake is counted before the payout of its own round.
CREATE FUNCTION wallet_count_day() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    journal record;
    theirs record;
    was_begun boolean := false;
BEGIN
    SELECT coalesce(was.kind, j.kind) AS kind, coalesce(was.at, j.at) AS at, j.key INTO journal
    FROM wallet_journal AS j LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
    WHERE j.id = NEW.journal_id;
    IF (journal.kind IN ('deposit', 'withdraw_paid', 'stake', 'held_stake', 'settle')) IS NOT TRUE THEN
        RETURN NULL;  -- nothing that counts; or a line without its journal, which wallet_check_sums refuses
    END IF;
    SELECT a.owner_id AS player, (journal.at AT TIME ZONE z.time_zone)::date AS day INTO theirs
    FROM wallet_account AS a JOIN players_player AS p ON p.id = a.owner_id
    JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id WHERE a.id = NEW.account_id;
    PERFORM players_lock_limits(theirs.player);
    IF journal.kind = 'deposit' THEN
        UPDATE wallet_reserved AS r SET ended_at = coalesce(r.ended_at, clock_timestamp())
        WHERE r.key = journal.key AND r.player_id = theirs.player AND r.amount >= NEW.amount;
        was_begun := FOUND;
    END IF;
    INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
    VALUES (theirs.player, theirs.day,
            CASE journal.kind WHEN 'deposit' THEN NEW.amount ELSE 0 END,
            CASE journal.kind WHEN 'withdraw_paid' THEN -NEW.amount ELSE 0 END,
            CASE WHEN journal.kind IN ('stake', 'held_stake') THEN -NEW.amount ELSE 0 END,
            CASE journal.kind WHEN 'settle' THEN NEW.amount ELSE 0 END)
    ON CONFLICT (player_id, day) DO UPDATE SET
        deposited = d.deposited + excluded.deposited, withdrawn = d.withdrawn + excluded.withdrawn,
        staked = d.staked + excluded.staked, paid = d.paid + excluded.paid;
    IF journal.kind = 'stake' AND NEW.amount < 0 THEN
        PERFORM wallet_refuse_beyond(theirs.player, theirs.day, '{stake,loss}', -NEW.amount);
    ELSIF journal.kind = 'deposit' AND NEW.amount > 0 AND NOT was_begun THEN
        PERFORM wallet_refuse_beyond(theirs.player, theirs.day, '{deposit}', NEW.amount);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER wallet_entry_counts AFTER INSERT ON wallet_entry
    FOR EACH ROW WHEN (NEW.mode = 'R' AND NEW.balance_after IS NOT NULL) EXECUTE FUNCTION wallet_count_day();

-- Depth 0 is a statement somebody typed.
CREATE TRIGGER wallet_day_is_counted BEFORE INSERT OR UPDATE ON wallet_day
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_day_is_kept BEFORE DELETE OR TRUNCATE ON wallet_day
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- Counts are updated in place where their page has room.
ALTER TABLE wallet_day SET (fillfactor = 70);


-- Deposits that are begun -------------------------------------------------------------------------------------------

-- Takes room under the deposit limits for a deposit that begins, under the key that its journal will be posted with:
-- that journal is not refused then, whatever limits are set meanwhile, since the money has left the bank. The same key
-- again does nothing.
CREATE FUNCTION wallet_reserve(key uuid, player bigint, amount bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM wallet_account WHERE owner_id = player AND kind = 'cash' AND mode = 'R' FOR UPDATE;
    PERFORM players_lock_limits(player);
    INSERT INTO wallet_reserved (key, player_id, amount, at) VALUES (key, player, amount, clock_timestamp())
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM wallet_refuse_beyond(player, wallet_today(player), '{deposit}', amount);
    END IF;
END $$;

-- Gives the room back: the deposit was refused or given up. Were it authorised after all, it would still be credited.
CREATE FUNCTION wallet_release(key uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE wallet_reserved SET ended_at = clock_timestamp()
    WHERE wallet_reserved.key = wallet_release.key AND ended_at IS NULL
$$;

CREATE TRIGGER wallet_reserved_is_kept BEFORE DELETE OR TRUNCATE ON wallet_reserved
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_reserved_identity BEFORE UPDATE OF key, player_id, amount, at ON wallet_reserved
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

REVOKE ALL ON FUNCTION wallet_reserve, wallet_release FROM PUBLIC;
