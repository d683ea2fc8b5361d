-- Cases: what staff examine about a player. Only these functions write players_case and players_case_entry. Each action
-- is an entry of the history and an event of the log: one of kind marker.* or complaint.* about the player for markers of
-- harm and complaints, one of kind case.* about the case for all others, because players read the events about themselves
-- and may not know of a suspicion.

-- Return the permission for cases of a kind, as app and codename.
CREATE OR REPLACE FUNCTION players_case_permission(kind text) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE kind WHEN 'marker' THEN '{players,see_flags}' WHEN 'duplicate' THEN '{players,review_identity}'
        WHEN 'complaint' THEN '{players,answer_service}' ELSE '{audit,handle_significant}' END::text[]
$$;

-- Return the closing reasons of a kind of case.
CREATE OR REPLACE FUNCTION players_case_outcomes(kind text) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE kind
        WHEN 'marker' THEN '{no_concern,talked,limited,excluded}'
        WHEN 'screening' THEN '{other_person,reported,ended}'
        WHEN 'duplicate' THEN '{same,different}'
        WHEN 'complaint' THEN '{upheld,partly,rejected}'
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
-- The event of a marker or a complaint is about the player and so in their own export; that of a suspicion is about the case
-- and is not.
-- `target`: the column "to" of the entry. `words`: its text.
CREATE OR REPLACE FUNCTION players_enter_case(about players_case, who text, action text, target text, words text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    entry bigint;
    event_kind text := CASE WHEN about.kind IN ('marker', 'complaint') THEN about.kind ELSE 'case' END || '.' || action;
    subject text := CASE WHEN about.kind IN ('marker', 'complaint') THEN 'player:' || about.player_id ELSE 'case:' || about.id END;
BEGIN
    INSERT INTO players_case_entry (case_id, "by", action, "to", text) VALUES (about.id, who, action, target, btrim(words))
    RETURNING id INTO entry;
    PERFORM audit_write(event_kind, who, subject, format(
        '{"by":%s,"data":{"case":%s,"entry":%s,"kind":%s,"player":"player:%s","subject":%s,"to":%s},"kind":%s,"on":%s}', to_json(who),
        about.id, entry, to_json(about.kind::text), about.player_id, to_json(about.subject::text), to_json(target), to_json(event_kind),
        to_json(subject)), NULL);
END $$;
REVOKE ALL ON FUNCTION players_enter_case FROM PUBLIC;

-- Return a moment as entries of cases write it.
CREATE OR REPLACE FUNCTION players_case_moment(at timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;

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
        PERFORM players_enter_case(made, who, 'opened', players_case_moment(made.due_at), words);
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

-- Lock a case and return it. The conversation of a complaint is locked first, as by everybody who writes in it.
-- Raises no_data_found (P0002) if there is none.
CREATE OR REPLACE FUNCTION players_lock_case("case" bigint) RETURNS players_case
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held players_case;
BEGIN
    PERFORM FROM players_conversation AS v
    WHERE v.id = (
        SELECT substr(c.subject, 14)::bigint FROM players_case AS c WHERE c.id = players_lock_case."case" AND c.kind = 'complaint')
    FOR UPDATE;
    SELECT * INTO STRICT held FROM players_case AS c WHERE c.id = players_lock_case."case" FOR UPDATE;
    RETURN held;
END $$;
REVOKE ALL ON FUNCTION players_lock_case FROM PUBLIC;

-- Open the case of a complaint, which is to be decided within the days of the player's jurisdiction, and link its round.
-- Trigger function, AFTER INSERT on players_conversation.
-- Raises restrict_violation (23001) unless it is new.
CREATE OR REPLACE FUNCTION players_open_complaint() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    who text := 'player:' || NEW.player_id;
    made bigint;
BEGIN
    IF NEW.state <> 'received' OR NEW.reopen_until IS NOT NULL THEN
        RAISE EXCEPTION 'complaint % begins so', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    made := players_begin_case(NEW.player_id, 'complaint', 'conversation:' || NEW.id, who, least(NEW.began_at, clock_timestamp()) + (
        SELECT make_interval(days => j.complaint_days)
        FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id WHERE p.id = NEW.player_id), '');
    IF NEW.round_id IS NOT NULL THEN
        PERFORM players_enter_case(c, who, 'linked', 'round:' || NEW.round_id, '') FROM players_case AS c WHERE c.id = made;
    END IF;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION players_open_complaint FROM PUBLIC;

-- Close or reopen the locked case of a complaint, and its conversation. `words` become its next message, of the same moment as
-- the entry.
-- `staff`: who decides or reopens it, NULL: the player. A decision can be contested for the days of the player's
-- jurisdiction. A reopened complaint has no owner, and the deadline of a new one.
CREATE OR REPLACE FUNCTION players_turn_complaint(held players_case, staff bigint, action text, outcome text, words text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    who text := coalesce('staff:' || staff, 'player:' || held.player_id);
    conversation bigint := substr(held.subject, 14)::bigint;
    at timestamptz := clock_timestamp();
    closes boolean := action = 'closed';
    next_owner bigint := CASE WHEN NOT closes THEN NULL ELSE coalesce(staff, held.owner_id) END;
    rule players_jurisdiction;
    next_due timestamptz := held.due_at;
BEGIN
    SELECT j.* INTO STRICT rule FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE p.id = held.player_id;
    IF NOT closes THEN
        next_due := date_trunc('second', at + make_interval(days => rule.complaint_days));
    END IF;
    UPDATE players_case AS c SET
        owner_id = next_owner, due_at = next_due, closed_at = CASE WHEN closes THEN at END,
        closed_by_id = CASE WHEN closes THEN staff END, outcome = players_turn_complaint.outcome
    WHERE c.id = held.id;
    IF next_owner IS DISTINCT FROM held.owner_id THEN
        PERFORM players_enter_case(held, who, 'assigned', coalesce('staff:' || next_owner, ''), '');
    END IF;
    PERFORM players_enter_case(held, who, action, outcome, words);
    IF words <> '' THEN
        INSERT INTO players_servicemessage (conversation_id, staff_id, text, at)
        SELECT conversation, staff, words, e.at FROM players_case_entry AS e WHERE e.case_id = held.id ORDER BY e.id DESC LIMIT 1;
    END IF;
    IF NOT closes THEN
        PERFORM players_enter_case(held, who, 'due', players_case_moment(next_due), '');
    END IF;
    UPDATE players_conversation AS v SET
        state = CASE WHEN closes THEN 'closed' ELSE 'reopened' END, is_unread = staff IS NOT NULL, changed_at = at,
        reopen_until = CASE WHEN closes AND staff IS NOT NULL THEN at + make_interval(days => rule.reopen_days) END
    WHERE v.id = conversation;
END $$;
REVOKE ALL ON FUNCTION players_turn_complaint FROM PUBLIC;

-- Close ("closed") a player's own complaint, or reopen ("reopened") it, with the reason in `words`, while a decision can be
-- contested.
-- Raises SB151 if it is closed or, to reopen it, open or no longer contestable; SB152 for another action or without a reason.
CREATE OR REPLACE FUNCTION players_turn_own_complaint("case" bigint, action text, words text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held players_case := players_lock_case("case");
BEGIN
    IF held.kind <> 'complaint' OR (action = 'closed' AND words = '' OR action = 'reopened' AND btrim(words) <> '') IS NOT TRUE THEN
        RAISE EXCEPTION 'case %: % does not fit', held.id, action USING ERRCODE = 'SB152';
    END IF;
    IF (held.closed_at IS NULL) = (action = 'reopened') OR action = 'reopened' AND NOT EXISTS (
        SELECT FROM players_conversation AS v
        WHERE v.id = substr(held.subject, 14)::bigint AND v.reopen_until > clock_timestamp())
    THEN
        RAISE EXCEPTION 'complaint % is so already', held.id USING ERRCODE = 'SB151';
    END IF;
    PERFORM players_turn_complaint(held, NULL, action, CASE action WHEN 'closed' THEN 'by_player' ELSE '' END, words);
END $$;
REVOKE ALL ON FUNCTION players_turn_own_complaint FROM PUBLIC;

-- Enter in each complaint and each check of the source of funds that is newly past its deadline that it is overdue, once for
-- each deadline. Payouts of a player who has not sent documents that such a check asked for are held from then on. Returns
-- the number.
CREATE OR REPLACE FUNCTION players_enter_overdue() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    late bigint;
    held players_case;
    entered integer := 0;
BEGIN
    FOR late IN
        SELECT c.id FROM players_case AS c
        WHERE c.closed_at IS NULL AND c.due_at < clock_timestamp() AND c.kind IN ('complaint', 'funds') AND NOT EXISTS (
            SELECT FROM players_case_entry AS e WHERE (e.case_id, e.action, e."to") = (c.id, 'overdue', players_case_moment(c.due_at)))
        ORDER BY c.due_at, c.id
    LOOP
        held := players_lock_case(late);
        IF held.closed_at IS NULL AND held.due_at < clock_timestamp() AND NOT EXISTS (
            SELECT FROM players_case_entry AS e WHERE (e.case_id, e.action, e."to") = (held.id, 'overdue', players_case_moment(held.due_at)))
        THEN
            PERFORM players_enter_case(held, 'system', 'overdue', players_case_moment(held.due_at), '');
            entered := entered + 1;
            IF held.kind = 'funds' AND NOT held.holds AND EXISTS (
                SELECT FROM players_requested_document AS r WHERE r.case_id = held.id AND r.state IN ('asked', 'refused'))
            THEN
                UPDATE players_case AS c SET holds = true WHERE c.id = held.id;
                PERFORM players_enter_case(held, 'system', 'held', '', '');
            END IF;
        END IF;
    END LOOP;
    RETURN entered;
END $$;
REVOKE ALL ON FUNCTION players_enter_overdue FROM PUBLIC;

-- Ask the player of a case about the source of funds for a document, as a staff member. `note`: a text for the player.
-- Returns the id of the request.
-- Raises SB150 if the staff member lacks the permission, SB151 if the case is closed, SB152 for a case of another kind or
-- another kind of document.
CREATE OR REPLACE FUNCTION players_ask_document("case" bigint, staff bigint, paper text, note text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held players_case := players_lock_case("case");
    made bigint;
BEGIN
    IF NOT players_may_work_case(staff, held.kind) THEN
        RAISE EXCEPTION 'staff % may not work on case %', staff, held.id USING ERRCODE = 'SB150';
    END IF;
    IF held.closed_at IS NOT NULL THEN
        RAISE EXCEPTION 'case % is closed', held.id USING ERRCODE = 'SB151';
    END IF;
    IF held.kind <> 'funds' OR paper NOT IN ('payslip', 'bank', 'tax', 'sale', 'other') OR paper = 'other' AND btrim(note) = '' THEN
        RAISE EXCEPTION 'case % asks for no %', held.id, paper USING ERRCODE = 'SB152';
    END IF;
    INSERT INTO players_requested_document (case_id, paper, note, state, reason) VALUES (held.id, paper, btrim(note), 'asked', '')
    RETURNING id INTO made;
    PERFORM players_enter_case(held, 'staff:' || staff, 'asked', paper, note);
    RETURN made;
END $$;
REVOKE ALL ON FUNCTION players_ask_document FROM PUBLIC;

-- Record that a player has sent a document that they were asked for. `document`: its id, stored with its content before.
-- Raises SB151 if the case is closed or the document is there already, SB152 if it is not a document of the request.
CREATE OR REPLACE FUNCTION players_receive_document(request bigint, document uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    asked players_requested_document;
    held players_case;
BEGIN
    held := players_lock_case((SELECT r.case_id FROM players_requested_document AS r WHERE r.id = request));
    SELECT * INTO STRICT asked FROM players_requested_document AS r WHERE r.id = request FOR UPDATE;
    IF held.closed_at IS NOT NULL OR asked.state NOT IN ('asked', 'refused') THEN
        RAISE EXCEPTION 'request % waits for no document', request USING ERRCODE = 'SB151';
    END IF;
    IF NOT EXISTS (
        SELECT FROM players_document AS d JOIN players_documentcontent AS s ON s.document_id = d.id
        WHERE d.id = document AND d.request_id = request)
    THEN
        RAISE EXCEPTION 'request % has no document %', request, document USING ERRCODE = 'SB152';
    END IF;
    UPDATE players_requested_document AS r SET state = 'received', reason = '' WHERE r.id = request;
    PERFORM players_enter_case(held, 'player:' || held.player_id, 'received', asked.paper, '');
END $$;
REVOKE ALL ON FUNCTION players_receive_document FROM PUBLIC;

-- Accept or refuse the document that a player has sent, as a staff member. `reason`: why it is refused, for the player.
-- Raises SB150 if the staff member lacks the permission, SB151 if the case is closed or no document waits, SB152 for a
-- refusal without a reason.
CREATE OR REPLACE FUNCTION players_review_document(request bigint, staff bigint, accepts boolean, reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    asked players_requested_document;
    held players_case;
BEGIN
    held := players_lock_case((SELECT r.case_id FROM players_requested_document AS r WHERE r.id = request));
    SELECT * INTO STRICT asked FROM players_requested_document AS r WHERE r.id = request FOR UPDATE;
    IF NOT players_may_work_case(staff, held.kind) THEN
        RAISE EXCEPTION 'staff % may not work on case %', staff, held.id USING ERRCODE = 'SB150';
    END IF;
    IF held.closed_at IS NOT NULL OR asked.state <> 'received' THEN
        RAISE EXCEPTION 'request % has no document to review', request USING ERRCODE = 'SB151';
    END IF;
    IF (accepts OR btrim(reason) <> '') IS NOT TRUE THEN
        RAISE EXCEPTION 'a refusal has a reason' USING ERRCODE = 'SB152';
    END IF;
    UPDATE players_requested_document AS r SET
        state = CASE WHEN accepts THEN 'accepted' ELSE 'refused' END, reason = CASE WHEN accepts THEN '' ELSE btrim(players_review_document.reason) END
    WHERE r.id = request;
    IF NOT accepts THEN
        UPDATE players_document AS d SET refused_at = clock_timestamp() WHERE d.request_id = request AND d.refused_at IS NULL;
    END IF;
    PERFORM players_enter_case(
        held, 'staff:' || staff, CASE WHEN accepts THEN 'accepted' ELSE 'refused' END, asked.paper, CASE WHEN accepts THEN '' ELSE reason END);
END $$;
REVOKE ALL ON FUNCTION players_review_document FROM PUBLIC;

-- Note that the players are reminded whose documents are missing three days before the deadline of their case. Returns the
-- ids of their cases; each once for a request and a deadline.
CREATE OR REPLACE FUNCTION players_remind_of_documents() RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held players_case;
BEGIN
    FOR held IN
        SELECT c.* FROM players_case AS c
        WHERE c.closed_at IS NULL AND c.kind = 'funds' AND c.due_at BETWEEN clock_timestamp() AND clock_timestamp() + interval '3 days'
        ORDER BY c.id FOR UPDATE SKIP LOCKED
    LOOP
        UPDATE players_requested_document AS r SET reminded_at = clock_timestamp()
        WHERE r.case_id = held.id AND r.state IN ('asked', 'refused') AND r.reminded_at IS NULL;
        IF FOUND THEN
            PERFORM players_enter_case(held, 'system', 'reminded', '', '');
            RETURN NEXT held.id;
        END IF;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION players_remind_of_documents FROM PUBLIC;

-- Return whether a case may link to an object. The object must exist. Where the player reads the history, it must be their own
-- money, round or message, or a case that they know of. A round of a shared table belongs to no player, and one without a bet
-- of the player may be the subject of their complaint. Cases of other kinds may examine two people, so they may name any player.
-- A link shows the number alone: the page behind it asks for its own permission.
CREATE OR REPLACE FUNCTION players_case_may_link(held players_case, target text) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    is_read boolean := held.kind IN ('marker', 'complaint');
    what text := split_part(target, ':', 1);
    number bigint := CASE WHEN target ~ '^[a-z]+:\d{1,18}$' THEN split_part(target, ':', 2)::bigint END;
    key uuid := CASE WHEN what IN ('round', 'deposit') AND pg_input_is_valid(split_part(target, ':', 2), 'uuid')
        THEN split_part(target, ':', 2)::uuid END;
BEGIN
    RETURN CASE what
        WHEN 'player' THEN EXISTS (SELECT FROM players_player AS p WHERE p.id = number AND (NOT is_read OR p.id = held.player_id))
        WHEN 'conversation' THEN EXISTS (
            SELECT FROM players_conversation AS v WHERE v.id = number AND (NOT is_read OR v.player_id = held.player_id))
        WHEN 'case' THEN EXISTS (
            SELECT FROM players_case AS c
            WHERE c.id = number AND (NOT is_read OR c.player_id = held.player_id AND c.kind IN ('marker', 'complaint')))
        WHEN 'withdrawal' THEN EXISTS (
            SELECT FROM wallet_withdrawal AS w WHERE w.id = number AND (NOT is_read OR w.player_id = held.player_id))
        WHEN 'deposit' THEN EXISTS (
            SELECT FROM wallet_payment AS p WHERE p.id = key AND (NOT is_read OR p.player_id = held.player_id))
        WHEN 'journal' THEN EXISTS (
            SELECT FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
            WHERE e.journal_id = number AND (NOT is_read OR a.owner_id = held.player_id))
        WHEN 'table' THEN EXISTS (SELECT FROM games_table AS t WHERE t.id = number)
        WHEN 'round' THEN EXISTS (SELECT FROM games_liveround AS r WHERE r.id = key) OR EXISTS (
            SELECT FROM games_participation AS p WHERE p.round_id = key AND (NOT is_read OR p.player_id = held.player_id))
        ELSE false END;
END $$;

-- Take an action on a case, for a staff member who holds the permission for its kind.
-- `target`: assigned: "staff:3", who holds it too, or empty; due: a time, but not of a complaint, whose deadline was promised;
-- linked: a subject as in events, which players_case_may_link allows; closed: the
-- outcome, but of a duplicate, which ends with its finding. `words`: a text; needed for a note, a hold, a reopening, and the
-- closing of every case but of a marker. The player reads the words with which a complaint is closed or reopened.
-- The state of a complaint's conversation says whether the case has an owner, as long as it waits for staff.
-- To close or reopen a complaint takes the permission to decide complaints. Who decides it becomes its owner.
-- A case that is reopened after its deadline gets a new one, in 7 days.
-- The player is reminded of missing documents again before a new deadline.
-- Raises SB150 if the staff member lacks the permission, SB151 if the case is closed or, to reopen it, open, or if
-- another one of the same kind and subject is open; SB152 if `target` or `words` does not fit, SB153 for a
-- marker that is closed without a contact, SB155 for a case of screening that no two people close, SB159 for a case with a
-- document that is still to be reviewed, closed because nothing is wrong. With a suspicion it can be closed: a review would
-- warn the player. SB160 for a case that already holds payouts.
CREATE OR REPLACE FUNCTION players_move_case("case" bigint, staff bigint, action text, target text, words text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    held players_case;
    fits boolean;
    next_due timestamptz;
BEGIN
    held := players_lock_case("case");
    next_due := CASE
        WHEN action = 'reopened' AND held.due_at < clock_timestamp()
        THEN date_trunc('second', clock_timestamp() + interval '7 days') ELSE held.due_at END;
    IF NOT players_may_work_case(staff, held.kind) OR held.kind = 'complaint' AND action IN ('closed', 'reopened') AND NOT EXISTS (
        SELECT FROM players_staff AS s
        WHERE s.id = staff AND players_staff_may('staff:' || s.id, s.person, 'players', 'decide_complaint'))
    THEN
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
        WHEN 'due' THEN held.kind <> 'complaint' AND target ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$' AND pg_input_is_valid(target, 'timestamptz')
            AND target::timestamptz > clock_timestamp()
        WHEN 'noted' THEN target = '' AND btrim(words) <> ''
        WHEN 'linked' THEN target ~ '^((player|withdrawal|table|journal|conversation|case):\d{1,18}|(round|deposit):[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$'
            AND players_case_may_link(held, target)
        WHEN 'held' THEN target = '' AND held.kind NOT IN ('marker', 'complaint') AND btrim(words) <> ''
        WHEN 'closed' THEN target = ANY (players_case_outcomes(held.kind)) AND (held.kind = 'marker' OR btrim(words) <> '')
        WHEN 'reopened' THEN target = '' AND btrim(words) <> ''
        END;
    IF fits IS NOT TRUE OR held.kind = 'duplicate' AND action IN ('closed', 'reopened') THEN
        RAISE EXCEPTION 'case %: % does not fit', held.id, action USING ERRCODE = 'SB152';
    END IF;
    IF action = 'held' AND held.holds THEN
        RAISE EXCEPTION 'case % holds payouts', held.id USING ERRCODE = 'SB160';
    END IF;
    IF action = 'closed' AND held.kind = 'marker' AND NOT EXISTS (SELECT FROM players_contact AS c WHERE c.case_id = held.id) THEN
        RAISE EXCEPTION 'case % has no contact', held.id USING ERRCODE = 'SB153';
    END IF;
    IF action = 'closed' AND held.kind = 'screening' AND NOT players_two_close_case(held.id, staff, target) THEN
        RAISE EXCEPTION 'closing case % takes two people', held.id USING ERRCODE = 'SB155';
    END IF;
    IF action = 'closed' AND target IN ('no_concern', 'explained') AND EXISTS (
        SELECT FROM players_requested_document AS r WHERE (r.case_id, r.state) = (held.id, 'received'))
    THEN
        RAISE EXCEPTION 'case % has a document to review', held.id USING ERRCODE = 'SB159';
    END IF;
    IF held.kind = 'complaint' AND action IN ('closed', 'reopened') THEN
        PERFORM players_turn_complaint(held, staff, action, target, words);
        RETURN;
    END IF;
    UPDATE players_case AS c SET
        owner_id = CASE action WHEN 'assigned' THEN nullif(substr(target, 7), '')::bigint ELSE c.owner_id END,
        due_at = CASE action WHEN 'due' THEN target::timestamptz ELSE next_due END,
        holds = c.holds OR action = 'held',
        closed_at = CASE action WHEN 'closed' THEN clock_timestamp() WHEN 'reopened' THEN NULL ELSE c.closed_at END,
        closed_by_id = CASE action WHEN 'closed' THEN staff WHEN 'reopened' THEN NULL ELSE c.closed_by_id END,
        outcome = CASE action WHEN 'closed' THEN target WHEN 'reopened' THEN '' ELSE c.outcome END
    WHERE c.id = held.id;
    UPDATE players_requested_document AS r SET reminded_at = NULL FROM players_case AS c
    WHERE c.id = held.id AND c.due_at <> held.due_at AND r.case_id = c.id AND r.state IN ('asked', 'refused');
    IF held.kind = 'complaint' AND action = 'assigned' THEN
        UPDATE players_conversation AS v SET state = CASE
            WHEN target <> '' THEN 'looking'
            WHEN EXISTS (SELECT FROM players_case_entry AS e WHERE e.case_id = held.id AND e.action = 'reopened') THEN 'reopened'
            ELSE 'received' END
        WHERE v.id = substr(held.subject, 14)::bigint AND v.state IN ('received', 'looking', 'reopened');
    END IF;
    PERFORM players_enter_case(held, 'staff:' || staff, action, target, words);
    IF next_due <> held.due_at THEN
        PERFORM players_enter_case(held, 'staff:' || staff, 'due', players_case_moment(next_due), '');
    END IF;
END $$;
REVOKE ALL ON FUNCTION players_move_case FROM PUBLIC;

-- Allow one change of an entry: its text is emptied after the account was erased, or when a complaint's conversation is
-- deleted. Trigger function, BEFORE UPDATE on players_case_entry.
-- Raises restrict_violation (23001) for any other change.
CREATE OR REPLACE FUNCTION players_keep_case_entry() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.text = '' AND to_jsonb(NEW) - 'text' = to_jsonb(OLD) - 'text' AND (
        players_case_is_erased(OLD.case_id) OR EXISTS (
            SELECT FROM players_case AS c WHERE c.id = OLD.case_id AND c.kind = 'complaint' AND NOT EXISTS (
                SELECT FROM players_conversation AS v WHERE v.id = substr(c.subject, 14)::bigint)))
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of players_case_entry are never changed before the account is erased' USING ERRCODE = 'restrict_violation';
END $$;

-- Empty what was written in the case of a complaint whose conversation is deleted. Trigger function, AFTER DELETE on
-- players_conversation.
CREATE OR REPLACE FUNCTION players_forget_complaint() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE players_case_entry AS e SET text = '' FROM players_case AS c
    WHERE e.case_id = c.id AND e.text <> '' AND (c.player_id, c.kind, c.subject) = (OLD.player_id, 'complaint', 'conversation:' || OLD.id);
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION players_forget_complaint FROM PUBLIC;
