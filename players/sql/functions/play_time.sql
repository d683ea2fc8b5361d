-- Time played, reality checks and time limits. Only these functions write players_playsession,
-- players_playtime and players_realitycheck. Times are the database's, and totals only grow.
--
--   SB080 the play session belongs to another player
--   SB081 a round with a negative amount or an unknown mode, or an interval that is not offered

-- Return the interval of a player's reality checks, in one row.
-- `usual`: interval in minutes for players who have not chosen one; it counts as 15, the shortest interval
-- that players may choose, if it is less.
-- A function in FROM, so that PostgreSQL inlines it, here and below.
CREATE OR REPLACE FUNCTION players_check_interval(player bigint, usual integer) RETURNS TABLE (due_after interval)
LANGUAGE sql STABLE AS $$
    SELECT make_interval(mins => coalesce(
        (SELECT r.minutes FROM public.players_realitycheck AS r WHERE r.player_id = player ORDER BY r.id DESC LIMIT 1),
        greatest(usual, 15)))
$$;

-- Return whether a reality check is due in a session, in one row.
-- `playing`: id of the session. `usual`: see players_check_interval.
CREATE OR REPLACE FUNCTION players_check_due(player bigint, playing uuid, usual integer) RETURNS TABLE (due boolean)
LANGUAGE sql STABLE AS $$
    SELECT coalesce((
        SELECT clock_timestamp() - coalesce(s.checked_at, s.began) >= i.due_after
        FROM public.players_playsession AS s CROSS JOIN public.players_check_interval(player, usual) AS i
        WHERE s.session = playing AND s.player_id = player
    ), false)
$$;

-- Begin the play session of a log-in. Does nothing if it has begun.
-- `playing`: id of the session. It begins at the log-in, or now if no log-in has this id.
-- The reality check goes on counting from an earlier log-in of the player, at whatever device, unless the
-- player has been away since then for as long as the interval.
-- Raises SB080 if the session or its log-in belongs to another player.
CREATE OR REPLACE FUNCTION players_begin_play_session(player bigint, playing uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO players_playsession (session, player_id, began, checked_at)
    SELECT playing, p.id, here.began, (
        SELECT max(coalesce(earlier.checked_at, earlier.began))
        FROM players_session AS other JOIN players_playsession AS earlier ON earlier.session = other.id
        WHERE other.user_id = p.user_id AND other.id <> playing AND earlier.player_id = p.id
          AND other.began_at BETWEEN here.began - interval '7 days' AND here.began
          AND greatest(other.acted_at, earlier.checked_at) > here.began - make_interval(mins => coalesce(
              (SELECT r.minutes FROM players_realitycheck AS r WHERE r.player_id = p.id ORDER BY r.id DESC LIMIT 1), 60)))
    FROM players_player AS p LEFT JOIN players_session AS s ON s.id = playing
    CROSS JOIN LATERAL (SELECT least(s.began_at, clock_timestamp())) AS here (began)
    WHERE p.id = player AND (s.id IS NULL OR s.user_id = p.user_id)
    ON CONFLICT DO NOTHING;
    IF NOT EXISTS (SELECT FROM players_playsession AS s WHERE s.session = playing AND s.player_id = player) THEN
        RAISE EXCEPTION 'session % is not of player %', playing, player USING ERRCODE = 'SB080';
    END IF;
END $$;
REVOKE ALL ON FUNCTION players_begin_play_session FROM PUBLIC;

-- Answer a reality check that is due in a session: the next one is due one interval from now.
-- Arguments as for players_check_due.
-- Returns whether a check was due. Otherwise nothing changes.
-- Locks the play session.
CREATE OR REPLACE FUNCTION players_answer_check(player bigint, playing uuid, usual integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM players_playsession AS s WHERE s.session = playing AND s.player_id = player FOR UPDATE;
    IF NOT (SELECT c.due FROM players_check_due(player, playing, usual) AS c) THEN
        RETURN false;
    END IF;
    UPDATE players_playsession AS s SET checked_at = clock_timestamp() WHERE s.session = playing AND s.player_id = player;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION players_answer_check FROM PUBLIC;

-- Store the interval of the reality check that a player has chosen.
-- Raises SB081 unless it is 15, 30 or 60 minutes.
CREATE OR REPLACE FUNCTION players_choose_check_interval(player bigint, minutes integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF minutes IN (15, 30, 60) IS NOT TRUE THEN
        RAISE EXCEPTION 'a reality check every % minutes is not offered', minutes USING ERRCODE = 'SB081';
    END IF;
    INSERT INTO players_realitycheck (player_id, minutes, at) VALUES (player, minutes, clock_timestamp());
END $$;
REVOKE ALL ON FUNCTION players_choose_check_interval FROM PUBLIC;

-- Return the seconds from one action to the next that count as played: none if they are more than nine
-- minutes apart.
CREATE OR REPLACE FUNCTION players_seconds_between(last_at timestamptz, moment timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN moment - last_at <= interval '9 minutes' THEN greatest(extract(epoch FROM moment - last_at), 0)::integer
        ELSE 0 END
$$;

-- Add a finished round to the totals of its session and to the player's time played today.
-- `playing`: id of the session. `mode`: R or F. `staked`, `paid`: minor units.
-- The time since the last action counts as played up to nine minutes, because a longer gap would
-- have ended the session. In the first nine minutes of a day the last action may be of the day before. players_note_rounds has the same statements for all players of a round.
-- Returns the play session afterwards; all its columns are NULL if there is none.
-- Raises SB081 for a negative amount or another mode.
CREATE OR REPLACE FUNCTION players_note_round(player bigint, playing uuid, mode text, staked bigint, paid bigint)
RETURNS players_playsession
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    totals players_playsession;
BEGIN
    IF (mode IN ('R', 'F') AND staked >= 0 AND paid >= 0) IS NOT TRUE THEN
        RAISE EXCEPTION 'no round is played in mode % for % with %', mode, staked, paid USING ERRCODE = 'SB081';
    END IF;
    WITH played AS (
        UPDATE players_playsession AS s SET rounds = s.rounds + 1,
            staked_real = s.staked_real + CASE mode WHEN 'R' THEN staked ELSE 0 END,
            paid_real = s.paid_real + CASE mode WHEN 'R' THEN paid ELSE 0 END,
            staked_free = s.staked_free + CASE mode WHEN 'F' THEN staked ELSE 0 END,
            paid_free = s.paid_free + CASE mode WHEN 'F' THEN paid ELSE 0 END
        WHERE s.session = playing AND s.player_id = player RETURNING s.*
    ), timed AS (
        INSERT INTO players_playtime AS t (player_id, day, seconds, last_at)
        SELECT player, here.at::date, CASE WHEN here.at::time < '00:09' THEN coalesce((
                SELECT players_seconds_between(l.last_at, moment) FROM players_playtime AS l
                WHERE l.player_id = player AND l.day = here.at::date - 1
            ), 0) ELSE 0 END, moment
        FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
        CROSS JOIN LATERAL (SELECT moment AT TIME ZONE j.time_zone) AS here (at)
        WHERE p.id = player
        ON CONFLICT (player_id, day) DO UPDATE
            SET seconds = t.seconds + players_seconds_between(t.last_at, EXCLUDED.last_at), last_at = EXCLUDED.last_at
    )
    SELECT played.* INTO totals FROM played;
    RETURN totals;
END $$;
REVOKE ALL ON FUNCTION players_note_round FROM PUBLIC;

-- Add a finished round to the sessions and times of all its players, as players_note_round does for
-- one. The arrays have one element per player, each player once.
-- Sessions are locked first and rows in order, so that two rounds that end at once cannot deadlock. Without sequential
-- scans every plan comes to the days of players in order of their ids.
-- Raises SB081 for a negative amount or another mode.
CREATE OR REPLACE FUNCTION players_note_rounds(players bigint[], playing uuid[], modes text[], staked bigint[], paid bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    moment timestamptz;
BEGIN
    IF EXISTS (
        SELECT FROM unnest(modes, staked, paid) AS r (mode, staked, paid)
        WHERE (r.mode IN ('R', 'F') AND r.staked >= 0 AND r.paid >= 0) IS NOT TRUE)
    THEN
        RAISE EXCEPTION 'a round is played in no such mode, or with a negative amount' USING ERRCODE = 'SB081';
    END IF;
    PERFORM FROM players_playsession AS s WHERE s.session = ANY (playing) ORDER BY s.session FOR UPDATE;
    UPDATE players_playsession AS s SET rounds = s.rounds + 1,
        staked_real = s.staked_real + CASE r.mode WHEN 'R' THEN r.staked ELSE 0 END,
        paid_real = s.paid_real + CASE r.mode WHEN 'R' THEN r.paid ELSE 0 END,
        staked_free = s.staked_free + CASE r.mode WHEN 'F' THEN r.staked ELSE 0 END,
        paid_free = s.paid_free + CASE r.mode WHEN 'F' THEN r.paid ELSE 0 END
    FROM unnest(players, playing, modes, staked, paid) AS r (player_id, session, mode, staked, paid)
    WHERE s.session = r.session AND s.player_id = r.player_id;
    moment := clock_timestamp();
    -- Most players have played before today, and to update their day costs half of an insert that finds it. But if one has not,
    -- all are inserted: first those that are there and then the others would be no order.
    WITH played AS MATERIALIZED (
        SELECT owner.id AS player_id, here.at, bool_and((
            SELECT count(*) = 1 FROM players_playtime AS k WHERE k.player_id = owner.id AND k.day = here.at::date)) OVER () AS are_there
        FROM unnest(players) AS played (player_id)
        JOIN players_player AS owner ON owner.id = played.player_id
        JOIN players_jurisdiction AS law ON law.code = owner.jurisdiction_id
        CROSS JOIN LATERAL (SELECT moment AT TIME ZONE law.time_zone) AS here (at)
        ORDER BY owner.id
    ), counted AS (
        UPDATE players_playtime AS t SET seconds = t.seconds + players_seconds_between(t.last_at, moment), last_at = moment
        FROM played WHERE t.player_id = played.player_id AND t.day = played.at::date AND played.are_there RETURNING t.player_id
    )
    INSERT INTO players_playtime AS t (player_id, day, seconds, last_at)
    SELECT played.player_id, played.at::date, CASE WHEN played.at::time < '00:09' THEN coalesce((
            SELECT players_seconds_between(l.last_at, moment) FROM players_playtime AS l
            WHERE l.player_id = played.player_id AND l.day = played.at::date - 1
        ), 0) ELSE 0 END, moment
    FROM played WHERE played.player_id NOT IN (SELECT counted.player_id FROM counted)
    ON CONFLICT (player_id, day) DO UPDATE
        SET seconds = t.seconds + players_seconds_between(t.last_at, EXCLUDED.last_at), last_at = EXCLUDED.last_at;
END $$;
REVOKE ALL ON FUNCTION players_note_rounds FROM PUBLIC;

-- Return the kinds of limits that do not limit money. Each has a branch in players_used.
CREATE OR REPLACE FUNCTION players_limits_on_play() RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$ SELECT '{time}'::text[] $$;

-- Return what counts against a limit of this kind in the current period, in the unit that limits of the
-- kind are stored in.
-- 'time': seconds, including the time since the last action, up to nine minutes.
-- Raises invalid_parameter_value for any other kind.
CREATE OR REPLACE FUNCTION players_used(player bigint, kind text, period text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    since date := (
        SELECT date_trunc(period, clock_timestamp() AT TIME ZONE j.time_zone)::date
        FROM public.players_player AS p JOIN public.players_jurisdiction AS j ON j.code = p.jurisdiction_id
        WHERE p.id = player);
BEGIN
    CASE kind
        WHEN 'time' THEN
            RETURN (SELECT coalesce(sum(t.seconds), 0) FROM public.players_playtime AS t
                    WHERE t.player_id = player AND t.day >= since)
                 + coalesce((SELECT public.players_seconds_between(t.last_at, clock_timestamp()) FROM public.players_playtime AS t
                    WHERE t.player_id = player ORDER BY t.day DESC LIMIT 1), 0);
        ELSE
            RAISE EXCEPTION '% is no limit on play', coalesce(kind, 'NULL') USING ERRCODE = 'invalid_parameter_value';
    END CASE;
END $$;

-- Return the kind of a limit that the player has used up, of those that do not limit money; NULL if there is
-- none.
-- players_reason_against_play calls it for players with such a limit alone.
CREATE OR REPLACE FUNCTION players_limit_used_up(player bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    kinds text[] := public.players_limits_on_play();
BEGIN
    RETURN (SELECT l.kind FROM public.players_limits_of(player) AS l
            WHERE l.kind = ANY (kinds) AND l.amount <= public.players_used(player, l.kind, l.period)
            ORDER BY l.kind LIMIT 1);
END $$;
