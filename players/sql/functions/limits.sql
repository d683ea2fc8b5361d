-- Limits on deposits, losses, stakes and time, set by players and by the house. Rows are added and
-- never changed. The newest row of a source, kind and period has both the limit before the change
-- and the limit after `effective_at`. So a new row withdraws a pending change.
--
-- Amounts are minor units of the player's currency, or seconds for time limits.

-- Refuse the statement. Trigger function for players_limitchange and players_limitoffer, whose rows
-- never change.
-- Raises restrict_violation (23001), always.
CREATE OR REPLACE FUNCTION players_refuse_limit_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Lock a player's limits until the transaction ends, so that counting against them and changing
-- them happen one after the other. Callers lock accounts first.
CREATE OR REPLACE FUNCTION players_lock_limits(player bigint) RETURNS void
LANGUAGE sql VOLATILE AS $$ SELECT pg_advisory_xact_lock(hashint8extended(player, 2_005_005)) $$;

-- Return the start of the calendar period that contains a moment.
-- `period`: day, week or month. `time_zone`: name of the time zone. Days begin at midnight, weeks
-- on Monday.
CREATE OR REPLACE FUNCTION players_period_start(period text, at timestamptz, time_zone text) RETURNS timestamptz
LANGUAGE sql STABLE AS $$ SELECT date_trunc(period, at AT TIME ZONE time_zone) AT TIME ZONE time_zone $$;

-- Return the end of the calendar period that contains a moment, which is the start of the next one.
-- Arguments as for players_period_start.
CREATE OR REPLACE FUNCTION players_period_end(period text, at timestamptz, time_zone text) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT (date_trunc(period, at AT TIME ZONE time_zone) + ('1 ' || period)::interval) AT TIME ZONE time_zone
$$;

-- Return the limits of a player that apply now, by source.
-- Returns rows with source ('player', 'house' or 'law'), kind, period and amount.
-- No search path is set here and in the next two functions, so that PostgreSQL inlines them into
-- the calling query, which has one.
CREATE OR REPLACE FUNCTION players_limits_by_source(player bigint)
RETURNS TABLE (source text, kind text, period text, amount bigint)
LANGUAGE sql STABLE AS $$
    SELECT newest.source, newest.kind, newest.period, newest.holds
    FROM (SELECT DISTINCT ON (c.source, c.kind, c.period) c.source, c.kind, c.period,
                 CASE WHEN c.effective_at <= clock_timestamp() AND NOT c.needs_confirmation THEN c.amount ELSE c.before END AS holds
          FROM public.players_limitchange AS c WHERE c.player_id = player
          ORDER BY c.source, c.kind, c.period, c.id DESC) AS newest
    WHERE newest.holds IS NOT NULL
    UNION ALL
    SELECT 'law', 'deposit', 'month', j.highest_month_deposit
    FROM public.players_player AS p JOIN public.players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE p.id = player AND j.highest_month_deposit IS NOT NULL
$$;

-- Return the kinds of limits that a player may have. A kind can appear more than once, or after its
-- limit was removed, but none is missing.
-- Callers ask this first: collecting the limits takes five times as long, and most players have
-- only deposit limits.
CREATE OR REPLACE FUNCTION players_limits_kinds(player bigint) RETURNS TABLE (kind text)
LANGUAGE sql STABLE AS $$
    SELECT c.kind FROM public.players_limitchange AS c WHERE c.player_id = player
    UNION ALL SELECT 'deposit'  -- limits set by law
$$;

-- Return the limits of a player that apply now: the strictest of each kind and period (GLI-19 v3.0,
-- 2.5.5).
-- Returns rows with kind, period and amount.
CREATE OR REPLACE FUNCTION players_limits_of(player bigint) RETURNS TABLE (kind text, period text, amount bigint)
LANGUAGE sql STABLE AS $$
    SELECT l.kind, l.period, min(l.amount) FROM public.players_limits_by_source(player) AS l GROUP BY l.kind, l.period
$$;

-- Return what a player must do about deposit limits before playing, in one row: 'limits' if the
-- jurisdiction requires them and at least one is missing; 'offer' if it demands that they are offered,
-- and the player has neither set one nor answered an offer; otherwise NULL.
-- A function in FROM, so that PostgreSQL inlines it.
CREATE OR REPLACE FUNCTION players_limits_due(player bigint) RETURNS TABLE (reason text)
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN j.deposit_limits <> 'required' THEN
            CASE WHEN NOT EXISTS (SELECT FROM public.players_limitoffer AS o WHERE o.player_id = player)
                AND NOT EXISTS (SELECT FROM public.players_limitchange AS c
                                WHERE c.player_id = player AND c.source = 'player' AND c.kind = 'deposit')
                THEN 'offer' END
        WHEN EXISTS (SELECT FROM jsonb_array_elements_text(j.deposit_periods) AS asked (period)
                     WHERE (SELECT CASE WHEN c.effective_at <= clock_timestamp() AND NOT c.needs_confirmation THEN c.amount ELSE c.before END
                            FROM public.players_limitchange AS c
                            WHERE c.player_id = player AND c.source = 'player' AND c.kind = 'deposit' AND c.period = asked.period
                            ORDER BY c.id DESC LIMIT 1) IS NULL)  -- as players_limits_by_source, which starts for longer
            THEN 'limits' END
    FROM public.players_player AS p JOIN public.players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE p.id = player
$$;

-- Store that a player has answered the offer of deposit limits.
-- Returns whether it is the first answer.
CREATE OR REPLACE FUNCTION players_answer_limit_offer(player bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO players_limitoffer (player_id, answered_at) VALUES (player, clock_timestamp()) ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION players_answer_limit_offer FROM PUBLIC;

-- Set, change or remove a limit.
-- `source`: player or house. `kind`: deposit, loss, stake or time. `period`: day, week or month.
-- `amount`: minor units or seconds; NULL removes the limit. `asked_by`: as in the event log.
-- Returns the new row, or none if the newest row already has this amount.
-- Raises no_data_found (P0002) for an unknown player, check_violation (23514) for other values.
-- Locks the player's limits.
--
-- A stricter limit applies at once. A looser limit of the player waits for the hours that the
-- jurisdiction sets and, if it demands that, until the current period ends, and then for the player's
-- confirmation if it demands one (players_confirm_limit). The house loosens its
-- own limits at once. A pending change is withdrawn, so a player withdraws it by requesting the
-- limit that applies now.
CREATE OR REPLACE FUNCTION players_change_limit(
    player bigint, source text, kind text, period text, amount bigint, asked_by text, reason text
) RETURNS SETOF players_limitchange
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    now_is timestamptz;
    newest players_limitchange;
    holds bigint;
    waits boolean;
    is_looser boolean;
    law record;
BEGIN
    PERFORM players_lock_limits(player);
    now_is := clock_timestamp();
    SELECT c.* INTO newest FROM players_limitchange AS c
    WHERE c.player_id = player AND c.source = players_change_limit.source AND c.kind = players_change_limit.kind
      AND c.period = players_change_limit.period
    ORDER BY c.id DESC LIMIT 1;
    waits := coalesce(newest.effective_at > now_is OR newest.needs_confirmation, false);
    holds := CASE WHEN waits THEN newest.before ELSE newest.amount END;
    IF amount IS NOT DISTINCT FROM newest.amount THEN
        RETURN;
    END IF;
    is_looser := source = 'player' AND holds IS NOT NULL AND (amount IS NULL OR amount > holds);
    SELECT j.time_zone, j.raise_after_hours, j.raise_after_period, j.raise_confirmed INTO STRICT law
    FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id WHERE p.id = player;
    RETURN QUERY
    INSERT INTO players_limitchange AS c
        (player_id, source, kind, period, before, amount, asked_at, effective_at, asked_by, reason, needs_confirmation)
    VALUES (
        player, source, kind, period, holds, amount, now_is,
        CASE WHEN is_looser THEN
            greatest(now_is + law.raise_after_hours * interval '1 hour',
                     CASE WHEN law.raise_after_period THEN players_period_end(period, now_is, law.time_zone) END)
        ELSE now_is END,
        asked_by, reason, is_looser AND law.raise_confirmed)
    RETURNING c.*;
END $$;
REVOKE ALL ON FUNCTION players_change_limit FROM PUBLIC;

-- Let a looser limit of the player take effect now, whose wait is over and that only waits for the
-- player's confirmation.
-- Returns the new row, or none if there is no such change.
-- Locks the player's limits.
CREATE OR REPLACE FUNCTION players_confirm_limit(player bigint, kind text, period text, asked_by text) RETURNS SETOF players_limitchange
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    now_is timestamptz;
BEGIN
    PERFORM players_lock_limits(player);
    now_is := clock_timestamp();
    RETURN QUERY
    INSERT INTO players_limitchange AS c (player_id, source, kind, period, before, amount, asked_at, effective_at, asked_by, reason)
    SELECT newest.player_id, newest.source, newest.kind, newest.period, newest.before, newest.amount, now_is, now_is,
           players_confirm_limit.asked_by, ''
    FROM (SELECT l.* FROM players_limitchange AS l
          WHERE l.player_id = player AND l.source = 'player' AND l.kind = players_confirm_limit.kind
            AND l.period = players_confirm_limit.period ORDER BY l.id DESC LIMIT 1) AS newest
    WHERE newest.needs_confirmation AND newest.effective_at <= now_is
    RETURNING c.*;
END $$;
REVOKE ALL ON FUNCTION players_confirm_limit FROM PUBLIC;

-- Return when a player is to be reminded of the limits: the days of the jurisdiction after the last
-- reminder or, before the first, after the account was opened. A day is 24 hours.
-- Returns NULL where the jurisdiction demands no reminders.
CREATE OR REPLACE FUNCTION players_limit_reminder_at(player bigint) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(
               (SELECT max(r.at) FROM players_limitreminder AS r WHERE r.player_id = player AND NOT r.is_review), u.created_at)
           + j.limit_reminder_days * interval '24 hours'
    FROM players_player AS p
    JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id JOIN players_user AS u ON u.id = p.user_id
    WHERE p.id = player
$$;

-- Store that the house reminds a player of the limits now, if a reminder is due.
-- Returns whether it is.
-- Locks the player's limits, so that two workers remind once.
CREATE OR REPLACE FUNCTION players_remind_of_limits(player bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM players_lock_limits(player);
    INSERT INTO players_limitreminder (player_id, is_review)
    SELECT player, false WHERE players_limit_reminder_at(player) <= clock_timestamp();
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION players_remind_of_limits FROM PUBLIC;

-- Store that a player has reviewed the limits since the last reminder.
-- Returns whether the player was reminded and had not.
-- Locks the player's limits.
CREATE OR REPLACE FUNCTION players_review_limits(player bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM players_lock_limits(player);
    INSERT INTO players_limitreminder (player_id, is_review)
    SELECT player, true FROM (
        SELECT r.is_review FROM players_limitreminder AS r WHERE r.player_id = player ORDER BY r.id DESC LIMIT 1) AS newest
    WHERE NOT newest.is_review;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION players_review_limits FROM PUBLIC;
