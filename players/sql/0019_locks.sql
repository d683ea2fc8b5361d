-- A lock keeps its player from play as an exclusion does: it waits for what is in progress, and whatever wants to begin
-- waits behind it. The fence before pages alone would leave a moment between a page that was let in and its stake.

-- Whether staff locked this account and nobody has opened it since.
CREATE FUNCTION players_is_locked(player bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(
        (SELECT l.locks FROM players_accountlock AS l WHERE l.player_id = player ORDER BY l.id DESC LIMIT 1), false)
$$;

-- As before; and whose account is locked plays nowhere.
CREATE OR REPLACE FUNCTION players_barred(player bigint, playing uuid) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1009, player::integer);
    RETURN (SELECT CASE
        WHEN public.players_is_locked(player) THEN 'locked'
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

-- As before, behind the rounds in progress; and only of staff whose role may lock accounts, and who are not disabled.
CREATE OR REPLACE FUNCTION players_begin_accountlock() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1009, NEW.player_id::integer);
    IF players_is_locked(NEW.player_id) = NEW.locks THEN
        RAISE EXCEPTION 'the account of player % is so already', NEW.player_id USING ERRCODE = 'check_violation';
    END IF;
    IF NOT EXISTS (
        SELECT FROM players_staff AS s
        JOIN players_user AS u ON u.id = s.user_id AND u.is_active
        JOIN players_user_groups AS m ON m.user_id = u.id
        JOIN auth_group_permissions AS held ON held.group_id = m.group_id
        JOIN auth_permission AS p ON p.id = held.permission_id AND p.codename = 'lock_player'
        WHERE s.id = NEW.by_id)
    THEN
        RAISE EXCEPTION 'staff % may not lock accounts', NEW.by_id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
