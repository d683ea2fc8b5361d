-- The numbers of an account's entries stand in an index of each month, which knows nothing of those of other months. So a line that brings its
-- number is refused where the account has come to that number already, by whichever month's entry; before it is followed, nothing else tells.
CREATE FUNCTION wallet_refuse_taken_number() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM wallet_account WHERE id = NEW.account_id AND version >= NEW.version) THEN
        RAISE EXCEPTION 'journal % line %: number % with balance % does not follow on account %',
            NEW.journal_id, NEW.line, NEW.version, NEW.balance_after, NEW.account_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Before a line gets its number by itself: triggers go by their names.
CREATE TRIGGER wallet_entry_brings_new_number BEFORE INSERT ON wallet_entry
    FOR EACH ROW WHEN (NEW.version IS NOT NULL) EXECUTE FUNCTION wallet_refuse_taken_number();

-- As before, except that no two lines of one statement share a number in two months.
CREATE OR REPLACE FUNCTION wallet_follow_lines() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    astray record;
BEGIN
    LOOP
        SELECT n.journal_id, n.line, n.account_id, n.currency, n.mode, n.version, n.balance_after, a.id AS home,
               a.kind IN ('adjusted', 'studio', 'operator')
                   OR a.stands_for IS NOT NULL AND n.version BETWEEN 1 AND a.version AS stands
        INTO astray
        FROM new_lines AS n
        LEFT JOIN wallet_account AS a ON a.id = n.account_id AND a.currency = n.currency AND a.mode = n.mode
        WHERE (CASE WHEN a.balance IS NULL THEN a.id IS NOT NULL AND n.version IS NULL AND n.balance_after IS NULL
                         AND (a.kind <> 'adjusted' OR wallet_adjusts_so(n.journal_id))
                         AND (a.kind <> 'studio' OR wallet_studio_moves_so(n.journal_id))
                         AND (a.kind <> 'operator' OR wallet_remote_moves_so(n.journal_id))
                    WHEN a.stands_for IS NULL THEN n.version BETWEEN 1 AND a.version
                    ELSE n.version BETWEEN 1 AND a.version AND wallet_stands_so(a.kind, a.stands_for, n.journal_id)
               END) IS NOT TRUE
        LIMIT 1;
        IF NOT FOUND THEN
            IF (SELECT min(journal_id) >> 32 = max(journal_id) >> 32 FROM new_lines) THEN
                RETURN NULL;
            END IF;
            SELECT min(journal_id) AS journal_id, min(line) AS line, account_id, version, min(balance_after) AS balance_after,
                   account_id AS home, false AS stands
            INTO astray FROM new_lines WHERE version IS NOT NULL GROUP BY account_id, version HAVING count(*) > 1 LIMIT 1;
            IF NOT FOUND THEN
                RETURN NULL;
            END IF;
            EXIT;
        END IF;
        UPDATE wallet_account AS a SET balance = n.balance_after, version = n.version
        FROM new_lines AS n
        WHERE a.id = n.account_id AND a.version = n.version - 1 AND a.balance + n.amount = n.balance_after;
        EXIT WHEN NOT FOUND;
    END LOOP;
    IF astray.home IS NULL THEN
        RAISE EXCEPTION 'there is no account % in % %', astray.account_id, astray.currency, astray.mode
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'wallet_entry_account';
    END IF;
    IF astray.stands THEN
        RAISE EXCEPTION 'journal % line %: account % does not move like this',
            astray.journal_id, astray.line, astray.account_id USING ERRCODE = 'SB009';
    END IF;
    RAISE EXCEPTION 'journal % line %: number % with balance % does not follow on account %',
        astray.journal_id, astray.line, astray.version, astray.balance_after, astray.account_id
        USING ERRCODE = 'restrict_violation';
END $$;
