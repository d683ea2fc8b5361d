-- The ledger as the database keeps it. Two rules hold whoever writes, the owner of the tables included:
-- what has been written is never changed, and a balance changes only because an entry is added to its account.

ALTER TABLE wallet_journal ALTER COLUMN at SET DEFAULT clock_timestamp();

-- The transaction that wrote a journal; only that transaction may add its entries.
ALTER TABLE wallet_journal ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();

-- Balances are updated in place where their page has room.
ALTER TABLE wallet_account SET (fillfactor = 70);

ALTER TABLE wallet_journal
    ADD CONSTRAINT wallet_journal_posting_key FOREIGN KEY (key) REFERENCES wallet_posting_key (key),
    ADD CONSTRAINT wallet_journal_reverses FOREIGN KEY (reverses_id) REFERENCES wallet_journal (id);

-- An entry is in the currency and the mode of its account, and a journal balances in each of them: so real money and
-- free money never meet, nor do two currencies.
ALTER TABLE wallet_entry
    ADD CONSTRAINT wallet_entry_account FOREIGN KEY (account_id, currency, mode)
        REFERENCES wallet_account (id, currency, mode);

-- Errors of the ledger, by SQLSTATE; wallet/ledger.py knows them by these codes, others by their constraint:
--   SB002 posting conflict    SB003 unbalanced journal    SB004 not a reversal    SB005 unknown journal


-- What has been written is never changed ----------------------------------------------------------------------------

CREATE FUNCTION wallet_refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER wallet_posting_key_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_posting_key
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_journal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_journal
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_entry_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_entry
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_account_is_kept BEFORE DELETE OR TRUNCATE ON wallet_account
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_account_identity BEFORE UPDATE OF id, owner_id, kind, currency, mode ON wallet_account
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- Depth 0 is a statement somebody typed; the trigger on entries below updates balances from depth 1.
CREATE TRIGGER wallet_account_balance BEFORE UPDATE OF balance, held, version ON wallet_account
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION wallet_refuse_change();


-- An account opens empty, with or without a balance according to whose it is ----------------------------------------

-- Not a CHECK: none of this can change afterwards, and a CHECK is read anew with every update of a balance.
CREATE FUNCTION wallet_refuse_account() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'no account opens like this: %', NEW USING ERRCODE = 'check_violation';
END $$;

CREATE TRIGGER wallet_account_opens BEFORE INSERT ON wallet_account
    FOR EACH ROW WHEN ((
        NEW.currency IN ('SEK', 'DKK', 'RON', 'EUR', 'GBP') AND NEW.mode IN ('R', 'F')
        AND (NEW.kind = 'cash' AND NEW.owner_id IS NOT NULL AND NEW.balance = 0
             OR NEW.kind IN ('escrow', 'house', 'cashier', 'mint') AND NEW.owner_id IS NULL AND NEW.balance IS NULL)
        AND NEW.held = 0 AND NEW.version = 0) IS NOT TRUE)
    EXECUTE FUNCTION wallet_refuse_account();


-- A balance changes only because an entry is added ------------------------------------------------------------------

-- The entry moves its account and takes number and balance from there, whatever its writer thought; on an account of
-- the house, which keeps neither, it has none. wallet_account_covered refuses what is not there.
CREATE FUNCTION wallet_move_balance() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE wallet_account AS a SET balance = a.balance + NEW.amount, version = a.version + 1
    WHERE a.id = NEW.account_id AND a.balance IS NOT NULL
    RETURNING a.balance, a.version INTO NEW.balance_after, NEW.version;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_entry_moves_balance BEFORE INSERT ON wallet_entry
    FOR EACH ROW EXECUTE FUNCTION wallet_move_balance();


-- A journal is written whole ----------------------------------------------------------------------------------------

-- Entries join a journal that this very transaction has written, and nobody can delete it: a foreign key would say less
-- and cost a twelfth of every posting.
CREATE FUNCTION wallet_check_sums() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    wrong record;
BEGIN
    SELECT n.journal_id, n.currency, n.mode, sum(n.amount) AS total, bool_or(j.id IS NULL) AS is_foreign INTO wrong
    FROM new_lines AS n LEFT JOIN wallet_journal AS j ON j.id = n.journal_id AND j.xid = pg_current_xact_id()
    GROUP BY n.journal_id, n.currency, n.mode
    HAVING sum(n.amount) <> 0 OR bool_or(j.id IS NULL);
    IF FOUND THEN
        IF wrong.is_foreign THEN
            RAISE EXCEPTION 'journal % was not written by this transaction', wrong.journal_id
                USING ERRCODE = 'restrict_violation';
        END IF;
        RAISE EXCEPTION 'journal %: % % sums to %', wrong.journal_id, wrong.currency, wrong.mode, wrong.total
            USING ERRCODE = 'SB003';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER wallet_entry_sums_to_zero AFTER INSERT ON wallet_entry REFERENCING NEW TABLE AS new_lines
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_check_sums();

-- A journal that reverses another is written in one statement with its entries: the other's, with opposite signs.
CREATE FUNCTION wallet_check_reversal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM (SELECT line, account_id, -amount AS amount FROM wallet_entry WHERE journal_id = NEW.reverses_id) AS was
    FULL JOIN (SELECT line, account_id, amount FROM wallet_entry WHERE journal_id = NEW.id) AS now_is
        USING (line, account_id, amount)
    WHERE was.line IS NULL OR now_is.line IS NULL;
    IF FOUND OR NEW.round_id IS DISTINCT FROM (SELECT round_id FROM wallet_journal WHERE id = NEW.reverses_id) THEN
        RAISE EXCEPTION 'journal % is not the opposite of %', NEW.id, NEW.reverses_id USING ERRCODE = 'SB004';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER wallet_journal_reverses_exactly AFTER INSERT ON wallet_journal
    FOR EACH ROW WHEN (NEW.reverses_id IS NOT NULL) EXECUTE FUNCTION wallet_check_reversal();


-- The one door ------------------------------------------------------------------------------------------------------

-- SHA-256 of what a journal asks for; `lines` is wallet_line_text of each line, joined by commas.
CREATE FUNCTION wallet_request_hash(kind text, round_id uuid, reverses bigint, lines text) RETURNS bytea
LANGUAGE sql STABLE AS $$
    SELECT sha256(convert_to(
        kind || '|' || coalesce(round_id::text, '') || '|' || coalesce(reverses::text, '') || '|' || lines, 'UTF8'))
$$;

CREATE FUNCTION wallet_line_text(account bigint, currency text, mode text, amount bigint) RETURNS text
LANGUAGE sql STABLE AS $$ SELECT account || ' ' || currency || ' ' || mode || ' ' || amount $$;

-- Posts journals, in order, each once and for all under its key.
-- `journals` is [{"key": uuid, "kind": text, "round": uuid or null, "reverses": journal id or absent,
--                 "lines": [[account id, currency, mode, amount], …]}, …].
-- Answers with a row for every line: its journal's place in the request and id, whether that was posted before, the
-- account, and the balance after the line (NULL on accounts of the house); lines of one account come in their order.
-- A key that is known answers what it answered first if the request is the same, and is an error (SB002) otherwise.
-- Keys come first: a second caller with the same key waits there, and finds the first one's journal afterwards. Then
-- entries are added account by account, ascending by id: each locks its account until the transaction ends, and in this
-- order no two callers wait for each other.
-- The settings keep its plans to index look-ups even while the statistics of a new database know nothing yet.
CREATE FUNCTION wallet_post(journals jsonb)
RETURNS TABLE (place integer, journal bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    keys uuid[];
    hashes bytea[];
    new_ids bigint[];  -- NULL where the key is known
BEGIN
    WITH asked AS MATERIALIZED (
        SELECT j.n, (j.body ->> 'key')::uuid AS key, nextval('wallet_journal_id_seq') AS journal_id,
               wallet_request_hash(j.body ->> 'kind', (j.body ->> 'round')::uuid, (j.body ->> 'reverses')::bigint,
                   (SELECT string_agg(wallet_line_text((line ->> 0)::bigint, line ->> 1, line ->> 2,
                                                       (line ->> 3)::bigint), ',' ORDER BY l.n)
                    FROM jsonb_array_elements(j.body -> 'lines') WITH ORDINALITY AS l (line, n))) AS request_hash
        FROM jsonb_array_elements(journals) WITH ORDINALITY AS j (body, n)
    ), taken AS (
        INSERT INTO wallet_posting_key AS k (key, request_hash, journal_id)
        SELECT asked.key, asked.request_hash, asked.journal_id FROM asked
        ON CONFLICT DO NOTHING RETURNING k.journal_id
    )
    SELECT array_agg(asked.key ORDER BY asked.n), array_agg(asked.request_hash ORDER BY asked.n),
           array_agg(taken.journal_id ORDER BY asked.n)
    INTO keys, hashes, new_ids
    FROM asked LEFT JOIN taken USING (journal_id);

    RETURN QUERY
    WITH written AS (
        INSERT INTO wallet_journal (id, key, request_hash, kind, round_id, reverses_id)
        SELECT new_ids[j.n], keys[j.n], hashes[j.n], j.body ->> 'kind', (j.body ->> 'round')::uuid,
               (j.body ->> 'reverses')::bigint
        FROM jsonb_array_elements(journals) WITH ORDINALITY AS j (body, n) WHERE new_ids[j.n] IS NOT NULL
    )
    INSERT INTO wallet_entry AS e (journal_id, line, account_id, currency, mode, amount)
    SELECT new_ids[j.n], l.n, (l.line ->> 0)::bigint, l.line ->> 1, l.line ->> 2, (l.line ->> 3)::bigint
    FROM jsonb_array_elements(journals) WITH ORDINALITY AS j (body, n),
         jsonb_array_elements(j.body -> 'lines') WITH ORDINALITY AS l (line, n)
    WHERE new_ids[j.n] IS NOT NULL
    ORDER BY 3, j.n, l.n
    RETURNING array_position(new_ids, e.journal_id), e.journal_id, false, e.account_id, e.balance_after;

    IF array_position(new_ids, NULL) IS NOT NULL THEN
        IF EXISTS (SELECT FROM unnest(keys, hashes) AS a (key, request_hash)
                   JOIN wallet_posting_key AS k ON k.key = a.key WHERE k.request_hash <> a.request_hash) THEN
            RAISE EXCEPTION 'this key has posted something else' USING ERRCODE = 'SB002';
        END IF;
        RETURN QUERY
        SELECT a.n::integer, e.journal_id, true, e.account_id, e.balance_after
        FROM unnest(keys, new_ids) WITH ORDINALITY AS a (key, new_id, n)
        JOIN wallet_posting_key AS k ON k.key = a.key JOIN wallet_entry AS e ON e.journal_id = k.journal_id
        WHERE a.new_id IS NULL ORDER BY a.n, e.line;
    END IF;
END $$;

-- Posts the opposite of a journal, for the same round; answers as wallet_post does. A second reversal under another key
-- violates wallet_journal_reversed_once.
CREATE FUNCTION wallet_reverse(journal bigint, key uuid, kind text)
RETURNS TABLE (place integer, posted bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    request jsonb;
BEGIN
    SELECT jsonb_build_object('key', wallet_reverse.key, 'kind', wallet_reverse.kind, 'round', j.round_id,
                              'reverses', j.id, 'lines', jsonb_agg(
                                  jsonb_build_array(e.account_id, e.currency, e.mode, -e.amount) ORDER BY e.line))
    INTO request
    FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
    WHERE j.id = wallet_reverse.journal GROUP BY j.id;
    IF request IS NULL THEN
        RAISE EXCEPTION 'no journal %', wallet_reverse.journal USING ERRCODE = 'SB005';
    END IF;
    RETURN QUERY SELECT * FROM wallet_post(jsonb_build_array(request));
END $$;

-- Opens a player's cash account, or finds it, and returns its id.
CREATE FUNCTION wallet_open_account(owner bigint, currency text, mode text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    found_id bigint;
BEGIN
    INSERT INTO wallet_account (owner_id, kind, currency, mode, balance, held, version, lock_only)
    VALUES (owner, 'cash', wallet_open_account.currency, wallet_open_account.mode, 0, 0, 0, false)
    ON CONFLICT DO NOTHING;
    SELECT a.id INTO found_id FROM wallet_account AS a
    WHERE a.owner_id = owner AND a.kind = 'cash' AND a.currency = wallet_open_account.currency
      AND a.mode = wallet_open_account.mode;
    RETURN found_id;
END $$;

REVOKE ALL ON FUNCTION wallet_post, wallet_reverse, wallet_open_account FROM PUBLIC;
