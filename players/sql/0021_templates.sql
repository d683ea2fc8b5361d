-- Templates of replies are added, version by version, and never changed; each says something in every language.
SET CONSTRAINTS ALL IMMEDIATE;

CREATE FUNCTION players_begin_reply_template() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.by_id IS NULL THEN
        RAISE EXCEPTION 'a version of a template is somebody''s' USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.number <> 1 + (SELECT coalesce(max(t.number), 0) FROM players_reply_template AS t WHERE t.name = NEW.name) THEN
        RAISE EXCEPTION 'version % of % is not the next one', NEW.number, NEW.name USING ERRCODE = 'unique_violation';
    END IF;
    IF EXISTS (
        SELECT FROM unnest(ARRAY['sv', 'da', 'ro', 'de', 'en']) AS spoken (language)
        WHERE btrim(coalesce(NEW.texts ->> spoken.language, '')) = '')
    THEN
        RAISE EXCEPTION 'a template says something in every language of the house' USING ERRCODE = 'check_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER players_reply_template_begins BEFORE INSERT ON players_reply_template
    FOR EACH ROW EXECUTE FUNCTION players_begin_reply_template();
CREATE TRIGGER players_reply_template_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_reply_template
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER players_reply_withdrawal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_reply_withdrawal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
