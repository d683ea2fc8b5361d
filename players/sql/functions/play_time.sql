-- Time played, reality checks and time limits.

-- Return whether a reality check is due in a session.
-- `playing`: id of the session. `usual`: interval in minutes for players who have not chosen one.
CREATE OR REPLACE FUNCTION players_check_due(player bigint, playing uuid, usual integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT coalesce((
        SELECT clock_timestamp() - coalesce(s.checked_at, s.began) >= make_interval(mins => coalesce(
            (SELECT r.minutes FROM public.players_realitycheck AS r WHERE r.player_id = player ORDER BY r.id DESC LIMIT 1),
            usual))
        FROM public.players_playsession AS s WHERE s.session = playing AND s.player_id = player
    ), false)
$$;

-- Add a finished round to the totals of its session and to the player's time played today.
-- `playing`: id of the session. `mode`: R or F. `staked`, `paid`: minor units.
-- The time since the last action counts as played up to nine minutes, because a longer gap would
-- have ended the session. players/protection/play_sessions.py has the same statements for all
-- players of a round.
CREATE OR REPLACE FUNCTION players_note_round(player bigint, playing uuid, mode text, staked bigint, paid bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    today date;
    gap interval;
BEGIN
    UPDATE public.players_playsession AS s SET rounds = s.rounds + 1,
        staked_real = s.staked_real + CASE mode WHEN 'R' THEN staked ELSE 0 END,
        paid_real = s.paid_real + CASE mode WHEN 'R' THEN paid ELSE 0 END,
        staked_free = s.staked_free + CASE mode WHEN 'F' THEN staked ELSE 0 END,
        paid_free = s.paid_free + CASE mode WHEN 'F' THEN paid ELSE 0 END
    WHERE s.session = playing AND s.player_id = player;
    SELECT (moment AT TIME ZONE j.time_zone)::date INTO today
    FROM public.players_player AS p JOIN public.players_jurisdiction AS j ON j.code = p.jurisdiction_id WHERE p.id = player;
    SELECT moment - t.last_at INTO gap FROM public.players_playtime AS t
    WHERE t.player_id = player ORDER BY t.day DESC LIMIT 1;
    INSERT INTO public.players_playtime AS t (player_id, day, seconds, last_at) VALUES (
        player, today,
        CASE WHEN gap <= interval '9 minutes' THEN greatest(extract(epoch FROM gap), 0)::integer ELSE 0 END, moment)
    ON CONFLICT (player_id, day) DO UPDATE SET seconds = t.seconds + EXCLUDED.seconds, last_at = EXCLUDED.last_at;
END $$;

-- Return whether a time limit of the player is used up, including the time since the last action,
-- up to nine minutes.
CREATE OR REPLACE FUNCTION players_time_used_up(player bigint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    here text;
    gap interval;
BEGIN
    IF NOT EXISTS (SELECT FROM public.players_limitchange AS c WHERE c.player_id = player AND c.kind = 'time') THEN
        RETURN false;
    END IF;
    SELECT j.time_zone INTO here
    FROM public.players_player AS p JOIN public.players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE p.id = player;
    SELECT clock_timestamp() - t.last_at INTO gap FROM public.players_playtime AS t
    WHERE t.player_id = player ORDER BY t.day DESC LIMIT 1;
    IF gap IS NULL OR gap > interval '9 minutes' THEN
        gap := interval '0';
    END IF;
    RETURN EXISTS (
        SELECT FROM public.players_limits_of(player) AS l
        WHERE l.kind = 'time' AND l.amount <= extract(epoch FROM gap) + coalesce((
            SELECT sum(t.seconds) FROM public.players_playtime AS t
            WHERE t.player_id = player
              AND t.day >= date_trunc(l.period, clock_timestamp() AT TIME ZONE here)::date), 0));
END $$;
