-- The seamless wallet as host: what studios' games do with players' balances. Every such journal is the one that a row of
-- `wallet_studio_transaction` says, and every such row has its journals when it is committed. The database cannot tell
-- whether a studio has asked for it: signatures are looked at by web, which has the key to the secrets.
--   SB050 no two people agreed on this partner or key    SB051 the transaction was taken back before it came
--   SB052 a win without a bet that stands                SB053 the round was begun with other money
--   SB054 the win would be left without a bet            SB055 this is not taken back like that
--   SB056 the partner has two keys


-- The account against which studios' games are played ----------------------------------------------------------------

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
             OR NEW.kind IN ('escrow', 'house', 'cashier', 'mint', 'adjusted', 'studio') AND NEW.owner_id IS NULL
                AND NEW.balance IS NULL AND NEW.stands_for IS NULL)
        AND NEW.held = 0 AND NEW.version = 0) IS NOT TRUE)
    EXECUTE FUNCTION wallet_refuse_account();

INSERT INTO wallet_account (kind, currency, mode, held, version, lock_only)
SELECT 'studio', currency, mode, 0, 0, false
FROM unnest(ARRAY['SEK', 'DKK', 'RON', 'EUR', 'GBP']) AS currency, unnest(ARRAY['R', 'F']) AS mode;


-- Partners and their keys: two people agree on each ------------------------------------------------------------------

CREATE FUNCTION wallet_partner_agreed(approval bigint, kinds text[], said jsonb) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM audit_approval AS asked
        JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
        WHERE asked.id = wallet_partner_agreed.approval AND asked.kind = ANY (kinds) AND asked.request::jsonb @> said
          AND wallet_staff_may(asked."by", asked.person, 'ask_partner')
          AND wallet_staff_may(decided."by", decided.person, 'decide_partner'))
$$;

CREATE FUNCTION wallet_begin_partner() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.off_at IS NOT NULL OR NOT wallet_partner_agreed(NEW.approval_id, '{partner.add}', jsonb_build_object(
        'code', NEW.code, 'name', NEW.name, 'kind', NEW.kind, 'address', NEW.address, 'per_minute', NEW.per_minute)) THEN
        RAISE EXCEPTION 'nobody agreed on partner %', NEW.code USING ERRCODE = 'SB050';
    END IF;
    NEW.made_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_partner_begins BEFORE INSERT ON wallet_partner
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_partner();

-- A partner is switched off once, by staff who may, and is otherwise what two people agreed on.
CREATE FUNCTION wallet_end_partner() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.off_at IS NOT NULL OR NEW.off_at IS NULL
        OR (OLD.id, OLD.code, OLD.name, OLD.kind, OLD.address, OLD.per_minute, OLD.approval_id, OLD.made_at)
            IS DISTINCT FROM
           (NEW.id, NEW.code, NEW.name, NEW.kind, NEW.address, NEW.per_minute, NEW.approval_id, NEW.made_at)
        OR (SELECT wallet_staff_may('staff:' || s.id, s.person, 'ask_partner') FROM players_staff AS s
            WHERE s.id = NEW.off_by_id) IS NOT TRUE THEN
        RAISE EXCEPTION 'partner % does not change like this', OLD.code USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.off_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_partner_ends BEFORE UPDATE ON wallet_partner
    FOR EACH ROW EXECUTE FUNCTION wallet_end_partner();
CREATE TRIGGER wallet_partner_is_kept BEFORE DELETE OR TRUNCATE ON wallet_partner
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

CREATE FUNCTION wallet_begin_partner_key() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    partner wallet_partner;
BEGIN
    SELECT p.* INTO partner FROM wallet_partner AS p WHERE p.id = NEW.partner_id FOR NO KEY UPDATE;
    IF NEW.ended_at IS NOT NULL OR NOT wallet_partner_agreed(
        NEW.approval_id, '{partner.add,partner.key}', jsonb_build_object('code', partner.code)) THEN
        RAISE EXCEPTION 'nobody agreed on key %', NEW.name USING ERRCODE = 'SB050';
    END IF;
    IF (SELECT count(*) FROM wallet_partner_key AS k WHERE k.partner_id = partner.id AND k.ended_at IS NULL) > 1 THEN
        RAISE EXCEPTION 'partner % has two keys', partner.code USING ERRCODE = 'SB056';
    END IF;
    NEW.made_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_partner_key_begins BEFORE INSERT ON wallet_partner_key
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_partner_key();

-- A key stays what it is: it is shown once and ended once.
CREATE FUNCTION wallet_keep_partner_key() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.partner_id, OLD.name, OLD.sealed, OLD.approval_id, OLD.made_at)
        IS DISTINCT FROM (NEW.id, NEW.partner_id, NEW.name, NEW.sealed, NEW.approval_id, NEW.made_at)
        OR OLD.shown_at IS NOT NULL AND OLD.shown_at IS DISTINCT FROM NEW.shown_at
        OR OLD.ended_at IS NOT NULL AND OLD.ended_at IS DISTINCT FROM NEW.ended_at THEN
        RAISE EXCEPTION 'key % does not change like this', OLD.name USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_partner_key_changes BEFORE UPDATE ON wallet_partner_key
    FOR EACH ROW EXECUTE FUNCTION wallet_keep_partner_key();
CREATE TRIGGER wallet_partner_key_is_kept BEFORE DELETE OR TRUNCATE ON wallet_partner_key
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();


-- What studios do ----------------------------------------------------------------------------------------------------

CREATE TRIGGER wallet_studio_player_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_studio_player
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_game_session_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_game_session
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE TRIGGER wallet_studio_transaction_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_studio_transaction
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- Whether a transaction is taken back. Volatile, so that what was committed while the caller waited is seen.
CREATE FUNCTION wallet_studio_taken_back(partner bigint, name text) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM wallet_studio_transaction AS r
                   WHERE r.partner_id = wallet_studio_taken_back.partner AND r.takes_back = wallet_studio_taken_back.name
                     AND r.takes_back <> '')
$$;

-- Whether a bet stands in the round of `asked` whose stake is in the ledger, the one called `without` left out.
CREATE FUNCTION wallet_studio_has_bet(asked wallet_studio_transaction, without text) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM wallet_studio_transaction AS t
        WHERE t.studio_player_id = asked.studio_player_id AND t.game = asked.game AND t.round = asked.round
          AND (t.mode, t.currency) = (asked.mode, asked.currency) AND t.bet > 0 AND t.transaction <> without
          AND NOT wallet_studio_taken_back(t.partner_id, t.transaction)
          AND EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = t.bet_key))
$$;

-- What a studio did is of one of its players, and fits what it did before. A transaction and what takes it back come one
-- after the other, whoever is first, and so does all that is done to one balance: the account is locked.
CREATE FUNCTION wallet_begin_studio_transaction() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    taken wallet_studio_transaction;
BEGIN
    NEW.at := clock_timestamp();
    PERFORM FROM wallet_studio_player AS s
    JOIN wallet_account AS a ON a.owner_id = s.player_id AND a.kind = 'cash' AND a.currency = NEW.currency AND a.mode = NEW.mode
    WHERE s.id = NEW.studio_player_id AND s.partner_id = NEW.partner_id FOR UPDATE OF a;
    IF NOT FOUND OR NOT EXISTS (
        SELECT FROM wallet_game_session AS g WHERE g.id = NEW.game_session_id AND g.studio_player_id = NEW.studio_player_id
        AND g.mode = NEW.mode) AND (NEW.bet > 0 OR NEW.game_session_id IS NOT NULL) THEN
        RAISE EXCEPTION 'transaction % is of no player of the studio', NEW.transaction USING ERRCODE = 'restrict_violation';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended(
        'studio:' || NEW.partner_id || ':' || coalesce(nullif(NEW.takes_back, ''), NEW.transaction), 0));

    IF wallet_studio_taken_back(NEW.partner_id, NEW.transaction) THEN
        RAISE EXCEPTION '% was taken back before it came', NEW.transaction USING ERRCODE = 'SB051';
    END IF;
    IF NEW.operation = 'rollback' THEN
        SELECT t.* INTO taken FROM wallet_studio_transaction AS t
        WHERE t.partner_id = NEW.partner_id AND t.transaction = NEW.takes_back;
        IF NOT FOUND THEN
            RETURN NEW;
        END IF;
        IF taken.operation = 'rollback' OR (taken.studio_player_id, taken.currency, taken.mode)
            IS DISTINCT FROM (NEW.studio_player_id, NEW.currency, NEW.mode) THEN
            RAISE EXCEPTION '% is not taken back like this', NEW.takes_back USING ERRCODE = 'SB055';
        END IF;
        IF taken.bet > 0 AND NOT wallet_studio_has_bet(taken, taken.transaction) AND EXISTS (
            SELECT FROM wallet_studio_transaction AS w
            WHERE w.studio_player_id = taken.studio_player_id AND w.game = taken.game AND w.round = taken.round
              AND w.win > 0 AND w.transaction <> taken.transaction
              AND NOT wallet_studio_taken_back(w.partner_id, w.transaction)) THEN
            RAISE EXCEPTION 'round % has been won', taken.round USING ERRCODE = 'SB054';
        END IF;
        RETURN NEW;
    END IF;

    IF NEW.operation = 'win' AND NOT wallet_studio_has_bet(NEW, '') THEN
        RAISE EXCEPTION 'no bet stands in round %', NEW.round USING ERRCODE = 'SB052';
    END IF;
    IF NEW.bet > 0 AND EXISTS (
        SELECT FROM wallet_studio_transaction AS t
        WHERE t.studio_player_id = NEW.studio_player_id AND t.game = NEW.game AND t.round = NEW.round AND t.bet > 0
          AND (t.mode, t.currency) <> (NEW.mode, NEW.currency)) THEN
        RAISE EXCEPTION 'round % was begun with other money', NEW.round USING ERRCODE = 'SB053';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_studio_transaction_begins BEFORE INSERT ON wallet_studio_transaction
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_studio_transaction();


-- Its journals -------------------------------------------------------------------------------------------------------

-- Whether the journal moves what a transaction says between the player's cash and the studios' account, and nothing else;
-- where it reverses one, whether a rollback of it says so. That a reversal is the exact opposite is seen to elsewhere.
CREATE FUNCTION wallet_studio_moves_so(journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM wallet_journal AS j
        JOIN wallet_studio_transaction AS t ON t.bet_key = j.key AND t.bet > 0 AND j.kind = 'studio_stake'
            OR t.win_key = j.key AND t.win > 0 AND j.kind = 'studio_win'
        JOIN wallet_studio_player AS s ON s.id = t.studio_player_id
        WHERE j.id = journal AND j.reverses_id IS NULL AND j.round_id IS NULL
          AND (SELECT count(*) = 2 AND bool_and(
                   (e.currency, e.mode) = (t.currency, t.mode)
                   AND CASE WHEN a.kind = 'studio' THEN e.amount
                            WHEN a.kind = 'cash' AND a.owner_id = s.player_id THEN -e.amount
                       END IS NOT DISTINCT FROM CASE j.kind WHEN 'studio_stake' THEN t.bet ELSE -t.win END)
               FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id WHERE e.journal_id = j.id)
        UNION ALL
        SELECT FROM wallet_journal AS j
        JOIN wallet_journal AS was ON was.id = j.reverses_id
        JOIN wallet_studio_transaction AS r ON r.operation = 'rollback' AND (r.bet_key = j.key OR r.win_key = j.key)
        JOIN wallet_studio_transaction AS t ON t.partner_id = r.partner_id AND t.transaction = r.takes_back
        WHERE j.id = journal AND j.kind = 'studio_rollback'
          AND (r.bet_key = j.key AND t.bet_key = was.key OR r.win_key = j.key AND t.win_key = was.key))
$$;

CREATE FUNCTION wallet_check_studio_journal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT wallet_studio_moves_so(NEW.id) THEN
        RAISE EXCEPTION 'journal % is nothing that a studio did', NEW.id USING ERRCODE = 'SB009';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER wallet_journal_plays_as_said AFTER INSERT ON wallet_journal
    FOR EACH ROW WHEN (NEW.kind IN ('studio_stake', 'studio_win', 'studio_rollback'))
    EXECUTE FUNCTION wallet_check_studio_journal();

-- The journals that a transaction says are missing, by what they are.
CREATE FUNCTION wallet_studio_unbooked(asked wallet_studio_transaction) RETURNS text
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT string_agg(due.what, ', ') FROM (
        SELECT 'stake' AS what, asked.bet_key AS key WHERE asked.bet > 0
        UNION ALL
        SELECT 'win', asked.win_key WHERE asked.win > 0
        UNION ALL
        SELECT 'stake taken back', asked.bet_key FROM wallet_studio_transaction AS t
        WHERE asked.takes_back <> '' AND t.partner_id = asked.partner_id AND t.transaction = asked.takes_back AND t.bet > 0
        UNION ALL
        SELECT 'win taken back', asked.win_key FROM wallet_studio_transaction AS t
        WHERE asked.takes_back <> '' AND t.partner_id = asked.partner_id AND t.transaction = asked.takes_back AND t.win > 0
    ) AS due
    WHERE NOT EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = due.key AND wallet_studio_moves_so(k.journal_id))
$$;

CREATE FUNCTION wallet_check_studio_booked() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    missing text := wallet_studio_unbooked(NEW);
BEGIN
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'transaction % is not in the ledger: %', NEW.transaction, missing
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER wallet_studio_transaction_is_booked AFTER INSERT ON wallet_studio_transaction
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wallet_check_studio_booked();

-- As before; studios' account moves by nothing but what studios did.
CREATE OR REPLACE FUNCTION wallet_follow_lines() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    astray record;
BEGIN
    LOOP
        SELECT n.journal_id, n.line, n.account_id, n.currency, n.mode, n.version, n.balance_after, a.id AS home,
               a.kind IN ('adjusted', 'studio')
                   OR a.stands_for IS NOT NULL AND n.version BETWEEN 1 AND a.version AS stands
        INTO astray
        FROM new_lines AS n
        LEFT JOIN wallet_account AS a ON a.id = n.account_id AND a.currency = n.currency AND a.mode = n.mode
        WHERE (CASE WHEN a.balance IS NULL THEN a.id IS NOT NULL AND n.version IS NULL AND n.balance_after IS NULL
                         AND (a.kind <> 'adjusted' OR wallet_adjusts_so(n.journal_id))
                         AND (a.kind <> 'studio' OR wallet_studio_moves_so(n.journal_id))
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


-- Limits and stops ---------------------------------------------------------------------------------------------------

-- As before; what a studio takes is staked, and held to the limits, and what it gives is paid.
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
            'deposit', 'withdraw_paid', 'stake', 'held_stake', 'settle', 'bank', 'bank_back', 'bank_won', 'studio_stake',
            'studio_win')
           OR j.kind = 'void_transfer' AND EXISTS (
               SELECT FROM new_lines AS n JOIN wallet_account AS a ON a.id = n.account_id
               WHERE n.journal_id = j.id AND a.kind = 'bank')
        ORDER BY j.id
    LOOP
        IF journal.kind NOT IN ('stake', 'bank', 'studio_stake', 'deposit') OR journal.reverses_id IS NOT NULL THEN
            INSERT INTO wallet_day AS d (player_id, day, deposited, withdrawn, staked, paid)
            SELECT moved.owner_id, (wallet_counts_at(
                       journal.counted, moved.account_id,
                       CASE WHEN journal.reverses_id IS NULL THEN moved.amount ELSE -moved.amount END
                   ) AT TIME ZONE z.time_zone)::date,
                   CASE journal.kind WHEN 'deposit' THEN moved.amount ELSE 0 END,
                   CASE journal.kind WHEN 'withdraw_paid' THEN -moved.amount ELSE 0 END,
                   CASE WHEN journal.kind IN ('stake', 'held_stake', 'bank', 'bank_back', 'studio_stake')
                        THEN -moved.amount ELSE 0 END,
                   CASE WHEN journal.kind IN ('settle', 'bank_won', 'void_transfer', 'studio_win')
                        THEN moved.amount ELSE 0 END
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
                    CASE WHEN journal.kind IN ('stake', 'bank', 'studio_stake') THEN -theirs.amount ELSE 0 END, 0)
            ON CONFLICT (player_id, day) DO UPDATE SET
                deposited = d.deposited + excluded.deposited, staked = d.staked + excluded.staked;
            IF journal.kind IN ('stake', 'bank', 'studio_stake') AND theirs.amount < 0 THEN
                PERFORM wallet_refuse_beyond(theirs.player, theirs.day, '{stake,loss}', -theirs.amount);
            ELSIF journal.kind = 'deposit' AND theirs.amount > 0 AND NOT was_begun THEN
                PERFORM wallet_refuse_beyond(theirs.player, theirs.day, '{deposit}', theirs.amount);
            END IF;
        END LOOP;
    END LOOP;
    RETURN NULL;
END $$;

-- As before; studios' stakes as well.
DROP TRIGGER wallet_journal_may_begin ON wallet_journal;
CREATE TRIGGER wallet_journal_may_begin AFTER INSERT ON wallet_journal
    FOR EACH ROW WHEN (NEW.kind IN ('stake', 'bank', 'top_up', 'studio_stake')) EXECUTE FUNCTION wallet_refuse_stopped();
