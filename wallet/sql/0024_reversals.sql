-- A journal is reversed once, in whichever month that is: a unique index of one month cannot know of another one. So what is reversed is written
-- down in a table of its own, in the transaction that reverses it, and a second one waits there and is refused, whatever it sees.

CREATE TRIGGER wallet_reversal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_reversal
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- A journal that reverses another is written in one statement with its entries: the other's, with opposite signs.
CREATE OR REPLACE FUNCTION wallet_check_reversal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM (SELECT line, account_id, -amount AS amount FROM wallet_entry WHERE journal_id = NEW.reverses_id) AS was
    FULL JOIN (SELECT line, account_id, amount FROM wallet_entry WHERE journal_id = NEW.id) AS now_is
        USING (line, account_id, amount)
    WHERE was.line IS NULL OR now_is.line IS NULL;
    IF FOUND OR NOT EXISTS (
        SELECT FROM wallet_journal WHERE id = NEW.reverses_id AND round_id IS NOT DISTINCT FROM NEW.round_id) THEN
        RAISE EXCEPTION 'journal % is not the opposite of %', NEW.id, NEW.reverses_id USING ERRCODE = 'SB004';
    END IF;
    INSERT INTO wallet_reversal (journal_id, by_id) VALUES (NEW.reverses_id, NEW.id);
    RETURN NULL;
END $$;

-- What has been reversed so far; nobody reverses anything meanwhile.
LOCK TABLE wallet_journal IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO wallet_reversal (journal_id, by_id) SELECT reverses_id, id FROM wallet_journal WHERE reverses_id IS NOT NULL;

-- That there is what it reverses, wallet_check_reversal sees.
ALTER TABLE wallet_journal DROP CONSTRAINT wallet_journal_reverses;


-- What months that have gone to an archive came to ----------------------------------------------------------------------

CREATE TRIGGER wallet_archived_account_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_archived_account
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_archived_journal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_archived_journal
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_archived_entry_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_archived_entry
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_archived_day_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_archived_day
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
