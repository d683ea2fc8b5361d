-- Erasure of personal data after an account was closed.

-- Delete the personal values of all events on or by a person, and record the event personal.erased.
-- Only functions of the owner may call it.
-- `who`: 'player:<id>' or 'staff:<id>'.
-- Returns the number of values.
-- Raises check_violation (23514) for another form of `who`.
-- The events stay: they hold only salted hashes of the values.
CREATE OR REPLACE FUNCTION audit_erase(who text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    erased bigint;
    named text;
BEGIN
    IF who !~ '^(player|staff):[0-9]+$' THEN
        RAISE EXCEPTION '% is nobody', who USING ERRCODE = 'check_violation';
    END IF;
    WITH gone AS (
        DELETE FROM audit_personal WHERE event_id IN (
            SELECT event.id FROM audit_event AS event WHERE event."on" = who OR event.by = who)
        RETURNING field
    ), fields AS (
        SELECT field, count(*) AS number FROM gone GROUP BY field
    )
    SELECT coalesce(sum(number), 0), coalesce(string_agg(to_json(field)::text, ',' ORDER BY field COLLATE "C"), '')
    INTO erased, named FROM fields;
    PERFORM audit_write('personal.erased', 'system', who, format(
        '{"by":"system","data":{"fields":[%s],"values":%s},"kind":"personal.erased","on":"%s"}', named, erased, who), NULL);
    RETURN erased;
END $$;
REVOKE ALL ON FUNCTION audit_erase FROM PUBLIC;

-- Return the documents whose content may go: all after the account was erased; else those that were refused as long ago as
-- retention demands, and of these what a case asked for only if the case is closed.
-- Without SET, so that PostgreSQL inlines it and looks for one document by its id.
CREATE OR REPLACE FUNCTION players_documents_over() RETURNS TABLE (document uuid, player bigint)
LANGUAGE sql STABLE AS $$
    SELECT d.id, coalesce(s.player_id, c.player_id)
    FROM public.players_documentcontent AS k JOIN public.players_document AS d ON d.id = k.document_id
    LEFT JOIN public.players_submission AS s ON s.id = d.submission_id
    LEFT JOIN public.players_requested_document AS r ON r.id = d.request_id
    LEFT JOIN public.players_case AS c ON c.id = r.case_id
    WHERE s.status = 'refused' AND s.reviewed_at < clock_timestamp() - public.audit_retention_period('refused papers')
        OR c.closed_at IS NOT NULL AND d.refused_at < clock_timestamp() - public.audit_retention_period('refused papers')
        OR EXISTS (
            SELECT FROM public.players_closure AS gone
            WHERE gone.player_id = coalesce(s.player_id, c.player_id) AND gone.state = 'erased')
$$;

-- Delete the contents of documents that are over (players_documents_over), of all players, and return their number. The list of
-- documents and the reasons of refusals stay.
CREATE OR REPLACE FUNCTION players_forget_documents() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    forgotten bigint;
BEGIN
    DELETE FROM players_documentcontent AS k USING players_documents_over() AS over WHERE k.document_id = over.document;
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END $$;
REVOKE ALL ON FUNCTION players_forget_documents FROM PUBLIC;

-- Keep documents as staff review them: a content is only added while the submission or the request waits for one, and only
-- deleted if it is over. Trigger function, BEFORE INSERT OR DELETE on players_documentcontent.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION players_keep_document() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    content uuid := coalesce(NEW.document_id, OLD.document_id);
    about record;
BEGIN
    SELECT s.status, r.state INTO about
    FROM players_document AS d
    LEFT JOIN players_submission AS s ON s.id = d.submission_id
    LEFT JOIN players_requested_document AS r ON r.id = d.request_id
    WHERE d.id = content;
    IF (CASE TG_OP WHEN 'INSERT' THEN about.status <> 'submitted' OR about.state NOT IN ('asked', 'refused')
        ELSE NOT EXISTS (SELECT FROM players_documents_over() AS over WHERE over.document = content) END)
    THEN
        RAISE EXCEPTION 'document % stays as its review says', content USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;

-- Begin a document, which nobody has refused. Trigger function, BEFORE INSERT on players_document.
CREATE OR REPLACE FUNCTION players_begin_document() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.refused_at := NULL;
    RETURN NEW;
END $$;

-- Keep a mail as it was written: its reader, its template and its time are no columns that the login role writes. Address,
-- subject and text go together once it is sent or given up and as old as retention demands, or the account was erased; the
-- text alone once it is sent. What was sent stays sent. Trigger function, BEFORE UPDATE on players_mail.
-- The owner may store the text under another key.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION players_keep_mail() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    goes boolean := (NEW.address, NEW.subject, NEW.sealed_body) = ('', '', ''::bytea);
BEGIN
    IF (NEW.address, NEW.subject, NEW.sealed_body) IS DISTINCT FROM (OLD.address, OLD.subject, OLD.sealed_body)
        AND NOT (goes AND (
            OLD.next_try_at IS NULL AND OLD.written_at < clock_timestamp() - audit_retention_period('mail')
            OR EXISTS (
                SELECT FROM players_player AS p JOIN players_closure AS gone ON gone.player_id = p.id AND gone.state = 'erased'
                WHERE p.user_id = OLD.user_id)))
        AND NOT ((NEW.address, NEW.subject) = (OLD.address, OLD.subject) AND NEW.sealed_body = '' AND NEW.sent_at IS NOT NULL)
        AND NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'players_mail'::regclass)
        OR OLD.sent_at IS NOT NULL AND NEW.sent_at IS DISTINCT FROM OLD.sent_at
    THEN
        RAISE EXCEPTION 'mail % stays as it was written', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Keep where a session came from, until it began and ended as long ago as retention demands or its player is erased, and
-- that it ended. Trigger function, BEFORE UPDATE OF ip, browser, ended_at, why on players_session.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION players_keep_session() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.ip, NEW.browser) <> (OLD.ip, OLD.browser) AND (
            (NEW.ip, NEW.browser) <> ('', '')
            OR (OLD.ended_at IS NULL
                OR greatest(OLD.began_at, OLD.ended_at) >= clock_timestamp() - audit_retention_period('address'))
            AND NOT EXISTS (SELECT FROM players_player AS p JOIN players_closure AS c ON c.player_id = p.id
                            WHERE p.user_id = OLD.user_id AND c.state = 'erased'))
        OR OLD.ended_at IS NOT NULL AND (NEW.ended_at, NEW.why) IS DISTINCT FROM (OLD.ended_at, OLD.why)
    THEN
        RAISE EXCEPTION 'session % stays as it was', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Erase the personal data of a closed account: e-mail address, password, birthday (the year stays), what the person submitted
-- to show who they are, their documents, staff's notes on likely duplicates,
-- the hashes by which the person was found again, tags, and the personal values of all events. Rounds and payments stay.
-- Returns the number of erased values of events.
-- Raises no_data_found (P0002) for an unknown player, check_violation (23514) unless the account
-- has been closed as long as retention demands and its player cannot log in, unique_violation (23505, players_closure_once) if
-- it was erased before.
-- Locks the player.
CREATE OR REPLACE FUNCTION players_forget(player bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    who players_player%ROWTYPE;
BEGIN
    SELECT * INTO STRICT who FROM players_player WHERE id = player FOR UPDATE;
    IF NOT EXISTS (SELECT FROM players_closure
                   WHERE player_id = player AND state = 'closed' AND at <= clock_timestamp() - audit_retention_period('account'))
       OR EXISTS (SELECT FROM players_user WHERE id = who.user_id AND is_active)
    THEN
        RAISE EXCEPTION 'player % is not closed for long enough', player USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO players_closure (player_id, state, by, at) VALUES (player, 'erased', 'system', clock_timestamp());
    UPDATE players_user SET email = format('erased-%s@erased.invalid', player), password = '!', last_login = NULL, is_active = false
    WHERE id = who.user_id;
    DELETE FROM players_documentcontent AS k USING players_documents_over() AS over
    WHERE k.document_id = over.document AND over.player = players_forget.player;
    UPDATE players_submission SET given_names = '', family_name = '', street = '', postal_code = '', city = '', phone = '',
        document_number = '', note = '' WHERE player_id = player;
    UPDATE players_duplicate SET note = '' WHERE player IN (first_id, second_id) AND note <> '';
    DELETE FROM players_trait WHERE player_id = player;
    DELETE FROM players_player_tag WHERE player_id = player;
    UPDATE players_player SET birth_date = date_trunc('year', birth_date)::date WHERE id = player;
    RETURN audit_erase('player:' || player);
END $$;
REVOKE ALL ON FUNCTION players_forget FROM PUBLIC;
