-- How long the house keeps what says something of somebody: one row for each kind of record, changed by two people.

ALTER TABLE audit_retention
    ADD CONSTRAINT audit_retention_long_enough CHECK (days >= minimum AND minimum > 0),
    ADD CONSTRAINT audit_retention_has_a_source CHECK (source <> '');

-- 1826 days are five years. What the law asks for is the least; where it asks for nothing, so is what the house needs to answer a complaint.
INSERT INTO audit_retention (what, days, minimum, fields, source) VALUES
    ('account', 1826, 1826, '{}', 'Law: who a customer was is kept for five years after the business with them ends (money laundering acts)'),
    ('conversation', 1827, 1827, '{}', 'Law: complaints are kept for five years (GLI-19 v3.0, A.4.4)'),
    ('chat', 90, 90, '{}', 'Law: chat is kept for ninety days (GLI-19 v3.0, A.4.7)'),
    ('refused papers', 365, 90, '{}', 'Own choice: long enough to object to the refusal'),
    ('mail', 365, 30, '{}', 'Own choice: long enough to tell whether a player was told'),
    ('address', 730, 365, '{ip}', 'Own choice: two years; the law wants log-ins told for the past year (GLI-19 v3.0, 2.5.7, 2.8.5)'),
    ('wrong log-in', 90, 30, '{tried}', 'Own choice: long enough to see who tries to get in'),
    ('look', 730, 365, '{asked,from}', 'Own choice: as long as addresses of log-ins');

CREATE TRIGGER audit_retention_is_kept BEFORE DELETE OR TRUNCATE ON audit_retention
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_retention_identity BEFORE UPDATE OF what, minimum, fields, source ON audit_retention
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- Returns for how long `what` is kept. Of what nobody has said so, nothing is ever old enough: no comparison with NULL is true.
CREATE FUNCTION audit_kept(what text) RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT make_interval(days => kept.days) FROM audit_retention AS kept WHERE kept.what = audit_kept.what
$$;

-- Does what an approval asks for: keeps something for so many days, and records it. The approval is of two people, says from which number of
-- days to which, and is younger than the one that was done last; so none is done twice, nor after another.
CREATE FUNCTION audit_keep_for(approval bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    asked jsonb;
    decider text;
BEGIN
    SELECT a.request::jsonb, d.by INTO asked, decider
    FROM audit_approval AS a JOIN audit_decision AS d ON d.approval_id = a.id
    WHERE a.id = approval AND a.kind = 'retention.change' AND d.verdict = 'approved';
    IF asked IS NULL THEN
        RAISE EXCEPTION 'approval % changes no retention', approval USING ERRCODE = 'check_violation';
    END IF;
    UPDATE audit_retention AS kept SET days = (asked ->> 'days')::integer, approval_id = approval
    WHERE kept.what = asked ->> 'what' AND kept.days = (asked ->> 'before')::integer AND coalesce(kept.approval_id, 0) < approval;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'approval % does not fit any more', approval USING ERRCODE = 'SB008';
    END IF;
    PERFORM audit_write('retention.changed', decider, 'retention:' || (asked ->> 'what'), format(
        '{"by":%s,"data":{"approval":%s,"before":%s,"days":%s},"kind":"retention.changed","on":%s}', to_json(decider), approval,
        asked ->> 'before', asked ->> 'days', to_json('retention:' || (asked ->> 'what'))), NULL);
END $$;

-- Deletes up to `most` personal values of events whose time to be kept as `what` is over, the oldest first, records that, and returns how many
-- there were. A value is told by the name of its field. The events stay as they are: they hold the values' salted hashes only.
CREATE FUNCTION audit_expire(what text, most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    kept audit_retention%ROWTYPE;
    ends timestamptz;
    expired bigint;
BEGIN
    SELECT * INTO STRICT kept FROM audit_retention AS r WHERE r.what = audit_expire.what FOR UPDATE;
    ends := clock_timestamp() - make_interval(days => kept.days);
    WITH oldest AS (
        SELECT value.event_id, value.field FROM unnest(kept.fields) AS named(field),
            LATERAL (SELECT p.event_id, p.field FROM audit_personal AS p WHERE p.field = named.field ORDER BY p.event_id LIMIT most) AS value
    )
    DELETE FROM audit_personal AS p USING oldest, audit_event AS event
    WHERE p.event_id = oldest.event_id AND p.field = oldest.field AND event.id = oldest.event_id AND event.at < ends;
    GET DIAGNOSTICS expired = ROW_COUNT;
    IF expired > 0 THEN
        PERFORM audit_write('personal.expired', 'system', 'retention:' || kept.what, format(
            '{"by":"system","data":{"before":"%s","days":%s,"fields":%s,"values":%s},"kind":"personal.expired","on":%s}',
            to_char(ends AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), kept.days,
            (SELECT '[' || string_agg(to_json(field)::text, ',' ORDER BY field) || ']' FROM unnest(kept.fields) AS field),
            expired, to_json('retention:' || kept.what)), NULL);
    END IF;
    RETURN expired;
END $$;

-- Whom a look showed, as its event says; none of any other event.
CREATE FUNCTION audit_players(body bytea) RETURNS text[]
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT ARRAY(SELECT jsonb_array_elements_text(convert_from(body, 'UTF8')::jsonb #> '{data,players}'))
$$;
CREATE INDEX audit_event_players ON audit_event USING gin (audit_players(body)) WHERE kind = 'data.seen';

REVOKE ALL ON FUNCTION audit_keep_for, audit_expire FROM PUBLIC;
