-- Pauses and exclusions, their lifting by two people, answers of registers, and the check whether a
-- player may play.
--
--   SB082 the person named may not do this to this player

-- Refuse the statement. Trigger function for the tables of exclusions, register checks and reality
-- checks, whose rows never change.
-- Raises restrict_violation (23001), always.
CREATE OR REPLACE FUNCTION players_refuse_pause_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% is never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Begin an exclusion at the database's time. Trigger function, BEFORE INSERT on players_exclusion.
-- Moves `begun` and `until` by the same time, so the exclusion keeps its length.
-- Raises SB082 unless `by` is the player, or for a pause or an exclusion by staff an active member
-- of staff who may exclude players.
-- Locks advisory lock (1009, player id): waits for rounds in progress, which hold it shared through
-- players_ineligibility. New rounds wait behind it. So no round in progress is interrupted, and none
-- begins after the exclusion.
CREATE OR REPLACE FUNCTION players_begin_exclusion() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    waited interval;
BEGIN
    IF (CASE WHEN NEW.kind = 'staff' OR NEW.kind = 'pause' AND NEW."by" LIKE 'staff:%' THEN
            EXISTS (SELECT FROM players_staff AS s
                    WHERE 'staff:' || s.id = NEW."by" AND players_staff_may(NEW."by", s.person, 'players', 'exclude_player'))
        ELSE NEW."by" = 'player:' || NEW.player_id END) IS NOT TRUE
    THEN
        RAISE EXCEPTION '% may not exclude player %', NEW."by", NEW.player_id USING ERRCODE = 'SB082';
    END IF;
    PERFORM pg_advisory_xact_lock(1009, NEW.player_id::integer);
    waited := clock_timestamp() - NEW.begun;
    NEW.begun := NEW.begun + waited;
    NEW.until := NEW.until + waited;
    RETURN NEW;
END $$;

-- Check the early end of an exclusion. Trigger function, BEFORE INSERT on players_exclusionlift.
-- Sets `at` to the database's time.
-- Raises SB010 if the exclusion cannot end early: staff exclusions can, and permanent exclusions by
-- the player can after the number of days that the jurisdiction sets. Raises SB031 without an
-- approval of kind exclusion.lift for this exclusion, by the two people that the row names. Both
-- must still hold the permission players.exclude_player.
CREATE OR REPLACE FUNCTION players_check_lift() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    excluded bigint;
BEGIN
    NEW.at := clock_timestamp();
    SELECT e.player_id INTO excluded FROM players_exclusion AS e JOIN players_player AS p ON p.id = e.player_id
        JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE e.id = NEW.exclusion_id
      AND (e.kind = 'staff'
           OR e.kind = 'self' AND e.until IS NULL AND e.begun + make_interval(days => j.permanent_days) <= NEW.at);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'exclusion % ends at its time', NEW.exclusion_id USING ERRCODE = 'SB010';
    END IF;
    PERFORM FROM audit_approval AS asked
    JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
    WHERE asked.kind = 'exclusion.lift' AND asked."on" = 'exclusion:' || NEW.exclusion_id
      AND asked.request::jsonb @> jsonb_build_object('exclusion', NEW.exclusion_id, 'player', excluded)
      AND asked."by" = NEW.asked_by AND decided."by" = NEW.decided_by
      AND players_staff_may(asked."by", asked.person, 'players', 'exclude_player')
      AND players_staff_may(decided."by", decided.person, 'players', 'exclude_player');
    IF NOT FOUND THEN
        RAISE EXCEPTION 'lifting exclusion % takes two people', NEW.exclusion_id USING ERRCODE = 'SB031';
    END IF;
    RETURN NEW;
END $$;

-- Return the players who are the same person as this one, in rows; `is_found` if staff found so.
-- The newest finding of staff decides. Without one, they have the same national number, or the same name
-- and date of birth and no national numbers of one country that differ. The same national number, where
-- staff have not seen it yet, outweighs an earlier finding that the two differ.
-- A function in FROM, so that PostgreSQL inlines it, here and below.
CREATE OR REPLACE FUNCTION players_same_person(player bigint) RETURNS TABLE (player_id bigint, is_found boolean)
LANGUAGE sql STABLE AS $$
    SELECT pair.other, coalesce(pair.finding = 'same', false)
    FROM (SELECT d.other, (array_agg(d.resolution ORDER BY d.resolved_at DESC, d.id DESC) FILTER (WHERE d.resolution <> ''))[1] AS finding,
                 bool_or(d.ground = 'person' AND d.resolution = '') AS has_number, bool_or(d.ground = 'name') AS has_name
          FROM (SELECT d.second_id AS other, d.* FROM public.players_duplicate AS d WHERE d.first_id = player
                UNION ALL
                SELECT d.first_id, d.* FROM public.players_duplicate AS d WHERE d.second_id = player) AS d
          GROUP BY d.other) AS pair
    WHERE pair.finding = 'same' OR pair.has_number
       OR pair.finding IS NULL AND pair.has_name AND NOT EXISTS (
            SELECT FROM public.players_player AS one JOIN public.players_player AS two ON two.jurisdiction_id = one.jurisdiction_id
            JOIN public.players_trait AS mine ON mine.player_id = one.id AND mine.ground = 'person'
            JOIN public.players_trait AS theirs ON theirs.player_id = two.id AND theirs.ground = 'person'
            WHERE one.id = player AND two.id = pair.other
            HAVING count(*) > 0 AND NOT bool_or(mine.fingerprint = theirs.fingerprint))
$$;

-- Return the exclusion of the same person under another account that ends last, if one is in force. One by
-- the player counts if the identity of that account is confirmed, or staff found the two to be one person:
-- anybody could exclude themselves under another person's name.
-- Returns at most one row with `until`; NULL means permanent.
CREATE OR REPLACE FUNCTION players_excluded_elsewhere(player bigint) RETURNS TABLE (until timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT e.until FROM public.players_same_person(player) AS other
    JOIN public.players_exclusion AS e ON e.player_id = other.player_id
    LEFT JOIN public.players_exclusionlift AS l ON l.exclusion_id = e.id
    WHERE l.id IS NULL AND (e.until IS NULL OR e.until > clock_timestamp())
      AND (e.kind = 'staff' OR other.is_found OR (SELECT i.reason IS NULL FROM public.players_identity_due(e.player_id) AS i))
    ORDER BY e.until DESC NULLS FIRST LIMIT 1
$$;

-- Return 'other_account' if players_excluded_elsewhere has a row, else NULL.
-- In PL/pgSQL, so that its plan is started only where players_exclusion_of calls it: for the few who may have another
-- account. Started for everybody it was a twelfth of a solo round.
CREATE OR REPLACE FUNCTION players_reason_elsewhere(player bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT 'other_account' FROM public.players_excluded_elsewhere(player));
END $$;

-- Return 'register' if the newest answer of a register is that the player is excluded, else 'unreachable' if a
-- register did not answer, else NULL.
-- In PL/pgSQL like players_reason_elsewhere: few players have ever had such an answer.
CREATE OR REPLACE FUNCTION players_reason_of_registers(player bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT CASE last.outcome WHEN 'excluded' THEN 'register' ELSE 'unreachable' END
            FROM (SELECT DISTINCT ON (c.register) c.outcome FROM public.players_registercheck AS c
                  WHERE c.player_id = player ORDER BY c.register, c.id DESC) AS last
            WHERE last.outcome IN ('excluded', 'unreachable')
            ORDER BY last.outcome LIMIT 1);
END $$;

-- Check an answer of a register. Trigger function, BEFORE INSERT on players_registercheck. Sets `at`
-- to the database's time.
-- Raises SB084 if nothing proves the answer.
CREATE OR REPLACE FUNCTION players_begin_registercheck() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.at := clock_timestamp();
    PERFORM players_demand_permit(
        (SELECT p.user_id FROM players_player AS p WHERE p.id = NEW.player_id),
        jsonb_build_array('register answer', NEW.register, NEW.outcome));
    RETURN NEW;
END $$;

-- Wait for locks and exclusions of a player that are being made, and let later ones wait until the
-- transaction ends: advisory lock (1009, player id), shared. They take it exclusively, so no round in
-- progress is interrupted. A statement that begins afterwards sees what was committed while this waited.
CREATE OR REPLACE FUNCTION players_hold_off_exclusions(player bigint) RETURNS void
LANGUAGE sql VOLATILE AS $$ SELECT pg_advisory_xact_lock_shared(1009, player::integer) $$;

-- Return why nobody may play under this account, in one row: 'locked', 'excluded', 'other_account' (the
-- same person is excluded under another account), 'register' (excluded by a national register),
-- 'unreachable' (a register did not answer) or 'closing'; NULL if they may. An exclusion of a register
-- ends with its next answer, not with the time that it named.
-- A function in FROM, so that PostgreSQL inlines it.
CREATE OR REPLACE FUNCTION players_exclusion_of(player bigint) RETURNS TABLE (reason text)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT CASE WHEN newest.locks THEN 'locked' END
         FROM (SELECT l.locks FROM public.players_accountlock AS l WHERE l.player_id = player ORDER BY l.id DESC LIMIT 1) AS newest),
        (SELECT 'excluded' FROM public.players_exclusion AS e
         LEFT JOIN public.players_exclusionlift AS l ON l.exclusion_id = e.id
         WHERE e.player_id = player AND (e.until IS NULL OR e.until > clock_timestamp()) AND l.id IS NULL LIMIT 1),
        CASE WHEN EXISTS (SELECT FROM public.players_duplicate AS d WHERE d.first_id = player)
            OR EXISTS (SELECT FROM public.players_duplicate AS d WHERE d.second_id = player)
            THEN public.players_reason_elsewhere(player) END,
        CASE WHEN EXISTS (SELECT FROM public.players_registercheck AS c
                          WHERE c.player_id = player AND c.outcome IN ('excluded', 'unreachable'))
            THEN public.players_reason_of_registers(player) END,
        (SELECT 'closing' FROM public.players_closure AS c WHERE c.player_id = player LIMIT 1))
$$;
