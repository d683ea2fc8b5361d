-- Who refers to an event is asked for it when the row is written, and not held to it by a foreign key: PostgreSQL detaches no table of
-- a month that is referred to. An event is never deleted, and none of these rows comes to speak of another one, so the answer stays true
-- until its month goes to an archive. Each statement by itself, and so that it can be begun again.
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

CREATE OR REPLACE TRIGGER audit_pending_is_of_an_event AFTER INSERT ON audit_pending REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_is_there();
CREATE OR REPLACE TRIGGER audit_pending_stays BEFORE UPDATE ON audit_pending
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_leaf_is_of_an_event AFTER INSERT ON audit_leaf REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_is_there();
CREATE OR REPLACE TRIGGER audit_personal_is_of_an_event AFTER INSERT ON audit_personal REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_is_there();
CREATE OR REPLACE TRIGGER audit_significant_is_of_an_event AFTER INSERT ON audit_significant REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_is_there();
