-- The event log. One function writes events, and nothing changes them.

-- Refuse the statement. Trigger function for tables and columns that never change.
-- Raises restrict_violation (23001), always.
CREATE OR REPLACE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Return whether the public log shows an event as it is: one that speaks of no person. Of every other
-- event it shows a salted hash alone.
-- `rest`: the event as in audit_write.
-- This is the closed list of public kinds, each with the fields that its data may have: with any other
-- field, or with personal values, the event is not shown. The answer counts when an event is written, so
-- the list can change without changing what was sealed.
CREATE OR REPLACE FUNCTION audit_is_public(kind text, by text, rest text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN by = 'system' THEN EXISTS (
        SELECT FROM (VALUES
            ('bets.sealed', '{bets,root}'::text[]),
            ('dealer.started', '{epoch,key}'),
            ('ledger.verified', '{invariants,is_whole}'),
            ('log.accepted', '{size}'),
            ('log.caught_up', '{seconds}'),
            ('log.keys_announced', '{keys,signs}'),
            ('log.lags', '{seconds,since}'),
            ('log.refused', '{reason,signed,size}'),
            ('log.unwitnessed', '{needed,seconds,since,size}'),
            ('log.witnessed', '{size}'),
            ('national_rules.shipped', '{rules}'),
            ('randomness.alarm', '{mode,tests,variant,week}'),
            ('randomness.tested', '{families,tests,week}'),
            ('round.dealt', '{first_card,shoe}'),
            ('rules.stored', '{after,before}'),
            ('shoe.committed', '{beacon,commitment,decks,mode,purpose,rules,table}'),
            ('shoe.ended', '{commitment,ending,gone}'),
            ('shoe.opened', '{beacon,burn_card,burned,chances,commitment,cut,dealer,decks,entropy,mode,number,purpose,root,rules,'
                'signature,table,unopened}'),
            ('shoe.published', '{seed}')) AS listed (kind, fields)
        WHERE listed.kind = audit_is_public.kind AND (rest::jsonb - '{by,data,kind,on}'::text[]) = '{}'
            AND (rest::jsonb -> 'data') - listed.fields = '{}') ELSE false END
$$;

-- Return the entry of the public log for an event: `body` where there is no `salt`, else
-- {"hash":"<SHA-256 of salt and body, in hex>"}. Its leaf in the Merkle tree is the hash of this entry.
-- Without the salt nobody can find out the event by trying.
CREATE OR REPLACE FUNCTION audit_entry(body bytea, salt bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN salt IS NULL THEN body
        ELSE convert_to('{"hash":"' || encode(sha256(salt || body), 'hex') || '"}', 'UTF8') END
$$;

-- Append an event and its entry in the queue for sealing. For functions that write `rest` themselves
-- from typed values, so that it is what audit_write demands: audit_write checks it for everybody else.
-- Returns the id of the event.
CREATE OR REPLACE FUNCTION audit_append(kind text, by text, "on" text, rest text) RETURNS bigint
LANGUAGE sql AS $$
    WITH event AS (
        INSERT INTO public.audit_event (at, kind, by, "on", body, salt)
        SELECT now_is.at, kind, by, "on", convert_to(
            '{"at":"' || to_char(now_is.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '",' || substr(rest, 2), 'UTF8'),
            CASE WHEN NOT public.audit_is_public(kind, by, rest) THEN uuid_send(gen_random_uuid()) END
        FROM clock_timestamp() AS now_is (at)
        RETURNING id
    )
    INSERT INTO public.audit_pending (event_id) SELECT event.id FROM event RETURNING event_id
$$;
REVOKE ALL ON FUNCTION audit_append FROM PUBLIC;

-- Write an event, its entry in the queue for sealing, and its personal values. Only functions of
-- the owner may call it.
-- `rest`: the event as canonical JSON with sorted keys and without its time:
--   {"by":...,"data":...,"kind":...,"on":...,"personal":...}
-- `personal`: a JSON array of {"field", "salt" (hex), "value"}, or NULL. "personal" in `rest` maps
-- each field to the SHA-256 of salt and value, in hex.
-- Returns the id of the event.
-- Raises check_violation (23514) if `rest` differs from the other arguments or is not canonical, if
-- the hashes do not match, if JSON is nested 32 or more levels or holds numbers beyond 1e100, or if
-- the event is longer than 65519 bytes.
-- Raises invalid_text_representation (22P02) if `rest` is not JSON.
--
-- The time is the database's. "at" sorts before all other keys, so the text stays canonical with
-- the time in front. The columns must say the same as the bytes that the Merkle tree proves: `rest`
-- must equal its own parts put together again, without other keys, duplicate keys or white space.
-- Deeper nesting and larger numbers could not be read by every verifier. A wrong hash would look
-- for ever as if the personal value had been changed.
CREATE OR REPLACE FUNCTION audit_write(kind text, by text, "on" text, rest text, personal jsonb) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    event_id bigint;
    said json := rest;
    parts jsonb := rest;
BEGIN
    IF rest IS DISTINCT FROM
            '{"by":' || to_json(by)::text || ',"data":' || (said -> 'data')::text || ',"kind":' || to_json(kind)::text
            || ',"on":' || to_json("on")::text || coalesce(',"personal":' || (said -> 'personal')::text, '') || '}'
        OR json_typeof(said -> 'data') <> 'object' OR json_typeof(said -> 'personal') <> 'object'
        OR rest IS NOT JSON OBJECT WITH UNIQUE KEYS THEN
        RAISE EXCEPTION 'event % says something else than its columns', kind USING ERRCODE = 'check_violation';
    END IF;
    IF parts @? '$.**{32 to last}' OR parts @? '$.** ? (@ > 1e100 || @ < -1e100)' THEN
        RAISE EXCEPTION 'event % holds what not everybody could read', kind USING ERRCODE = 'check_violation';
    END IF;
    IF parts -> 'personal' IS DISTINCT FROM (
        SELECT jsonb_object_agg(
            line ->> 'field', encode(sha256(decode(line ->> 'salt', 'hex') || convert_to(line ->> 'value', 'UTF8')), 'hex'))
        FROM jsonb_array_elements(personal) AS line) THEN
        RAISE EXCEPTION 'event % has other personal values than its hashes', kind USING ERRCODE = 'check_violation';
    END IF;
    event_id := audit_append(kind, by, "on", rest);
    IF personal IS NOT NULL THEN
        INSERT INTO audit_personal (event_id, field, salt, value)
        SELECT event_id, line ->> 'field', decode(line ->> 'salt', 'hex'), line ->> 'value' FROM jsonb_array_elements(personal) AS line;
    END IF;
    RETURN event_id;
END $$;
REVOKE ALL ON FUNCTION audit_write FROM PUBLIC;

-- Return whether only functions of the database record events of this kind, of what they have done: the
-- closed list of these kinds.
CREATE OR REPLACE FUNCTION audit_is_by_database(kind text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT kind LIKE 'case.%' OR kind IN (
        'marker.opened', 'marker.assigned', 'marker.due', 'marker.noted', 'marker.linked', 'marker.closed', 'marker.reopened',
        'complaint.opened', 'complaint.assigned', 'complaint.due', 'complaint.noted', 'complaint.linked', 'complaint.closed',
        'complaint.reopened', 'complaint.overdue',
        'bets.sealed', 'dealer.started', 'exchange_rates.corrected', 'exchange_rates.entered', 'personal.erased', 'personal.expired', 'retention.changed', 'round.settled',
        'seat.committed')
$$;

-- Write an event for the application; see audit_write for arguments, result and errors.
-- Raises SB130 for a kind that only functions of the database may record.
CREATE OR REPLACE FUNCTION audit_record(kind text, by text, "on" text, rest text, personal jsonb) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF audit_is_by_database(kind) THEN
        RAISE EXCEPTION 'only the database says %', kind USING ERRCODE = 'SB130';
    END IF;
    RETURN audit_write(kind, by, "on", rest, personal);
END $$;
REVOKE ALL ON FUNCTION audit_record FROM PUBLIC;

-- Refuse rows that refer to an event that does not exist. Trigger function, AFTER INSERT on
-- audit_leaf, audit_personal and audit_significant, per statement.
-- Raises foreign_key_violation (23503) with the name of the trigger as constraint.
-- It replaces a foreign key: PostgreSQL cannot detach the table of a month that a foreign key
-- refers to. Events are never deleted, so the check stays true.
CREATE OR REPLACE FUNCTION audit_event_is_there() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    missing bigint;
BEGIN
    SELECT n.event_id INTO missing FROM new_rows AS n
    WHERE n.event_id IS NOT NULL AND NOT EXISTS (SELECT FROM audit_event AS e WHERE e.id = n.event_id) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'there is no event %', missing
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NULL;
END $$;
