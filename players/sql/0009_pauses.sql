-- Pauses, exclusions and the time spent playing: what Django cannot say.

CREATE FUNCTION players_refuse_pause_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% is never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER players_exclusion_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_exclusion
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_pause_change();
CREATE TRIGGER players_exclusionlift_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_exclusionlift
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_pause_change();
CREATE TRIGGER players_registercheck_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_registercheck
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_pause_change();
CREATE TRIGGER players_realitycheck_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_realitycheck
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_pause_change();

-- What begins to be played holds this lock, shared, until it is finished; what keeps a player from playing waits for it,
-- and whatever wants to begin meanwhile waits behind. So an exclusion hurts no round in progress, and none begins after.
-- Every exclusion begins now, whatever its writer thought, and lasts as long as the writer said.
CREATE FUNCTION players_begin_exclusion() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    waited interval;
BEGIN
    PERFORM pg_advisory_xact_lock(1009, NEW.player_id::integer);
    waited := clock_timestamp() - NEW.begun;
    NEW.begun := NEW.begun + waited;
    NEW.until := NEW.until + waited;
    RETURN NEW;
END $$;

CREATE TRIGGER players_exclusion_begins_now BEFORE INSERT ON players_exclusion
    FOR EACH ROW EXECUTE FUNCTION players_begin_exclusion();

-- A player's own choice holds for its time; for good means at least as long as the jurisdiction says. What staff began,
-- staff may end. Either way two people have agreed to it before: the approval and its decision stand already.
CREATE FUNCTION players_check_lift() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.at := clock_timestamp();
    PERFORM FROM players_exclusion AS e JOIN players_player AS p ON p.id = e.player_id
        JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE e.id = NEW.exclusion_id
      AND (e.kind = 'staff'
           OR e.kind = 'self' AND e.until IS NULL AND e.begun + make_interval(days => j.permanent_days) <= NEW.at);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'exclusion % ends at its time', NEW.exclusion_id USING ERRCODE = 'SB010';
    END IF;
    PERFORM FROM audit_approval AS a JOIN audit_decision AS d ON d.approval_id = a.id
    WHERE a.kind = 'exclusion.lift' AND a."on" = 'exclusion:' || NEW.exclusion_id AND d.verdict = 'approved';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'lifting exclusion % takes two people', NEW.exclusion_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER players_exclusionlift_in_time BEFORE INSERT ON players_exclusionlift
    FOR EACH ROW EXECUTE FUNCTION players_check_lift();

-- Says why the player may not begin to play in this session, NULL where they may. Volatile, so that each statement sees
-- what was committed while the lock was waited for.
CREATE FUNCTION players_barred(player bigint, playing uuid) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1009, player::integer);
    RETURN (SELECT CASE
        WHEN EXISTS (
            SELECT FROM public.players_exclusion AS e LEFT JOIN public.players_exclusionlift AS l ON l.exclusion_id = e.id
            WHERE e.player_id = player AND (e.until IS NULL OR e.until > clock_timestamp()) AND l.id IS NULL
        ) THEN 'excluded'
        ELSE (
            SELECT CASE last.outcome WHEN 'excluded' THEN 'register' ELSE 'unreachable' END
            FROM (SELECT DISTINCT ON (c.register) c.outcome, c.until FROM public.players_registercheck AS c
                  WHERE c.player_id = player ORDER BY c.register, c.id DESC) AS last
            WHERE last.outcome = 'excluded' AND (last.until IS NULL OR last.until > clock_timestamp())
               OR last.outcome = 'unreachable'
            ORDER BY last.outcome LIMIT 1
        ) END);
END $$;

-- Says whether a reality check waits for the player's answer in this session; *usual* is the interval, in minutes, of
-- whoever has chosen none.
CREATE FUNCTION players_check_due(player bigint, playing uuid, usual integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT coalesce((
        SELECT clock_timestamp() - coalesce(s.checked_at, s.began) >= make_interval(mins => coalesce(
            (SELECT r.minutes FROM public.players_realitycheck AS r WHERE r.player_id = player ORDER BY r.id DESC LIMIT 1),
            usual))
        FROM public.players_sitting AS s WHERE s.session = playing AND s.player_id = player
    ), false)
$$;

-- Adds a finished round to what is known of its session and of the player's day.
-- Time between two actions counts as played up to nine minutes, after which a session would have ended.
CREATE FUNCTION players_note_round(player bigint, playing uuid, mode text, staked bigint, paid bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    today date;
    gap interval;
BEGIN
    UPDATE public.players_sitting AS s SET rounds = s.rounds + 1,
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

-- Says whether a limit of the player's on time is used up, the time since the last action counted as it would be.
CREATE FUNCTION players_time_used_up(player bigint) RETURNS boolean
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
