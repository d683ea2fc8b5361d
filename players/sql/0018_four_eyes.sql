-- An exclusion ends before its time as two people agreed: the request is of this exclusion, both of them may do so at that moment, and the lift names
-- them.

-- Whether the account of staff is of that person, in use, and of a role that has the app's permission.
CREATE FUNCTION players_staff_may(account text, person uuid, app text, codename text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM players_staff AS s
        JOIN players_user AS u ON u.id = s.user_id AND u.is_active
        JOIN players_user_groups AS m ON m.user_id = u.id
        JOIN auth_group_permissions AS held ON held.group_id = m.group_id
        JOIN auth_permission AS p ON p.id = held.permission_id
        JOIN django_content_type AS c ON c.id = p.content_type_id
        WHERE 'staff:' || s.id = players_staff_may.account AND s.person = players_staff_may.person
          AND c.app_label = players_staff_may.app AND p.codename = players_staff_may.codename)
$$;

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
