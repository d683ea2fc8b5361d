-- Staff accounts. Only these functions change them, and only as an approval by two people says.
-- Triggers refuse every other change, also by the owner of the tables.
--
--   SB020 the approval is missing, not approved, or already executed
--   SB021 the approval is about the person who requested or decided it
--   SB023 the account or the roles are not as the request says
--   SB024 the person who requested or decided it may no longer do so
--   SB025 nobody would remain who could decide about the suspension
--   SB026 a suspension of this person by this requester was refused in the last 30 days
--   SB027 another person who could decide about it is suspended, and nobody has confirmed or refused that

-- Return whether this transaction has recorded a change of one of these kinds for a user.
-- `login`: id of the user. `kinds`: kinds of players_staff_change, for example 'staff.make'.
CREATE OR REPLACE FUNCTION players_staff_changes(login bigint, VARIADIC kinds text[]) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM players_staff_change WHERE user_id = login AND kind = ANY (kinds) AND xid = pg_current_xact_id());
$$;

-- Refuse a staff account that was not approved. Trigger function, BEFORE INSERT on players_staff.
-- Raises restrict_violation (23001) unless this transaction has recorded the change staff.make.
CREATE OR REPLACE FUNCTION players_staff_demand_making() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT players_staff_changes(NEW.user_id, 'staff.make') THEN
        RAISE EXCEPTION 'nobody approved an account of staff for user %', NEW.user_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a change of a user's roles that was not approved. Trigger function, BEFORE INSERT OR
-- DELETE on players_user_groups.
-- Raises restrict_violation (23001) unless this transaction has recorded the change staff.make or
-- staff.roles.
CREATE OR REPLACE FUNCTION players_staff_demand_roles() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    login bigint := CASE TG_OP WHEN 'DELETE' THEN OLD.user_id ELSE NEW.user_id END;
BEGIN
    IF NOT players_staff_changes(login, 'staff.make', 'staff.roles') THEN
        RAISE EXCEPTION 'nobody approved other roles for user %', login USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

-- Refuse to disable or enable a staff account without approval. Trigger function, BEFORE UPDATE OF
-- is_active on players_user. Other users are not affected.
-- Raises restrict_violation (23001) unless this transaction has recorded the change staff.suspend,
-- staff.disable or staff.enable.
CREATE OR REPLACE FUNCTION players_staff_demand_status() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM players_staff WHERE user_id = OLD.id) AND NOT players_staff_changes(OLD.id, 'staff.suspend', 'staff.disable', 'staff.enable') THEN
        RAISE EXCEPTION 'nobody approved that user % is disabled or enabled', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse to remove the last second factor of a staff account without approval. Trigger function,
-- AFTER DELETE on mfa_authenticator, per statement. Staff may remove a factor while they keep
-- another one.
-- Raises restrict_violation (23001) unless this transaction has recorded the change staff.factors.
-- Locks the users first, so that two concurrent removals see each other.
CREATE OR REPLACE FUNCTION players_staff_demand_reset() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    login bigint;
BEGIN
    PERFORM FROM players_user WHERE id IN (SELECT user_id FROM gone) ORDER BY id FOR NO KEY UPDATE;
    FOR login IN
        SELECT DISTINCT gone.user_id FROM gone JOIN players_staff AS s ON s.user_id = gone.user_id WHERE gone.type IN ('totp', 'webauthn')
    LOOP
        IF NOT EXISTS (SELECT FROM mfa_authenticator WHERE user_id = login AND type IN ('totp', 'webauthn'))
           AND NOT players_staff_changes(login, 'staff.factors') THEN
            RAISE EXCEPTION 'nobody approved that user % loses the last second factor', login USING ERRCODE = 'restrict_violation';
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- Return the state of a user's account as players_staff_change stores it; NULL for an unknown user.
-- Returns {"active": boolean, "roles": [name, ...], "factors": number of second factors}.
CREATE OR REPLACE FUNCTION players_staff_state(login bigint) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT jsonb_build_object(
        'active', u.is_active,
        'roles', coalesce((
            SELECT jsonb_agg(g.name ORDER BY g.name COLLATE "C") FROM players_user_groups AS m JOIN auth_group AS g ON g.id = m.group_id
            WHERE m.user_id = u.id), '[]'),
        'factors', (SELECT count(*) FROM mfa_authenticator AS a WHERE a.user_id = u.id AND a.type IN ('totp', 'webauthn')))
    FROM players_user AS u WHERE u.id = login;
$$;

-- Return the active staff members who may request or decide changes of staff accounts.
-- Returns one row per staff member and permission; `codename` is ask_staff or decide_staff.
CREATE OR REPLACE FUNCTION players_staff_holders() RETURNS TABLE (id bigint, user_id bigint, person uuid, codename varchar)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT DISTINCT s.id, s.user_id, s.person, p.codename
    FROM players_staff AS s
    JOIN players_user AS u ON u.id = s.user_id AND u.is_active
    JOIN players_user_groups AS m ON m.user_id = u.id
    JOIN auth_group_permissions AS held ON held.group_id = m.group_id
    JOIN auth_permission AS p ON p.id = held.permission_id AND p.codename IN ('ask_staff', 'decide_staff')
    JOIN django_content_type AS c ON c.id = p.content_type_id AND c.app_label = 'players';
$$;

-- Give a user exactly these roles.
-- `roles`: JSON array of group names.
-- Raises SB023 if it is empty or a role does not exist.
CREATE OR REPLACE FUNCTION players_staff_give_roles(login bigint, roles jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF jsonb_array_length(roles) = 0 OR EXISTS (
        SELECT FROM jsonb_array_elements_text(roles) AS wanted (name) WHERE NOT EXISTS (SELECT FROM auth_group AS g WHERE g.name = wanted.name))
    THEN
        RAISE EXCEPTION '% are not roles of this house', roles USING ERRCODE = 'SB023';
    END IF;
    DELETE FROM players_user_groups WHERE user_id = login AND group_id NOT IN (SELECT id FROM auth_group WHERE roles ? name);
    INSERT INTO players_user_groups (user_id, group_id) SELECT login, id FROM auth_group WHERE roles ? name ON CONFLICT DO NOTHING;
END $$;
REVOKE ALL ON FUNCTION players_staff_give_roles FROM PUBLIC;

-- Make a staff account for a user who has none, and record the change staff.make.
-- `login`: id of the user. `called`: name. `roles`: JSON array of group names. `same_person`:
-- person of another account of theirs, NULL for a new person. `approval`: id; NULL when the owner
-- makes the first accounts.
-- Returns the id of the staff account.
-- Raises SB023 if the user is unknown or a player, or a role does not exist.
CREATE OR REPLACE FUNCTION players_staff_make(login bigint, called text, roles jsonb, same_person uuid, approval bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before jsonb := players_staff_state(login);
    member bigint;
BEGIN
    IF before IS NULL OR EXISTS (SELECT FROM players_player WHERE user_id = login) THEN
        RAISE EXCEPTION 'user % is a player or nobody', login USING ERRCODE = 'SB023';
    END IF;
    INSERT INTO players_staff_change (user_id, approval_id, kind, before, after)
    VALUES (login, approval, 'staff.make', '{}', before || jsonb_build_object('active', true, 'roles', roles));
    INSERT INTO players_staff (user_id, name, person) VALUES (login, called, coalesce(same_person, gen_random_uuid())) RETURNING id INTO member;
    PERFORM players_staff_give_roles(login, roles);
    RETURN member;
END $$;
REVOKE ALL ON FUNCTION players_staff_make FROM PUBLIC;

-- Make the first staff accounts of an installation, or one that restores access when no other can.
-- For the owner of the database, on the command line; see `create_first` in players/staff/__init__.py.
-- Arguments, result and errors as for players_staff_make; `roles` is an array of group names.
CREATE OR REPLACE FUNCTION players_staff_found(login bigint, called text, roles text[], same_person uuid) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT players_staff_make(login, called, to_jsonb(roles), same_person, NULL);
$$;
REVOKE ALL ON FUNCTION players_staff_found FROM PUBLIC;

-- Change a staff account as an approval says, and record the change.
-- `action`: staff.roles, staff.disable, staff.enable or staff.factors. `subject`: the staff account.
-- `wish`: the request of the approval; for staff.roles it has `from` and `roles`.
-- Raises SB023 if nothing would change, the roles are no longer `from`, or a role does not exist.
CREATE OR REPLACE FUNCTION players_staff_alter(action text, subject players_staff, wish jsonb, approval bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before jsonb := players_staff_state(subject.user_id);
    after jsonb := before || CASE action
        WHEN 'staff.roles' THEN jsonb_build_object('roles', wish -> 'roles')
        WHEN 'staff.disable' THEN '{"active": false}'
        WHEN 'staff.enable' THEN '{"active": true}'
        WHEN 'staff.factors' THEN '{"factors": 0}'
    END;
BEGIN
    IF after = before OR (action = 'staff.roles' AND wish -> 'from' IS DISTINCT FROM before -> 'roles') THEN
        RAISE EXCEPTION 'staff % is not any more as it was when % was asked for', subject.id, action USING ERRCODE = 'SB023';
    END IF;
    INSERT INTO players_staff_change (user_id, approval_id, kind, before, after) VALUES (subject.user_id, approval, action, before, after);
    CASE action
        WHEN 'staff.roles' THEN PERFORM players_staff_give_roles(subject.user_id, wish -> 'roles');
        WHEN 'staff.factors' THEN DELETE FROM mfa_authenticator WHERE user_id = subject.user_id;
        ELSE UPDATE players_user SET is_active = (action = 'staff.enable') WHERE id = subject.user_id;
    END CASE;
END $$;
REVOKE ALL ON FUNCTION players_staff_alter FROM PUBLIC;

-- Suspend a staff account at once, as an open request says. `players_staff_execute` ends the
-- suspension: another person confirms or refuses it.
-- `approval`: id of a request of the kind staff.suspend that waits for a decision.
-- Returns the id of the staff account.
-- Raises SB020 if the request does not wait, or was executed; SB021, SB024, SB025, SB026 and SB027 as in
-- the list above; SB023 if the account is not active.
-- Of those who decide about staff accounts only one is suspended at a time. Otherwise one person, or one
-- forged request after another, could suspend all of them but an accomplice, who confirms it.
-- Takes the advisory lock of all staff changes: two people who suspend each other at the same time do
-- not both succeed, and somebody who can decide remains.
CREATE OR REPLACE FUNCTION players_staff_suspend(approval bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    asked audit_approval%ROWTYPE;
    subject players_staff%ROWTYPE;
    before jsonb;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('players_staff', 0));
    SELECT * INTO asked FROM audit_approval WHERE id = approval AND kind = 'staff.suspend' AND expires_at > clock_timestamp();
    IF asked.id IS NULL OR EXISTS (SELECT FROM audit_decision WHERE approval_id = approval)
       OR EXISTS (SELECT FROM players_staff_change WHERE approval_id = approval)
    THEN
        RAISE EXCEPTION 'request % does not wait, or was executed', approval USING ERRCODE = 'SB020';
    END IF;
    IF NOT EXISTS (
        SELECT FROM players_staff_holders() AS h WHERE asked."by" = 'staff:' || h.id AND h.person = asked.person AND h.codename = 'ask_staff')
    THEN
        RAISE EXCEPTION 'who asked for % may not', approval USING ERRCODE = 'SB024';
    END IF;
    SELECT * INTO STRICT subject FROM players_staff WHERE id = (asked.request::jsonb ->> 'staff')::bigint;
    IF subject.person = asked.person THEN
        RAISE EXCEPTION 'request % is about the person who made it', approval USING ERRCODE = 'SB021';
    END IF;
    IF NOT EXISTS (
        SELECT FROM players_staff_holders() AS h WHERE h.codename = 'decide_staff' AND h.person NOT IN (asked.person, subject.person))
    THEN
        RAISE EXCEPTION 'nobody could decide about the suspension %', approval USING ERRCODE = 'SB025';
    END IF;
    IF EXISTS (
        SELECT FROM players_staff_holders() AS h WHERE h.codename = 'decide_staff' AND h.person = subject.person)
       AND EXISTS (
        SELECT FROM (
            SELECT DISTINCT ON (c.user_id) c.user_id, c.kind FROM players_staff_change AS c
            WHERE c.kind IN ('staff.suspend', 'staff.disable', 'staff.enable') ORDER BY c.user_id, c.id DESC) AS latest
        JOIN players_user_groups AS m ON m.user_id = latest.user_id
        JOIN auth_group_permissions AS held ON held.group_id = m.group_id
        JOIN auth_permission AS p ON p.id = held.permission_id AND p.codename = 'decide_staff'
        JOIN django_content_type AS t ON t.id = p.content_type_id AND t.app_label = 'players'
        WHERE latest.kind = 'staff.suspend')
    THEN
        RAISE EXCEPTION 'another person who decides is suspended, and % waits for that', approval USING ERRCODE = 'SB027';
    END IF;
    IF EXISTS (
        SELECT FROM players_staff_change AS c JOIN players_staff AS s ON s.user_id = c.user_id
        JOIN audit_approval AS a ON a.id = c.approval_id JOIN audit_decision AS d ON d.approval_id = a.id
        WHERE c.kind = 'staff.suspend' AND s.person = subject.person AND a.person = asked.person AND d.verdict = 'refused'
          AND d.at > clock_timestamp() - interval '30 days')
    THEN
        RAISE EXCEPTION 'a suspension like % was refused', approval USING ERRCODE = 'SB026';
    END IF;
    before := players_staff_state(subject.user_id);
    IF NOT (before -> 'active')::boolean THEN
        RAISE EXCEPTION 'staff % is not active', subject.id USING ERRCODE = 'SB023';
    END IF;
    INSERT INTO players_staff_change (user_id, approval_id, kind, before, after)
    VALUES (subject.user_id, approval, 'staff.suspend', before, before || '{"active": false}');
    UPDATE players_user SET is_active = false WHERE id = subject.user_id;
    RETURN subject.id;
END $$;
REVOKE ALL ON FUNCTION players_staff_suspend FROM PUBLIC;

-- End a suspension as its request was decided: the account stays disabled, or is active again. Records
-- the change staff.disable or staff.enable with the same approval.
-- Raises SB023 if the suspension is not the last change of the account's status.
CREATE OR REPLACE FUNCTION players_staff_end_suspension(subject players_staff, approval bigint, is_confirmed boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before jsonb := players_staff_state(subject.user_id);
BEGIN
    IF (
        SELECT c.approval_id FROM players_staff_change AS c
        WHERE c.user_id = subject.user_id AND c.kind IN ('staff.suspend', 'staff.disable', 'staff.enable') ORDER BY c.id DESC LIMIT 1
    ) IS DISTINCT FROM approval THEN
        RAISE EXCEPTION 'staff % is not suspended by % any more', subject.id, approval USING ERRCODE = 'SB023';
    END IF;
    INSERT INTO players_staff_change (user_id, approval_id, kind, before, after)
    VALUES (
        subject.user_id, approval, CASE WHEN is_confirmed THEN 'staff.disable' ELSE 'staff.enable' END, before,
        before || jsonb_build_object('active', NOT is_confirmed));
    IF NOT is_confirmed THEN
        UPDATE players_user SET is_active = true WHERE id = subject.user_id;
    END IF;
END $$;
REVOKE ALL ON FUNCTION players_staff_end_suspension FROM PUBLIC;

-- Execute an approval about a staff account, once. A suspension is also ended by a refusal.
-- `approval`: its id. `login`: for staff.make, id of a new user with the approved e-mail address
-- and no password.
-- Returns the id of the staff account.
-- Raises SB020, SB021, SB023, SB024 as in the list above.
-- Locks one advisory lock of all staff changes, so that two people cannot disable each other at the
-- same time.
--
-- Both people must still hold their permissions, and the approval is about neither of them. So at
-- least two people remain who can manage staff accounts. To refuse a suspension, only the second
-- person needs the permission.
CREATE OR REPLACE FUNCTION players_staff_execute(approval bigint, login bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    asked audit_approval%ROWTYPE;
    decided audit_decision%ROWTYPE;
    subject players_staff%ROWTYPE;
    wish jsonb;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('players_staff', 0));
    SELECT * INTO asked FROM audit_approval WHERE id = approval AND kind LIKE 'staff.%';
    SELECT * INTO decided FROM audit_decision
    WHERE approval_id = asked.id AND (verdict = 'approved' OR (verdict = 'refused' AND asked.kind = 'staff.suspend'));
    IF decided.approval_id IS NULL OR EXISTS (SELECT FROM players_staff_change WHERE approval_id = approval AND kind <> 'staff.suspend') THEN
        RAISE EXCEPTION 'approval % is not there, not approved, or done already', approval USING ERRCODE = 'SB020';
    END IF;
    IF (decided.verdict = 'approved'
            AND NOT EXISTS (SELECT FROM players_staff_holders() AS h WHERE asked."by" = 'staff:' || h.id AND h.codename = 'ask_staff'))
       OR NOT EXISTS (SELECT FROM players_staff_holders() AS h WHERE decided."by" = 'staff:' || h.id AND h.codename = 'decide_staff')
    THEN
        RAISE EXCEPTION 'who asked for % or who decided it may not', approval USING ERRCODE = 'SB024';
    END IF;
    wish := asked.request::jsonb;
    IF asked.kind = 'staff.make' THEN
        SELECT * INTO subject FROM players_staff WHERE person = (wish ->> 'person')::uuid ORDER BY id LIMIT 1;
        IF (wish ->> 'person') IS DISTINCT FROM subject.person::text OR NOT EXISTS (
            SELECT FROM players_user WHERE id = login AND email = wish ->> 'email' AND password LIKE '!%' AND is_active
                AND last_login IS NULL FOR UPDATE)
        THEN
            RAISE EXCEPTION 'user % is not who approval % speaks of', login, approval USING ERRCODE = 'SB023';
        END IF;
    ELSE
        SELECT * INTO STRICT subject FROM players_staff WHERE id = (wish ->> 'staff')::bigint;
    END IF;
    IF subject.person IN (asked.person, decided.person) THEN
        RAISE EXCEPTION 'approval % is about a person who asked for it or decided it', approval USING ERRCODE = 'SB021';
    END IF;
    IF asked.kind = 'staff.make' THEN
        RETURN players_staff_make(login, wish ->> 'name', wish -> 'roles', subject.person, approval);
    END IF;
    IF asked.kind = 'staff.suspend' THEN
        PERFORM players_staff_end_suspension(subject, approval, decided.verdict = 'approved');
    ELSE
        PERFORM players_staff_alter(asked.kind, subject, wish, approval);
    END IF;
    RETURN subject.id;
END $$;
REVOKE ALL ON FUNCTION players_staff_execute FROM PUBLIC;

-- Return whether a staff account belongs to a person, is active, and has a role with a permission.
-- `account`: 'staff:<id>'. `app` and `codename`: the permission.
CREATE OR REPLACE FUNCTION players_staff_may(account text, person uuid, app text, codename text) RETURNS boolean
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
