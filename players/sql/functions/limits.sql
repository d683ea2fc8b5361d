-- Limits on deposits, losses, stakes and time, set by players and by the house. Rows are added, never changed: the newest
-- row of a source, kind and period says what holds now and what holds after the change takes effect.

CREATE OR REPLACE FUNCTION players_refuse_limit_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Whoever counts against a player's limits, or changes them, does so one after the other, until the transaction ends.
CREATE OR REPLACE FUNCTION players_lock_limits(player bigint) RETURNS void
LANGUAGE sql VOLATILE AS $$ SELECT pg_advisory_xact_lock(hashint8extended(player, 2_005_005)) $$;

-- Where the calendar period that *at* lies in begins, in a time zone: days at midnight, weeks on Monday.
CREATE OR REPLACE FUNCTION players_period_start(period text, at timestamptz, time_zone text) RETURNS timestamptz
LANGUAGE sql STABLE AS $$ SELECT date_trunc(period, at AT TIME ZONE time_zone) AT TIME ZONE time_zone $$;

CREATE OR REPLACE FUNCTION players_period_end(period text, at timestamptz, time_zone text) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT (date_trunc(period, at AT TIME ZONE time_zone) + ('1 ' || period)::interval) AT TIME ZONE time_zone
$$;

-- The limits of a player that hold now, each with whose it is: "player", "house" or "law". No search path is pinned here
-- and below, so that PostgreSQL plans the query as a part of the one that asks, which has it pinned.
CREATE OR REPLACE FUNCTION players_limits_by_source(player bigint)
RETURNS TABLE (source text, kind text, period text, amount bigint)
LANGUAGE sql STABLE AS $$
    SELECT newest.source, newest.kind, newest.period, newest.holds
    FROM (SELECT DISTINCT ON (c.source, c.kind, c.period) c.source, c.kind, c.period,
                 CASE WHEN c.effective_at <= clock_timestamp() THEN c.amount ELSE c.before END AS holds
          FROM players_limitchange AS c WHERE c.player_id = player
          ORDER BY c.source, c.kind, c.period, c.id DESC) AS newest
    WHERE newest.holds IS NOT NULL
    UNION ALL
    SELECT 'law', 'deposit', 'month', j.highest_month_deposit
    FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE p.id = player AND j.highest_month_deposit IS NOT NULL
$$;

-- Kinds of limits that a player may have, none of them left out: who counts asks this before gathering limits, which
-- takes five times as long and which most players have only for deposits.
CREATE OR REPLACE FUNCTION players_limits_kinds(player bigint) RETURNS TABLE (kind text)
LANGUAGE sql STABLE AS $$
    SELECT c.kind FROM players_limitchange AS c WHERE c.player_id = player
    UNION ALL SELECT 'deposit'  -- the law's
$$;

-- Of several limits the strictest holds (GLI-19 v3.0, 2.5.5).
CREATE OR REPLACE FUNCTION players_limits_of(player bigint) RETURNS TABLE (kind text, period text, amount bigint)
LANGUAGE sql STABLE AS $$
    SELECT l.kind, l.period, min(l.amount) FROM players_limits_by_source(player) AS l GROUP BY l.kind, l.period
$$;

-- Whether play waits for deposit limits: the jurisdiction requires them, and the player has not set them all.
CREATE OR REPLACE FUNCTION players_must_set_limits(player bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT NOT ARRAY(SELECT jsonb_array_elements_text(j.deposit_periods))
           <@ ARRAY(SELECT l.period FROM players_limits_by_source(player) AS l
                    WHERE l.source = 'player' AND l.kind = 'deposit')
    FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE p.id = player AND j.deposit_limits = 'required'
    UNION ALL SELECT false LIMIT 1
$$;

-- Whether deposit limits are to be offered: the jurisdiction asks for that, the player has set none and not answered.
CREATE OR REPLACE FUNCTION players_should_offer_limits(player bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT NOT EXISTS (SELECT FROM players_limitoffer AS o WHERE o.player_id = player)
        AND EXISTS (SELECT FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
                    WHERE p.id = player AND j.deposit_limits <> 'required')
        AND NOT EXISTS (SELECT FROM players_limitchange AS c
                        WHERE c.player_id = player AND c.source = 'player' AND c.kind = 'deposit')
$$;

-- Sets a limit, or removes it (amount NULL), and returns the row; none where that is what holds or waits already.
-- A stricter one holds at once. A looser one of the player's own waits as long as the jurisdiction says, and where it
-- says so until the running period ends; the house lifts its own at once. What waited until now is withdrawn, so asking
-- for what holds is how a pending change is withdrawn.
CREATE OR REPLACE FUNCTION players_change_limit(
    player bigint, source text, kind text, period text, amount bigint, asked_by text, reason text
) RETURNS SETOF players_limitchange
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    now_is timestamptz;
    newest players_limitchange;
    holds bigint;
    waits boolean;
    law record;
BEGIN
    PERFORM players_lock_limits(player);
    now_is := clock_timestamp();
    SELECT c.* INTO newest FROM players_limitchange AS c
    WHERE c.player_id = player AND c.source = players_change_limit.source AND c.kind = players_change_limit.kind
      AND c.period = players_change_limit.period
    ORDER BY c.id DESC LIMIT 1;
    waits := coalesce(newest.effective_at > now_is, false);
    holds := CASE WHEN waits THEN newest.before ELSE newest.amount END;
    IF amount IS NOT DISTINCT FROM newest.amount THEN
        RETURN;
    END IF;
    SELECT j.time_zone, j.raise_after_hours, j.raise_after_period INTO STRICT law
    FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id WHERE p.id = player;
    RETURN QUERY
    INSERT INTO players_limitchange AS c
        (player_id, source, kind, period, before, amount, asked_at, effective_at, asked_by, reason)
    VALUES (
        player, source, kind, period, holds, amount, now_is,
        CASE WHEN source = 'player' AND holds IS NOT NULL AND (amount IS NULL OR amount > holds) THEN
            greatest(now_is + law.raise_after_hours * interval '1 hour',
                     CASE WHEN law.raise_after_period THEN players_period_end(period, now_is, law.time_zone) END)
        ELSE now_is END,
        asked_by, reason)
    RETURNING c.*;
END $$;
REVOKE ALL ON FUNCTION players_change_limit FROM PUBLIC;
