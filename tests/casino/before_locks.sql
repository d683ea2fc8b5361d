-- Two functions as they were before locks of accounts reached the tables, for tests that show the race.

CREATE OR REPLACE FUNCTION players_exclusion_of(player bigint) RETURNS TABLE (reason text)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT 'excluded' FROM public.players_exclusion AS e
         LEFT JOIN public.players_exclusionlift AS l ON l.exclusion_id = e.id
         WHERE e.player_id = player AND (e.until IS NULL OR e.until > clock_timestamp()) AND l.id IS NULL LIMIT 1),
        (SELECT CASE last.outcome WHEN 'excluded' THEN 'register' ELSE 'unreachable' END
         FROM (SELECT DISTINCT ON (c.register) c.outcome, c.until FROM public.players_registercheck AS c
               WHERE c.player_id = player ORDER BY c.register, c.id DESC) AS last
         WHERE last.outcome = 'excluded' AND (last.until IS NULL OR last.until > clock_timestamp())
            OR last.outcome = 'unreachable'
         ORDER BY last.outcome LIMIT 1))
$$;

CREATE OR REPLACE FUNCTION players_begin_accountlock() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    locked boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('players_accountlock', NEW.player_id));
    SELECT l.locks INTO locked FROM players_accountlock AS l WHERE l.player_id = NEW.player_id ORDER BY l.id DESC LIMIT 1;
    IF coalesce(locked, false) = NEW.locks THEN
        RAISE EXCEPTION 'the account of player % is so already', NEW.player_id USING ERRCODE = 'check_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
