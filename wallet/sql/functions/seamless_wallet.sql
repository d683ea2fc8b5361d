-- The seamless wallet: transactions of game studios on players' balances. Each transaction has its
-- journals when it is committed. The database cannot check whether the studio sent it: the web
-- process checks the signature.
--
--   SB050 partner or key was not approved by two people
--   SB051 the rollback came before the transaction
--   SB052 a win without an open bet
--   SB053 the round began with another mode or currency
--   SB054 the win would be left without a bet
--   SB055 the transaction cannot be rolled back like this
--   SB056 the partner has two active keys

-- Return whether an approval allows adding a partner or a key.
-- `approval`: its id. `kinds`: allowed kinds of approval. `said`: JSON that the request must
-- contain.
-- It was approved, and both staff members still hold their permissions: ask_partner and
-- decide_partner.
CREATE OR REPLACE FUNCTION wallet_partner_agreed(approval bigint, kinds text[], said jsonb) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM audit_approval AS asked
        JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
        WHERE asked.id = wallet_partner_agreed.approval AND asked.kind = ANY (kinds) AND asked.request::jsonb @> said
          AND wallet_staff_may(asked."by", asked.person, 'ask_partner')
          AND wallet_staff_may(decided."by", decided.person, 'decide_partner'))
$$;

-- Refuse a new partner that differs from its approval. Trigger function, BEFORE INSERT on
-- wallet_partner. Sets `made_at` to the database's time.
-- Raises SB050.
CREATE OR REPLACE FUNCTION wallet_begin_partner() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.off_at IS NOT NULL OR NOT wallet_partner_agreed(NEW.approval_id, '{partner.add}', jsonb_build_object(
        'code', NEW.code, 'name', NEW.name, 'kind', NEW.kind, 'address', NEW.address, 'per_minute', NEW.per_minute)) THEN
        RAISE EXCEPTION 'nobody agreed on partner %', NEW.code USING ERRCODE = 'SB050';
    END IF;
    NEW.made_at := clock_timestamp();
    RETURN NEW;
END $$;

-- Allow one change of a partner: to switch it off. Trigger function, BEFORE UPDATE on
-- wallet_partner. Sets `off_at` to the database's time.
-- Raises restrict_violation (23001) for any other change, for a second switch-off, or if the staff
-- member lacks the permission ask_partner.
CREATE OR REPLACE FUNCTION wallet_end_partner() RETURNS trigger
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

-- Refuse a new partner key without an approval for this partner. Trigger function, BEFORE INSERT on
-- wallet_partner_key.
-- Sets `made_at` to the database's time.
-- Raises SB050 without an approval, SB056 if the partner has two active keys.
-- Locks the partner, so that concurrent inserts count each other.
CREATE OR REPLACE FUNCTION wallet_begin_partner_key() RETURNS trigger
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

-- Return whether a studio transaction was rolled back, including a rollback that came first.
-- `name`: the studio's id of the transaction. VOLATILE, so that it sees what was committed while
-- the caller waited for a lock.
CREATE OR REPLACE FUNCTION wallet_studio_taken_back(partner bigint, name text) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM wallet_studio_transaction AS r
                   WHERE r.partner_id = wallet_studio_taken_back.partner AND r.takes_back = wallet_studio_taken_back.name
                     AND r.takes_back <> '')
$$;

-- Return whether the round of a transaction has another bet that was posted and not rolled back.
-- `asked`: the transaction. `without`: id of a bet that does not count, or ''. Mode and currency
-- must be the same.
-- VOLATILE, for the reason given at wallet_studio_taken_back.
CREATE OR REPLACE FUNCTION wallet_studio_has_bet(asked wallet_studio_transaction, without text) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM wallet_studio_transaction AS t
        WHERE t.studio_player_id = asked.studio_player_id AND t.game = asked.game AND t.round = asked.round
          AND (t.mode, t.currency) = (asked.mode, asked.currency) AND t.bet > 0 AND t.transaction <> without
          AND NOT wallet_studio_taken_back(t.partner_id, t.transaction)
          AND EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = t.bet_key))
$$;

-- Check a studio transaction against the transactions before it. Trigger function, BEFORE INSERT on
-- wallet_studio_transaction. Sets `at` to the database's time.
-- Raises restrict_violation (23001) if player, game session or account do not match, SB051, SB052,
-- SB053, SB054, SB055.
-- Locks the player's cash account, then an advisory lock of the transaction that is written or
-- rolled back. So a transaction and its rollback come one after the other, whichever arrives first.
-- A rollback of an unknown transaction is accepted: it refuses that transaction if it arrives later
-- (SB051).
CREATE OR REPLACE FUNCTION wallet_begin_studio_transaction() RETURNS trigger
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

-- Check that a studio transaction has all of its journals. Constraint trigger function, AFTER
-- INSERT on wallet_studio_transaction, at commit, because the journals are posted after the row.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION wallet_check_studio_booked() RETURNS trigger
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

-- Allow only the changes in the life of a partner key. Trigger function, BEFORE UPDATE on
-- wallet_partner_key.
-- It is shown once, ended once, and used. Its secret may be encrypted again with another key
-- (`manage.py reseal`), if nothing else changes and the length is the same.
-- Raises restrict_violation (23001) for any other change.
-- The database cannot see whether it is the same secret: decryption checks that against the key's
-- name. The role of web and workers has no right to update the column.
CREATE OR REPLACE FUNCTION wallet_keep_partner_key() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.partner_id, OLD.name, OLD.approval_id, OLD.made_at)
        IS DISTINCT FROM (NEW.id, NEW.partner_id, NEW.name, NEW.approval_id, NEW.made_at)
        OR NEW.sealed <> OLD.sealed
           AND (octet_length(NEW.sealed), NEW.shown_at, NEW.used_at, NEW.ended_at)
               IS DISTINCT FROM (octet_length(OLD.sealed), OLD.shown_at, OLD.used_at, OLD.ended_at)
        OR OLD.shown_at IS NOT NULL AND OLD.shown_at IS DISTINCT FROM NEW.shown_at
        OR OLD.ended_at IS NOT NULL AND OLD.ended_at IS DISTINCT FROM NEW.ended_at THEN
        RAISE EXCEPTION 'key % does not change like this', OLD.name USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Return whether a journal may have a line on a studio account.
-- It may if it moves exactly the bet or the win of a studio transaction between the player's cash
-- and the studio account. It may also if it reverses such a journal and a rollback with its key
-- exists. wallet_record_reversal checks that the reversal is exact.
CREATE OR REPLACE FUNCTION wallet_studio_moves_so(journal bigint) RETURNS boolean
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
        JOIN wallet_studio_transaction AS r ON r.operation = 'rollback' AND (r.bet_key = j.key OR r.win_key = j.key)
        JOIN wallet_studio_transaction AS t ON t.partner_id = r.partner_id AND t.transaction = r.takes_back
        WHERE j.id = journal AND j.kind = 'studio_rollback'
          AND (SELECT was.key FROM wallet_journal AS was WHERE was.id = j.reverses_id)
              = CASE j.key WHEN r.bet_key THEN t.bet_key ELSE t.win_key END)
$$;

-- Return which journals of a studio transaction are missing, as text separated by commas; NULL if
-- none.
CREATE OR REPLACE FUNCTION wallet_studio_unbooked(asked wallet_studio_transaction) RETURNS text
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
