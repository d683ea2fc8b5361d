-- Notices to players about planned maintenance. They are published and withdrawn, and never
-- changed.

-- Return whether a staff member may publish notices (permission players.publish_notices); NULL for
-- an unknown id.
CREATE OR REPLACE FUNCTION players_may_publish(staff bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT players_staff_may('staff:' || s.id, s.person, 'players', 'publish_notices') FROM players_staff AS s
    WHERE s.id = staff
$$;

-- Check a new notice. Trigger function, BEFORE INSERT on players_notice. Sets `at` to the
-- database's time.
-- Raises restrict_violation (23001) if the staff member may not publish. Raises check_violation
-- (23514) if its end has passed, it is withdrawn, or a text is missing in sv, da, ro, de or en. A
-- text contains {when}, no control characters and at most 300 characters.
CREATE OR REPLACE FUNCTION players_begin_notice() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.at := clock_timestamp();
    IF players_may_publish(NEW.by_id) IS NOT TRUE THEN
        RAISE EXCEPTION 'staff % may not publish notices', NEW.by_id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.shown_until <= NEW.at OR NEW.withdrawn_at IS NOT NULL THEN
        RAISE EXCEPTION 'a notice begins before it is over' USING ERRCODE = 'check_violation';
    END IF;
    IF EXISTS (
        SELECT FROM unnest(ARRAY['sv', 'da', 'ro', 'de', 'en']) AS spoken (language)
        WHERE coalesce(NEW.texts ->> spoken.language, '') !~ '^[^[:cntrl:]]*\{when\}[^[:cntrl:]]*$'
           OR length(NEW.texts ->> spoken.language) > 300)
    THEN
        RAISE EXCEPTION 'a notice says when, in every language of the house' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Allow one change of a notice: its withdrawal before its end. Trigger function, BEFORE UPDATE on
-- players_notice. Sets `withdrawn_at` to the database's time.
-- Raises restrict_violation (23001) for any other change, or if the staff member may not publish.
CREATE OR REPLACE FUNCTION players_withdraw_notice() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.withdrawn_at IS NOT NULL OR OLD.shown_until <= clock_timestamp() OR NEW.withdrawn_at IS NULL
        OR players_may_publish(NEW.withdrawn_by_id) IS NOT TRUE
        OR to_jsonb(NEW) - ARRAY['withdrawn_at', 'withdrawn_by_id', 'reason']
            <> to_jsonb(OLD) - ARRAY['withdrawn_at', 'withdrawn_by_id', 'reason']
    THEN
        RAISE EXCEPTION 'a notice is withdrawn, once, and not changed' USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.withdrawn_at := clock_timestamp();
    RETURN NEW;
END $$;
