-- Confirmed identities of players, and the person behind a staff account.
--
--   SB082 the person named may not do this to this player
--   SB084 a national number that nothing proves
--   SB085 an identity that nothing proves
--   SB087 a register that confirms another person than before

-- Store that the identity of a player is confirmed, and the hashes of the national number that a register has confirmed. Only
-- this function writes players_identity, and the hashes of numbers.
-- `said_by`: 'register:<name>' or 'staff:<id>'; 'player:<id>' for what the player states and nobody has
-- confirmed. `hashes`: the hash of the number under each key, 32 bytes and what tells the key; empty without a number. `proof`: that of players_is_proven_here for
-- "identity", and id, `said_by` and the hashes in hex, separated by colons. A process that has the key has seen the register
-- or the member of staff confirm it.
-- A register confirms one person: once a number is kept, it has to be the same one, unless staff have examined the player
-- since, or it was hashed under keys that were replaced: those cannot be compared. A wrong number would also make two people of one, and end an exclusion that holds for both.
-- Raises SB085 for a wrong proof, for another `said_by`, or for hashes that no register confirms; SB087 for another number or
-- none.
-- Locks the player, so that of two numbers at once the second is compared with the first.
CREATE OR REPLACE FUNCTION players_confirm_identity(player bigint, said_by text, hashes bytea[], proof bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    said text := (SELECT concat_ws(':', player, said_by, string_agg(encode(h.hash, 'hex'), ':' ORDER BY h.n))
                  FROM unnest(hashes) WITH ORDINALITY AS h (hash, n));
BEGIN
    IF (said_by ~ '^(register:.+|staff:[0-9]+)$' OR said_by = 'player:' || player) IS NOT TRUE
       OR players_is_proven_here('identity', said, proof) IS NOT TRUE
       OR (cardinality(hashes) = 0 OR said_by ~ '^register:') IS NOT TRUE
    THEN
        RAISE EXCEPTION 'nothing proves that % confirms the identity of player %', said_by, player USING ERRCODE = 'SB085';
    END IF;
    PERFORM FROM players_player AS p WHERE p.id = player FOR NO KEY UPDATE;
    IF said_by ~ '^register:'
        AND EXISTS (
            SELECT FROM players_trait AS t WHERE t.player_id = player AND t.ground = 'person' AND (
                cardinality(hashes) = 0 OR substr(t.fingerprint, 33) IN (SELECT substr(h.hash, 33) FROM unnest(hashes) AS h (hash))))
        AND NOT EXISTS (
            SELECT FROM players_trait AS t WHERE t.player_id = player AND t.ground = 'person' AND t.fingerprint = ANY (hashes))
        AND coalesce((SELECT i.by FROM players_identity AS i WHERE i.player_id = player ORDER BY i.id DESC LIMIT 1), '') !~ '^staff:'
    THEN
        RAISE EXCEPTION '% confirms another person than player %', said_by, player USING ERRCODE = 'SB087';
    END IF;
    INSERT INTO players_identity (player_id, by, at) VALUES (player, said_by, clock_timestamp());
    INSERT INTO players_trait (player_id, ground, fingerprint)
    SELECT player, 'person', h.hash FROM unnest(hashes) AS h (hash) ON CONFLICT DO NOTHING;
END $$;
REVOKE ALL ON FUNCTION players_confirm_identity FROM PUBLIC;

-- Keep a submission as the player sent it: staff review it once, and what says who the person is goes with the account. Trigger
-- function, BEFORE INSERT OR UPDATE on players_submission. Sets `sent_at` and `reviewed_at` to the database's time.
-- Raises SB082 unless an active member of staff who may review identities reviews it, restrict_violation (23001) for a
-- submission that staff have reviewed before it is there, and for any other change.
CREATE OR REPLACE FUNCTION players_keep_submission() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    reviewed text[] := '{status,reviewed_by_id,reviewed_at,reason,note}';
    person text[] := '{given_names,family_name,street,postal_code,city,phone,document_number,note}';
BEGIN
    IF TG_OP = 'INSERT' AND NEW.reviewed_by_id IS NULL THEN
        NEW.sent_at := clock_timestamp();
        NEW.reviewed_at := CASE WHEN NEW.status = 'verified' THEN clock_timestamp() END;
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.status = 'submitted' AND NEW.status IN ('verified', 'refused')
        AND to_jsonb(NEW) - reviewed = to_jsonb(OLD) - reviewed
    THEN
        IF NOT EXISTS (
            SELECT FROM players_staff AS s
            WHERE s.id = NEW.reviewed_by_id AND players_staff_may('staff:' || s.id, s.person, 'players', 'review_identity'))
        THEN
            RAISE EXCEPTION 'staff % may not review submissions', NEW.reviewed_by_id USING ERRCODE = 'SB082';
        END IF;
        NEW.reviewed_at := clock_timestamp();
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - person = to_jsonb(OLD) - person
        AND concat(NEW.given_names, NEW.family_name, NEW.street, NEW.postal_code, NEW.city, NEW.phone, NEW.document_number, NEW.note) = ''
        AND EXISTS (SELECT FROM players_closure AS gone WHERE gone.player_id = OLD.player_id AND gone.state = 'erased')
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'submission % stays as it was sent and reviewed', NEW.id USING ERRCODE = 'restrict_violation';
END $$;

-- Check the finding of staff about a likely duplicate: exclusions of two people end to hold for both when
-- staff find that they differ. Trigger function, BEFORE INSERT OR UPDATE on players_duplicate.
-- Sets `resolved_at` to the database's time. The note is emptied after one of the accounts was erased.
-- Raises SB082 unless an active member of staff who may review identities resolves it, and
-- restrict_violation (23001) for the same finding again, or none after one: a finding can be corrected.
CREATE OR REPLACE FUNCTION players_resolve_duplicate() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.note = '' AND to_jsonb(NEW) - 'note' = to_jsonb(OLD) - 'note' AND EXISTS (
        SELECT FROM players_closure AS gone WHERE gone.player_id IN (OLD.first_id, OLD.second_id) AND gone.state = 'erased')
    THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.resolution = '' AND NEW.note <> OLD.note THEN
        RAISE EXCEPTION 'duplicate % has a note without a finding', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.resolution <> '' AND NEW.resolution IN ('', OLD.resolution) THEN
        RAISE EXCEPTION 'duplicate % is resolved', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.resolution <> '' THEN
        IF NOT EXISTS (
            SELECT FROM players_staff AS s
            WHERE s.id = NEW.resolved_by_id AND players_staff_may('staff:' || s.id, s.person, 'players', 'review_identity'))
        THEN
            RAISE EXCEPTION 'staff % may not resolve duplicates', NEW.resolved_by_id USING ERRCODE = 'SB082';
        END IF;
        NEW.resolved_at := clock_timestamp();
    END IF;
    RETURN NEW;
END $$;

-- Refuse the hash of a national number from everybody but players_confirm_identity. Trigger function, BEFORE INSERT on
-- players_trait.
-- Raises SB084.
CREATE OR REPLACE FUNCTION players_refuse_number() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'players_trait'::regclass) THEN
        RAISE EXCEPTION 'nothing proves the number of player %', NEW.player_id USING ERRCODE = 'SB084';
    END IF;
    RETURN NEW;
END $$;

-- Return 'identity' if a player's identity is not confirmed, in one row; NULL if it is. Where the
-- jurisdiction does not ask for that, it is enough that the player has stated it.
-- A function in FROM, so that PostgreSQL inlines it.
CREATE OR REPLACE FUNCTION players_identity_due(player bigint) RETURNS TABLE (reason text)
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN NOT EXISTS (
        SELECT FROM public.players_identity AS i WHERE i.player_id = player AND (i.by NOT LIKE 'player:%' OR NOT (
            SELECT j.identity_before_play FROM public.players_player AS p
            JOIN public.players_jurisdiction AS j ON j.code = p.jurisdiction_id WHERE p.id = player))
    ) THEN 'identity' END
$$;

-- Check that a person who requests or decides an approval owns the staff account that acts. Trigger
-- function, BEFORE INSERT on audit_approval and audit_decision.
-- Raises check_violation (23514).
-- The function is in this app because audit does not know staff accounts.
CREATE OR REPLACE FUNCTION players_check_person() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM players_staff AS s WHERE 'staff:' || s.id = NEW."by" AND s.person = NEW.person) THEN
        RAISE EXCEPTION '% is not the person %', NEW."by", NEW.person USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse to give a staff account to another person. Trigger function, BEFORE UPDATE OF person on
-- players_staff.
-- Raises restrict_violation (23001), always.
CREATE OR REPLACE FUNCTION players_refuse_other_person() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% stays the account of one person', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
