-- Cases: what staff examine about a player. Only these functions write players_case and players_case_entry. Each action
-- is an entry of the history and an event of the log: one of kind marker.* about the player for markers of harm, one
-- of kind case.* about the case for all others, because players read the events about themselves and may not know of a
-- suspicion.

-- Return the permission for cases of a kind, as app and codename.
CREATE OR REPLACE FUNCTION players_case_permission(kind text) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE kind WHEN 'marker' THEN '{players,see_flags}' WHEN 'duplicate' THEN '{players,review_identity}' ELSE '{audit,handle_significant}' END::text[]
$$;

-- Return the closing reasons of a kind of case.
CREATE OR REPLACE FUNCTION players_case_outcomes(kind text) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE kind
        WHEN 'marker' THEN '{no_concern,talked,limited,excluded}'
        WHEN 'screening' THEN '{other_person,reported,ended}'
        WHEN 'duplicate' THEN '{same,different}'
        ELSE '{no_concern,explained,reported,ended}' END::text[]
$$;

-- Return whether a staff member may work on cases of a kind.
CREATE OR REPLACE FUNCTION players_may_work_case(staff bigint, kind text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM players_staff AS s, players_case_permission(kind) AS needed (permission)
        WHERE s.id = staff AND players_staff_may('staff:' || s.id, s.person, needed.permission[1], needed.permission[2]))
$$;

-- Add an entry to a case, and its event to the log. The event has everything but the text, which may be about a person.
-- The event of a marker is about the player and so in their own export; that of a suspicion is about the case and is not.
-- `target`: the column "to" of the entry. `words`: its text.
CREATE OR REPLACE FUNCTION players_enter_case(about players_case, who text, action text, target text, words text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    entry bigint;
    event_kind text := CASE about.kind WHEN 'marker' THEN 'marker.' ELSE 'case.' END || action;
    subject text := CASE about.kind WHEN 'marker' THEN 'player:' || about.player_id ELSE 'case:' || about.id END;
BEGIN
    INSERT INTO players_case_entry (case_id, "by", action, "to", text) VALUES (about.id, who, action, target, btrim(words))
    RETURNING id INTO entry;
    PERFORM audit_write(event_kind, who, subject, format(
        '{"by":%s,"data":{"case":%s,"entry":%s,"kind":%s,"player":"player:%s","subject":%s,"to":%s},"kind":%s,"on":%s}', to_json(who),
        about.id, entry, to_json(about.kind::text), about.player_id, to_json(about.subject::text), to_json(target), to_json(event_kind),
        to_json(subject)), NULL);
END $$;
REVOKE ALL ON FUNCTION players_enter_case FROM PUBLIC;

-- Insert a case with its first entry. Returns the id of the case, NULL if one of the same kind and subject is open.
CREATE OR REPLACE FUNCTION players_begin_case(
    player bigint, kind text, subject text, who text, due timestamptz, words text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    made players_case;
BEGIN
    INSERT INTO players_case (player_id, kind, subject, opened_by, due_at, holds, outcome)
    VALUES (player, kind, subject, who, date_trunc('second', due), kind IN ('aml', 'screening'), '')
    ON CONFLICT (player_id, kind, subject) WHERE closed_at IS NULL DO NOTHING RETURNING * INTO made;
    IF made.id IS NOT NULL THEN
        PERFORM players_enter_case(made, who, 'opened', to_char(made.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), words);
    END IF;
    RETURN made.id;
END $$;
REVOKE ALL ON FUNCTION players_begin_case FROM PUBLIC;

-- Open a case: of a marker of harm by the system, of the source of funds by a staff member
-- with a reason. AML alerts open theirs themselves (players_open_aml_case), and so does the screening (players_screen).
-- `staff`: the staff member, NULL for the system. `due`: the deadline, NULL: 7 days.
-- Returns the id of the case, NULL if one of the same kind and subject is open.
-- Raises SB150 if the staff member lacks the permission, SB152 for another kind, a missing reason or a past deadline.
CREATE OR REPLACE FUNCTION players_open_case(
    player bigint, kind text, subject text, staff bigint, due timestamptz, words text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF staff IS NOT NULL AND NOT players_may_work_case(staff, kind) THEN
        RAISE EXCEPTION 'staff % may not open a case of kind %', staff, kind USING ERRCODE = 'SB150';
    END IF;
    IF (kind = 'funds' AND staff IS NOT NULL AND btrim(words) <> '' AND subject = '' OR kind = 'marker' AND staff IS NULL)
        IS NOT TRUE OR due < clock_timestamp()
    THEN
        RAISE EXCEPTION 'no case of kind % begins so', kind USING ERRCODE = 'SB152';
    END IF;
    RETURN players_begin_case(
        player, kind, subject, coalesce('staff:' || staff, 'system'), coalesce(due, clock_timestamp() + interval '7 days'), words);
END $$;
REVOKE ALL ON FUNCTION players_open_case FROM PUBLIC;

-- Open the case of an AML alert about a player. Trigger function, AFTER INSERT on audit_significant.
CREATE OR REPLACE FUNCTION players_open_aml_case() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW."on" ~ '^player:[0-9]{1,18}$' THEN
        PERFORM players_begin_case(
            substr(NEW."on", 8)::bigint, 'aml', 'significant:' || NEW.id, 'system', clock_timestamp() + interval '7 days', NEW.title);
    END IF;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION players_open_aml_case FROM PUBLIC;

-- Open the case of two players who may be one person, or add the next ground to it. It belongs to the player who registered
-- later. Trigger function, AFTER INSERT on players_duplicate.
CREATE OR REPLACE FUNCTION players_open_duplicate_case() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held players_case;
BEGIN
    IF players_begin_case(
        NEW.second_id, 'duplicate', 'player:' || NEW.first_id, 'system', clock_timestamp() + interval '7 days', NEW.ground) IS NULL
    THEN
        SELECT * INTO held FROM players_case AS c
        WHERE (c.player_id, c.kind, c.subject) = (NEW.second_id, 'duplicate', 'player:' || NEW.first_id) AND c.closed_at IS NULL;
        PERFORM players_enter_case(held, 'system', 'noted', '', NEW.ground);
    END IF;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION players_open_duplicate_case FROM PUBLIC;

-- Close the case of two players when the last ground is resolved, with the finding as its closing reason, and correct the
-- reason when staff correct the finding. Trigger function, AFTER UPDATE OF resolution on players_duplicate.
CREATE OR REPLACE FUNCTION players_close_duplicate_case() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held players_case;
    who text := 'staff:' || NEW.resolved_by_id;
BEGIN
    SELECT * INTO held FROM players_case AS c
    WHERE (c.player_id, c.kind, c.subject) = (NEW.second_id, 'duplicate', 'player:' || NEW.first_id) ORDER BY c.id DESC LIMIT 1 FOR UPDATE;
    IF NOT FOUND OR held.outcome = NEW.resolution OR EXISTS (
        SELECT FROM players_duplicate AS d WHERE (d.first_id, d.second_id, d.resolution) = (NEW.first_id, NEW.second_id, ''))
    THEN
        RETURN NULL;
    END IF;
    IF held.closed_at IS NOT NULL THEN
        PERFORM players_enter_case(held, who, 'reopened', '', '');
    END IF;
    UPDATE players_case AS c SET closed_at = clock_timestamp(), closed_by_id = NEW.resolved_by_id, outcome = NEW.resolution WHERE c.id = held.id;
    PERFORM players_enter_case(held, who, 'closed', NEW.resolution, NEW.note);
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION players_close_duplicate_case FROM PUBLIC;

-- Take an action on a case, for a staff member who holds the permission for its kind.
-- `target`: assigned: "staff:3", who holds it too, or empty; due: a time; linked: a subject as in events, to a marker,
-- which the player reads, no case of another kind; closed: the outcome, but of a duplicate, which ends with its finding. `words`: a text; needed for a note, a hold, a reopening, and the closing of every case but of a marker.
-- Raises SB150 if the staff member lacks the permission, SB151 if the case is closed or, to reopen it, open, or if
-- another one of the same kind and subject is open; SB152 if `target` or `words` does not fit, SB153 for a
-- marker that is closed without a contact, SB155 for a case of screening that no two people close.
CREATE OR REPLACE FUNCTION players_move_case("case" bigint, staff bigint, action text, target text, words text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held players_case;
    fits boolean;
BEGIN
    SELECT * INTO STRICT held FROM players_case AS c WHERE c.id = players_move_case."case" FOR UPDATE;
    IF NOT players_may_work_case(staff, held.kind) THEN
        RAISE EXCEPTION 'staff % may not work on case %', staff, held.id USING ERRCODE = 'SB150';
    END IF;
    IF (held.closed_at IS NULL) = (action = 'reopened') OR action = 'reopened' AND EXISTS (
        SELECT FROM players_case AS c
        WHERE (c.player_id, c.kind, c.subject) = (held.player_id, held.kind, held.subject) AND c.closed_at IS NULL)
    THEN
        RAISE EXCEPTION 'case % is so already', held.id USING ERRCODE = 'SB151';
    END IF;
    fits := CASE action
        WHEN 'assigned' THEN target = '' OR target ~ '^staff:[0-9]{1,18}$' AND players_may_work_case(substr(target, 7)::bigint, held.kind)
        WHEN 'due' THEN target ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$' AND pg_input_is_valid(target, 'timestamptz')
            AND target::timestamptz > clock_timestamp()
        WHEN 'noted' THEN target = '' AND btrim(words) <> ''
        WHEN 'linked' THEN target ~ '^((player|withdrawal|table|journal|conversation|case):\d{1,18}|(round|deposit):[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$'
            AND (held.kind <> 'marker' OR target !~ '^case:' OR EXISTS (
                SELECT FROM players_case AS c WHERE c.id = substring(target from '^case:(\d+)$')::bigint AND c.kind = 'marker'))
        WHEN 'held' THEN target = '' AND held.kind <> 'marker' AND NOT held.holds AND btrim(words) <> ''
        WHEN 'closed' THEN target = ANY (players_case_outcomes(held.kind)) AND (held.kind = 'marker' OR btrim(words) <> '')
        WHEN 'reopened' THEN target = '' AND btrim(words) <> ''
        END;
    IF fits IS NOT TRUE OR held.kind = 'duplicate' AND action IN ('closed', 'reopened') THEN
        RAISE EXCEPTION 'case %: % does not fit', held.id, action USING ERRCODE = 'SB152';
    END IF;
    IF action = 'closed' AND held.kind = 'marker' AND NOT EXISTS (SELECT FROM players_contact AS c WHERE c.case_id = held.id) THEN
        RAISE EXCEPTION 'case % has no contact', held.id USING ERRCODE = 'SB153';
    END IF;
    IF action = 'closed' AND held.kind = 'screening' AND NOT players_two_close_case(held.id, staff, target) THEN
        RAISE EXCEPTION 'closing case % takes two people', held.id USING ERRCODE = 'SB155';
    END IF;
    UPDATE players_case AS c SET
        owner_id = CASE action WHEN 'assigned' THEN nullif(substr(target, 7), '')::bigint ELSE c.owner_id END,
        due_at = CASE action WHEN 'due' THEN target::timestamptz ELSE c.due_at END,
        holds = c.holds OR action = 'held',
        closed_at = CASE action WHEN 'closed' THEN clock_timestamp() WHEN 'reopened' THEN NULL ELSE c.closed_at END,
        closed_by_id = CASE action WHEN 'closed' THEN staff WHEN 'reopened' THEN NULL ELSE c.closed_by_id END,
        outcome = CASE action WHEN 'closed' THEN target WHEN 'reopened' THEN '' ELSE c.outcome END
    WHERE c.id = held.id;
    PERFORM players_enter_case(held, 'staff:' || staff, action, target, words);
END $$;
REVOKE ALL ON FUNCTION players_move_case FROM PUBLIC;

-- Allow one change of an entry: its text is emptied after the account was erased. Trigger function, BEFORE UPDATE on
-- players_case_entry.
-- Raises restrict_violation (23001) for any other change.
CREATE OR REPLACE FUNCTION players_keep_case_entry() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.text = '' AND players_case_is_erased(OLD.case_id) AND to_jsonb(NEW) - 'text' = to_jsonb(OLD) - 'text' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of players_case_entry are never changed before the account is erased' USING ERRCODE = 'restrict_violation';
END $$;
