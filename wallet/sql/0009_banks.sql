-- Where guests play each other, what is played for lies before the croupier: a bank for each tenure, stakes for each
-- coup, and a house player's chips, which are free money. Each is an account that stands for one of these (`stands_for`)
-- and carries a balance, so that it is never paid out of twice. Money comes there and goes from there by a few kinds of
-- journals, of its own tenure or coup, and no other way.

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

-- What lies before the croupier moves for its own tenure or coup alone: whether this journal may have a line there.
--   SB009 this is not how a bank, stakes or a house player's chips move
CREATE FUNCTION wallet_stands_so(kind text, stands_for uuid, journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE wallet_stands_so.kind
        WHEN 'bank' THEN j.kind IN ('settle', 'void_transfer', 'void_shortfall')
            OR j.kind IN ('bank', 'bank_back', 'bank_won') AND j.round_id = wallet_stands_so.stands_for
            OR j.kind = 'void' AND was.kind = 'settle'
        WHEN 'stakes' THEN j.round_id = wallet_stands_so.stands_for
            AND (j.kind IN ('stake', 'settle') OR j.kind = 'void' AND was.kind IN ('stake', 'settle'))
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

-- Limits look at what leaves a player's hands and comes back into them: a bank put up is staked, whoever of the table
-- comes to play for it, and what goes home unlost is staked no more; what was won is paid. So a banker is held to the
-- loss that the bank may become, and a bank that nobody played for has staked nothing.
CREATE OR REPLACE FUNCTION wallet_count_days() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    journal record;
    theirs record;
    was_begun boolean;
BEGIN
    FOR journal IN
        SELECT j.id, coalesce(was.kind, j.kind) AS kind, coalesce(was.at, j.at) AS at, j.key, j.reverses_id
        FROM (SELECT DISTINCT n.journal_id FROM new_lines AS n WHERE n.mode = 'R' AND n.version IS NOT NULL) AS line
        JOIN wallet_journal AS j ON j.id = line.journal_id LEFT JOIN wallet_journal AS was ON was.id = j.reverses_id
        WHERE coalesce(was.kind, j.kind) IN (
            'deposit', 'withdraw_paid', 'stake', 'held_stake', 'settle', 'bank', 'bank_back', 'bank_won')
        ORDER BY j.id
    LOOP
        IF journal.kind NOT IN ('stake', 'bank', 'deposit') OR journal.reverses_id IS NOT NULL THEN
            INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
            SELECT a.owner_id, (journal.at AT TIME ZONE z.time_zone)::date,
                   CASE journal.kind WHEN 'deposit' THEN sum(n.amount) ELSE 0 END,
                   CASE journal.kind WHEN 'withdraw_paid' THEN -sum(n.amount) ELSE 0 END,
                   CASE WHEN journal.kind IN ('stake', 'held_stake', 'bank', 'bank_back') THEN -sum(n.amount) ELSE 0 END,
                   CASE WHEN journal.kind IN ('settle', 'bank_won') THEN sum(n.amount) ELSE 0 END
            FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id AND a.stands_for IS NULL
            JOIN players_player AS p ON p.id = a.owner_id JOIN players_jurisdiction AS z ON z.code = p.jurisdiction_id
            WHERE n.journal_id = journal.id AND n.mode = 'R' AND n.version IS NOT NULL
            GROUP BY a.owner_id, z.time_zone ORDER BY a.owner_id
            ON CONFLICT (player_id, day) DO UPDATE SET
                deposited = d.deposited + excluded.deposited, withdrawn = d.withdrawn + excluded.withdrawn,
                staked = d.staked + excluded.staked, paid = d.paid + excluded.paid;
            CONTINUE;
        END IF;
        FOR theirs IN
            SELECT a.owner_id AS player, (journal.at AT TIME ZONE z.time_zone)::date AS day, n.amount
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
