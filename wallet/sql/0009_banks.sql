-- Where guests play each other, what is played for lies before the croupier: a bank for each tenure, stakes for each
-- coup, and a house player's chips, which are free money. Each is an account that stands for one of these (`stands_for`)
-- and carries a balance, so that it is never paid out of twice. Money comes there and goes from there by a few kinds of
-- journals, of its own tenure or coup, and no other way.
--   SB009 this is not how a bank, stakes or a house player's chips move    SB010 money would pass between players


-- Accounts that stand for something ---------------------------------------------------------------------------------

DROP TRIGGER wallet_account_opens ON wallet_account;

CREATE TRIGGER wallet_account_opens BEFORE INSERT ON wallet_account
    FOR EACH ROW WHEN ((
        NEW.currency IN ('SEK', 'DKK', 'RON', 'EUR', 'GBP') AND NEW.mode IN ('R', 'F')
        AND (NEW.kind IN ('cash', 'purse') AND NEW.owner_id IS NOT NULL AND NEW.balance = 0 AND NEW.stands_for IS NULL
             OR NEW.kind = 'pending' AND NEW.owner_id IS NOT NULL AND NEW.balance = 0 AND NEW.mode = 'R'
                AND NEW.stands_for IS NULL
             OR NEW.kind = 'bank' AND NEW.balance = 0 AND NEW.stands_for IS NOT NULL
                AND (NEW.owner_id IS NOT NULL OR NEW.mode = 'F')
             OR NEW.kind = 'stakes' AND NEW.owner_id IS NULL AND NEW.balance = 0 AND NEW.stands_for IS NOT NULL
             OR NEW.kind = 'seat' AND NEW.owner_id IS NULL AND NEW.balance = 0 AND NEW.stands_for IS NOT NULL
                AND NEW.mode = 'F'
             OR NEW.kind IN ('escrow', 'house', 'cashier', 'mint') AND NEW.owner_id IS NULL AND NEW.balance IS NULL
                AND NEW.stands_for IS NULL)
        AND NEW.held = 0 AND NEW.version = 0) IS NOT TRUE)
    EXECUTE FUNCTION wallet_refuse_account();

DROP TRIGGER wallet_account_identity ON wallet_account;
CREATE TRIGGER wallet_account_identity BEFORE UPDATE OF id, owner_id, kind, currency, mode, stands_for ON wallet_account
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- Opens the account that stands for a tenure, a coup or a house player, or finds it, and returns its id.
CREATE FUNCTION wallet_open_standing(owner bigint, kind text, currency text, mode text, stands_for uuid) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    found_id bigint;
BEGIN
    IF wallet_open_standing.kind NOT IN ('bank', 'stakes', 'seat') THEN
        RAISE EXCEPTION 'a % stands for nothing', kind USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO wallet_account (owner_id, kind, currency, mode, balance, held, version, lock_only, stands_for)
    VALUES (owner, wallet_open_standing.kind, wallet_open_standing.currency, wallet_open_standing.mode, 0, 0, 0, false,
            wallet_open_standing.stands_for)
    ON CONFLICT DO NOTHING;
    SELECT a.id INTO found_id FROM wallet_account AS a
    WHERE a.stands_for = wallet_open_standing.stands_for AND a.kind = wallet_open_standing.kind
      AND a.owner_id IS NOT DISTINCT FROM owner AND a.currency = wallet_open_standing.currency
      AND a.mode = wallet_open_standing.mode;
    IF found_id IS NULL THEN
        RAISE EXCEPTION '% stands for something else', stands_for USING ERRCODE = 'check_violation';
    END IF;
    RETURN found_id;
END $$;

REVOKE ALL ON FUNCTION wallet_open_standing FROM PUBLIC;

-- What lies before the croupier moves for its own tenure or coup alone: whether this journal may have a line there. A bank
-- wins and loses together with the stakes of a coup, and a coup pays its bank, who staked in it, and the house.
CREATE FUNCTION wallet_stands_so(kind text, stands_for uuid, journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE wallet_stands_so.kind
        WHEN 'bank' THEN j.kind IN ('void_transfer', 'void_shortfall') OR j.kind = 'void' AND was.kind = 'settle'
            OR j.kind IN ('bank', 'bank_back', 'bank_won') AND j.round_id = wallet_stands_so.stands_for
            OR j.kind = 'settle' AND EXISTS (
                SELECT FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
                WHERE e.journal_id = j.id AND a.kind = 'stakes')
        WHEN 'stakes' THEN j.round_id = wallet_stands_so.stands_for
            AND (j.kind = 'stake' OR j.kind = 'void' AND was.kind IN ('stake', 'settle')
                 OR j.kind = 'settle' AND NOT EXISTS (
                     SELECT FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id
                     WHERE e.journal_id = j.id AND a.kind NOT IN ('bank', 'stakes', 'house') AND NOT EXISTS (
                         SELECT FROM wallet_journal AS s JOIN wallet_entry AS staked ON staked.journal_id = s.id
                         WHERE s.round_id = j.round_id AND s.kind = 'stake' AND staked.account_id = e.account_id)))
        ELSE j.kind IN ('seat_funded', 'stake', 'settle', 'bank', 'bank_back', 'bank_won', 'void', 'void_transfer',
                        'void_shortfall')
        END
    FROM wallet_journal AS j LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id WHERE j.id = journal
$$;

CREATE OR REPLACE FUNCTION wallet_follow_lines() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    astray record;
BEGIN
    LOOP
        SELECT n.journal_id, n.line, n.account_id, n.currency, n.mode, n.version, n.balance_after, a.id AS home,
               a.stands_for IS NOT NULL AND n.version BETWEEN 1 AND a.version AS stands
        INTO astray
        FROM new_lines AS n
        LEFT JOIN wallet_account AS a ON a.id = n.account_id AND a.currency = n.currency AND a.mode = n.mode
        WHERE (CASE WHEN a.balance IS NULL THEN a.id IS NOT NULL AND n.version IS NULL AND n.balance_after IS NULL
                    WHEN a.stands_for IS NULL THEN n.version BETWEEN 1 AND a.version
                    ELSE n.version BETWEEN 1 AND a.version AND wallet_stands_so(a.kind, a.stands_for, n.journal_id)
               END) IS NOT TRUE
        LIMIT 1;
        IF NOT FOUND THEN
            RETURN NULL;
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

-- Nobody's money becomes another's, but for what a bank loses to those who staked against it, and gets back where that is
-- annulled. House players, whose money is the house's, are one owner; stakes on the table are nobody's.
CREATE FUNCTION wallet_keep_apart() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    astray record;
BEGIN
    SELECT j.id, source.id AS gives, target.id AS takes INTO astray
    FROM (SELECT n.journal_id FROM new_lines AS n WHERE n.version IS NOT NULL
          GROUP BY n.journal_id HAVING min(n.amount) < 0 AND max(n.amount) > 0) AS mixed
    JOIN wallet_journal AS j ON j.id = mixed.journal_id LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
    CROSS JOIN LATERAL (
        SELECT a.* FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id
        WHERE n.journal_id = mixed.journal_id AND n.amount < 0 AND a.balance IS NOT NULL AND a.kind <> 'stakes'
    ) AS source
    CROSS JOIN LATERAL (
        SELECT a.* FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id
        WHERE n.journal_id = mixed.journal_id AND n.amount > 0 AND a.balance IS NOT NULL AND a.kind <> 'stakes'
    ) AS target
    WHERE coalesce(source.owner_id, 0) <> coalesce(target.owner_id, 0)
      AND ((was.id IS NULL AND j.kind = 'settle' AND source.kind = 'bank')
           OR (was.kind = 'settle' AND target.kind = 'bank')) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'journal % gives money of account % to account %', astray.id, astray.gives, astray.takes
            USING ERRCODE = 'SB010';
    END IF;
    RETURN NULL;
END $$;

-- After the sums: triggers go by their names.
CREATE TRIGGER wallet_entry_with_its_owner AFTER INSERT ON wallet_entry REFERENCING NEW TABLE AS new_lines
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_keep_apart();


-- Limits ------------------------------------------------------------------------------------------------------------

-- As before; a player's banks, of which there come to be many, hold nothing.
CREATE OR REPLACE FUNCTION wallet_used(player bigint, kind text, period text, day date) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT (CASE kind
            WHEN 'deposit' THEN coalesce(sum(d.deposited), 0) + (
                SELECT coalesce(sum(r.amount), 0) FROM wallet_reserved AS r
                WHERE r.player_id = player AND r.ended_at IS NULL)
            ELSE coalesce(sum(CASE kind WHEN 'stake' THEN d.staked ELSE d.staked - d.paid END), 0) + (
                SELECT coalesce(sum(a.held), 0) FROM wallet_account AS a
                WHERE a.owner_id = player AND a.mode = 'R' AND a.kind IN ('cash', 'purse'))
            END)::bigint
    FROM wallet_day AS d
    WHERE d.player_id = player
      AND d.day BETWEEN date_trunc(period, wallet_used.day::timestamp)::date AND wallet_used.day
$$;

-- When a journal moved a player's account by `amount`, as far as limits go. A stake that is taken back, and of a bank what
-- goes home unlost, counts on the day when it was put down; what a banker has to give back of what went home, on the day
-- when the bank last moved: on a later day it would make room there that no limit gave.
CREATE FUNCTION wallet_counts_at(journal wallet_journal, account bigint, amount bigint) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(
        CASE WHEN journal.kind = 'bank_back' OR journal.kind = 'stake' AND amount > 0 THEN (
                SELECT min(j.at) FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
                WHERE j.round_id = journal.round_id AND j.kind = CASE journal.kind WHEN 'stake' THEN 'stake' ELSE 'bank' END
                  AND e.account_id = account AND e.amount < 0)
             WHEN journal.kind = 'void_transfer' THEN (
                SELECT max(j.at) FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'bank'
                JOIN wallet_journal AS j ON j.round_id = a.stands_for WHERE e.journal_id = journal.id)
             END,
        journal.at)
$$;

-- Limits look at what leaves a player's hands and comes back into them: a bank put up is staked, whoever of the table
-- comes to play for it, and what goes home unlost is staked no more; what was won is paid. So a banker is held to the
-- loss that the bank may become, and a bank that nobody played for has staked nothing. What a banker gives back of what
-- was won, since a coup was annulled, was not paid.
CREATE OR REPLACE FUNCTION wallet_count_days() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    journal record;
    theirs record;
    was_begun boolean;
BEGIN
    FOR journal IN
        SELECT j.id, coalesce(was, j) AS counted, coalesce(was.kind, j.kind) AS kind, j.key, j.reverses_id
        FROM (SELECT DISTINCT n.journal_id FROM new_lines AS n WHERE n.mode = 'R' AND n.version IS NOT NULL) AS line
        JOIN wallet_journal AS j ON j.id = line.journal_id LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
        WHERE coalesce(was.kind, j.kind) IN (
            'deposit', 'withdraw_paid', 'stake', 'held_stake', 'settle', 'bank', 'bank_back', 'bank_won')
           OR j.kind = 'void_transfer' AND EXISTS (
               SELECT FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id
               WHERE n.journal_id = j.id AND a.kind = 'bank')
        ORDER BY j.id
    LOOP
        IF journal.kind NOT IN ('stake', 'bank', 'deposit') OR journal.reverses_id IS NOT NULL THEN
            INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
            SELECT moved.owner_id, (wallet_counts_at(
                       journal.counted, moved.account_id,
                       CASE WHEN journal.reverses_id IS NULL THEN moved.amount ELSE -moved.amount END
                   ) AT TIME ZONE z.time_zone)::date,
                   CASE journal.kind WHEN 'deposit' THEN moved.amount ELSE 0 END,
                   CASE journal.kind WHEN 'withdraw_paid' THEN -moved.amount ELSE 0 END,
                   CASE WHEN journal.kind IN ('stake', 'held_stake', 'bank', 'bank_back') THEN -moved.amount ELSE 0 END,
                   CASE WHEN journal.kind IN ('settle', 'bank_won', 'void_transfer') THEN moved.amount ELSE 0 END
            FROM (
                SELECT a.owner_id, min(a.id) AS account_id, sum(n.amount)::bigint AS amount
                FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id AND a.stands_for IS NULL
                WHERE n.journal_id = journal.id AND n.mode = 'R' AND n.version IS NOT NULL GROUP BY a.owner_id
            ) AS moved
            JOIN players_player AS p ON p.id = moved.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
            ORDER BY moved.owner_id
            ON CONFLICT (player_id, day) DO UPDATE SET
                deposited = d.deposited + excluded.deposited, withdrawn = d.withdrawn + excluded.withdrawn,
                staked = d.staked + excluded.staked, paid = d.paid + excluded.paid;
            CONTINUE;
        END IF;
        FOR theirs IN
            SELECT a.owner_id AS player, n.amount,
                   (wallet_counts_at(journal.counted, a.id, n.amount) AT TIME ZONE z.time_zone)::date AS day
            FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id AND a.stands_for IS NULL
            JOIN players_player AS p ON p.id = a.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
            WHERE n.journal_id = journal.id AND n.mode = 'R' AND n.version IS NOT NULL ORDER BY a.owner_id, n.line
        LOOP
            PERFORM players_lock_limits(theirs.player);
            was_begun := false;
            IF journal.kind = 'deposit' THEN
                UPDATE wallet_reserved AS r SET ended_at = coalesce(r.ended_at, clock_timestamp())
                WHERE r.key = journal.key AND r.player_id = theirs.player AND r.amount >= theirs.amount;
                was_begun := FOUND;
            END IF;
            INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
            VALUES (theirs.player, theirs.day, CASE journal.kind WHEN 'deposit' THEN theirs.amount ELSE 0 END, 0,
                    CASE WHEN journal.kind IN ('stake', 'bank') THEN -theirs.amount ELSE 0 END, 0)
            ON CONFLICT (player_id, day) DO UPDATE SET
                deposited = d.deposited + excluded.deposited, staked = d.staked + excluded.staked;
            IF journal.kind IN ('stake', 'bank') AND theirs.amount < 0 THEN
                PERFORM wallet_refuse_beyond(theirs.player, theirs.day, '{stake,loss}', -theirs.amount);
            ELSIF journal.kind = 'deposit' AND theirs.amount > 0 AND NOT was_begun THEN
                PERFORM wallet_refuse_beyond(theirs.player, theirs.day, '{deposit}', theirs.amount);
            END IF;
        END LOOP;
    END LOOP;
    RETURN NULL;
END $$;


-- Holds -------------------------------------------------------------------------------------------------------------

-- Bids are held, a house player's too.
CREATE OR REPLACE FUNCTION wallet_hold(round uuid, account bigint, amount bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    theirs wallet_account;
    was bigint;
    free bigint;
BEGIN
    SELECT a.* INTO theirs FROM wallet_account AS a
    WHERE a.id = account AND a.kind IN ('cash', 'purse', 'seat') FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'nothing is held on account %', account
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'wallet_hold_account';
    END IF;
    was := coalesce((SELECT h.amount FROM wallet_hold AS h WHERE h.round_id = round AND h.account_id = account), 0);
    IF amount = 0 THEN
        DELETE FROM wallet_hold AS h WHERE h.round_id = round AND h.account_id = account;
    ELSE
        INSERT INTO wallet_hold AS h (round_id, account_id, amount) VALUES (round, account, wallet_hold.amount)
        ON CONFLICT (round_id, account_id) DO UPDATE SET amount = excluded.amount WHERE h.amount <> excluded.amount;
    END IF;
    IF theirs.mode = 'R' AND amount > was THEN
        PERFORM players_lock_limits(theirs.owner_id);
        PERFORM wallet_refuse_beyond(
            theirs.owner_id, wallet_today(theirs.owner_id), '{stake,loss}', amount - was);
    END IF;
    SELECT a.balance - a.held INTO free FROM wallet_account AS a WHERE a.id = account;
    RETURN free;
END $$;

ALTER FUNCTION wallet_hold SET enable_seqscan = off;


-- Reversals of a whole round ----------------------------------------------------------------------------------------

-- As before, except that on each account what reversals bring comes before what they take: a coup that is settled is
-- annulled in one call, in which its stakes come back from the bank and the winners before they go back to the guests.
-- Only reversals: a stake has to be covered before its payout comes.
CREATE OR REPLACE FUNCTION wallet_post(journals jsonb)
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
    ORDER BY 3, j.body ->> 'reverses' IS NOT NULL AND (l.line ->> 3)::bigint < 0, j.n, l.n
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

DROP FUNCTION wallet_reverse;

-- Posts the opposite of each of `journals` under the key beside it, for its round; answers as wallet_post does. A second
-- reversal under another key violates wallet_journal_reversed_once.
CREATE FUNCTION wallet_reverse(journals bigint[], keys uuid[], kind text)
RETURNS TABLE (place integer, posted bigint, replayed boolean, account bigint, balance bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    requests jsonb;
BEGIN
    SELECT jsonb_agg(each.request ORDER BY each.n) INTO requests
    FROM (
        SELECT asked.n, jsonb_build_object(
                   'key', asked.key, 'kind', wallet_reverse.kind, 'round', j.round_id, 'reverses', j.id,
                   'lines', jsonb_agg(jsonb_build_array(e.account_id, e.currency, e.mode, -e.amount) ORDER BY e.line)
               ) AS request
        FROM unnest(journals, keys) WITH ORDINALITY AS asked (journal_id, key, n)
        JOIN wallet_journal AS j ON j.id = asked.journal_id JOIN wallet_entry AS e ON e.journal_id = j.id
        GROUP BY asked.n, asked.key, j.id
    ) AS each;
    IF coalesce(jsonb_array_length(requests), 0) <> cardinality(journals) THEN
        RAISE EXCEPTION 'not all of the journals % are there', journals USING ERRCODE = 'SB005';
    END IF;
    RETURN QUERY SELECT * FROM wallet_post(requests);
END $$;

REVOKE ALL ON FUNCTION wallet_reverse FROM PUBLIC;
