-- Our tables on an operator's wallet. An operator's money comes to a player's account as a bet says that was asked for,
-- and what a round leaves goes back as a message says that is sent until it is taken. Bets and messages say for ever what
-- they said; what became of them goes one way. The database cannot tell whether an operator has said yes.

-- The account against which operators' players play: one for each currency, of real money alone ------------------------

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
                AND NEW.balance IS NULL AND NEW.stands_for IS NULL
             OR NEW.kind = 'operator' AND NEW.owner_id IS NULL AND NEW.balance IS NULL AND NEW.mode = 'R'
                AND NEW.stands_for IS NULL)
        AND NEW.held = 0 AND NEW.version = 0) IS NOT TRUE)
    EXECUTE FUNCTION wallet_refuse_account();

INSERT INTO wallet_account (kind, currency, mode, held, version, lock_only)
SELECT 'operator', currency, 'R', 0, 0, false FROM unnest(ARRAY['SEK', 'DKK', 'RON', 'EUR', 'GBP']) AS currency;


-- Players of operators ------------------------------------------------------------------------------------------------

CREATE FUNCTION wallet_begin_remote_player() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM players_player AS p WHERE p.id = NEW.player_id AND p.is_remote)
        OR NOT EXISTS (SELECT FROM wallet_partner AS o WHERE o.id = NEW.partner_id AND o.kind = 'operator') THEN
        RAISE EXCEPTION 'player % is of no operator', NEW.player_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_remote_player_begins BEFORE INSERT ON wallet_remote_player
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_remote_player();
CREATE TRIGGER wallet_remote_player_is_kept BEFORE DELETE OR TRUNCATE ON wallet_remote_player
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- They are whose they are. What they were called there goes once the house has forgotten who they were.
CREATE FUNCTION wallet_keep_remote_player() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (OLD.player_id, OLD.partner_id) IS DISTINCT FROM (NEW.player_id, NEW.partner_id)
        OR OLD.name <> NEW.name AND (NEW.name <> 'forgotten:' || OLD.player_id OR NOT EXISTS (
            SELECT FROM players_closure AS c WHERE c.player_id = OLD.player_id AND c.state = 'erased')) THEN
        RAISE EXCEPTION 'player % stays whose they are', OLD.player_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_remote_player_changes BEFORE UPDATE ON wallet_remote_player
    FOR EACH ROW EXECUTE FUNCTION wallet_keep_remote_player();

CREATE TRIGGER wallet_remote_launch_is_kept BEFORE DELETE OR TRUNCATE ON wallet_remote_launch
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- An address is good once, for as long as it was made for; then it has the session that it became.
CREATE FUNCTION wallet_use_remote_launch() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.token = '' AND (OLD.id, OLD.remote_id, OLD.game, OLD.language, OLD.digest, OLD.at, OLD.ends_at, OLD.used_at,
        OLD.session) IS NOT DISTINCT FROM (NEW.id, NEW.remote_id, NEW.game, NEW.language, NEW.digest, NEW.at,
        NEW.ends_at, NEW.used_at, NEW.session)
        AND EXISTS (SELECT FROM players_closure AS c WHERE c.player_id = OLD.remote_id AND c.state = 'erased') THEN
        RETURN NEW;
    END IF;
    IF NEW.used_at IS NULL OR OLD.used_at IS NULL AND (NEW.session IS NOT NULL OR OLD.ends_at <= clock_timestamp())
        OR OLD.used_at IS NOT NULL AND (NEW.used_at <> OLD.used_at OR NEW.session IS NULL OR OLD.session IS NOT NULL)
        OR (OLD.id, OLD.remote_id, OLD.token, OLD.game, OLD.language, OLD.digest, OLD.at, OLD.ends_at) IS DISTINCT FROM
           (NEW.id, NEW.remote_id, NEW.token, NEW.game, NEW.language, NEW.digest, NEW.at, NEW.ends_at) THEN
        RAISE EXCEPTION 'launch % is not used like this', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.used_at := coalesce(OLD.used_at, clock_timestamp());
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_remote_launch_is_used BEFORE UPDATE ON wallet_remote_launch
    FOR EACH ROW EXECUTE FUNCTION wallet_use_remote_launch();

-- Forgets what an operator called a player, and its sessions with them. Refused by the triggers above unless the player is
-- forgotten.
CREATE FUNCTION wallet_forget_remote(player bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE wallet_remote_player SET name = 'forgotten:' || player_id WHERE player_id = player;
    UPDATE wallet_remote_launch SET token = '' WHERE remote_id = player AND token <> '';
$$;

REVOKE ALL ON FUNCTION wallet_forget_remote FROM PUBLIC;


-- As before; nobody puts right what an operator's player has in real money, which is nothing but within a round.
CREATE OR REPLACE FUNCTION wallet_check_adjustment() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM audit_approval AS asked
        JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
        JOIN wallet_account AS a ON a.id = NEW.account_id AND a.kind = 'cash'
        JOIN players_player AS p ON p.id = a.owner_id AND NOT (p.is_remote AND a.mode = 'R')
        WHERE asked.id = NEW.approval_id AND asked.kind = 'balance.adjust'
          AND asked.request::jsonb @> jsonb_build_object(
              'player', a.owner_id, 'currency', a.currency, 'mode', a.mode, 'amount', NEW.amount, 'key', NEW.key,
              'why', NEW.why)
          AND wallet_staff_may(asked."by", asked.person, 'ask_adjustment')
          AND wallet_staff_may(decided."by", decided.person, 'decide_adjustment'))
    THEN
        RAISE EXCEPTION 'no approval % says so', NEW.approval_id USING ERRCODE = 'SB030';
    END IF;
    RETURN NEW;
END $$;


-- Bets ----------------------------------------------------------------------------------------------------------------

CREATE FUNCTION wallet_begin_remote_bet() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.state <> 'asked' OR NOT EXISTS (
        SELECT FROM wallet_remote_launch AS l JOIN players_player AS p ON p.id = l.remote_id
        WHERE l.id = NEW.launch_id AND l.session IS NOT NULL AND p.id = NEW.player_id AND p.currency = NEW.currency) THEN
        RAISE EXCEPTION 'no bet begins like %', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.asked_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_remote_bet_begins BEFORE INSERT ON wallet_remote_bet
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_remote_bet();
CREATE TRIGGER wallet_remote_bet_is_kept BEFORE DELETE OR TRUNCATE ON wallet_remote_bet
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- Decided once.
CREATE FUNCTION wallet_decide_remote_bet() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.state <> 'asked' OR NEW.state = 'asked'
        OR (OLD.id, OLD.launch_id, OLD.player_id, OLD.round_id, OLD.game, OLD.currency, OLD.amount, OLD.asked_at)
            IS DISTINCT FROM
           (NEW.id, NEW.launch_id, NEW.player_id, NEW.round_id, NEW.game, NEW.currency, NEW.amount, NEW.asked_at) THEN
        RAISE EXCEPTION 'bet % is % and does not change like this', OLD.id, OLD.state USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.ended_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_remote_bet_is_decided BEFORE UPDATE ON wallet_remote_bet
    FOR EACH ROW EXECUTE FUNCTION wallet_decide_remote_bet();

-- A bet that is given up is rolled back: the message that says so is there when both are committed. One that is played
-- was booked, and the operator is told what its round has left.
CREATE FUNCTION wallet_check_remote_decided() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.state = 'given_up' AND NOT EXISTS (
            SELECT FROM wallet_remote_message AS m WHERE m.bet_id = NEW.id AND m.takes_back = NEW.id)
        OR NEW.state = 'played' AND NOT (
            EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = NEW.id)
            AND EXISTS (SELECT FROM wallet_remote_message AS m WHERE m.bet_id = NEW.id AND m.kind = 'win')) THEN
        RAISE EXCEPTION 'bet % is % and its operator is not told', NEW.id, NEW.state USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER wallet_remote_bet_is_told AFTER UPDATE ON wallet_remote_bet
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wallet_check_remote_decided();


-- Messages ------------------------------------------------------------------------------------------------------------

-- A win is of a bet that is played. A rollback takes back the bet that it belongs to, or its win.
CREATE FUNCTION wallet_begin_remote_message() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.state <> 'waiting' OR NEW.tries <> 0 OR NOT EXISTS (
        SELECT FROM wallet_remote_bet AS b
        WHERE b.id = NEW.bet_id AND CASE NEW.kind
            WHEN 'win' THEN b.state = 'played'
            ELSE b.state IN ('played', 'given_up') AND (NEW.takes_back = b.id OR NEW.takes_back = (
                SELECT w.transaction FROM wallet_remote_message AS w WHERE w.bet_id = b.id AND w.kind = 'win')) END) THEN
        RAISE EXCEPTION 'no message begins like this: %', NEW USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_remote_message_begins BEFORE INSERT ON wallet_remote_message
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_remote_message();
CREATE TRIGGER wallet_remote_message_is_kept BEFORE DELETE OR TRUNCATE ON wallet_remote_message
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- It waits until it is taken, refused or, by staff who may, settled: while it waits, only where its operator has no key any
-- more, so that nobody can be told.
CREATE FUNCTION wallet_move_remote_message() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.bet_id, OLD.transaction, OLD.kind, OLD.amount, OLD.takes_back, OLD.at) IS DISTINCT FROM
       (NEW.id, NEW.bet_id, NEW.transaction, NEW.kind, NEW.amount, NEW.takes_back, NEW.at)
        OR (OLD.state, NEW.state) NOT IN (('waiting', 'waiting'), ('waiting', 'taken'), ('waiting', 'doubt'),
                                          ('doubt', 'waiting'), ('doubt', 'settled'), ('waiting', 'settled'))
        OR OLD.state = 'waiting' AND NEW.state = 'settled' AND EXISTS (
            SELECT FROM wallet_remote_bet AS b JOIN wallet_remote_player AS r ON r.player_id = b.player_id
            JOIN wallet_partner_key AS k ON k.partner_id = r.partner_id AND k.ended_at IS NULL
            WHERE b.id = OLD.bet_id)
        OR NEW.state = 'settled' AND (
            SELECT players_staff_may('staff:' || s.id, s.person, 'wallet', 'settle_remote')
            FROM players_staff AS s WHERE s.id = NEW.settled_by_id) IS NOT TRUE THEN
        RAISE EXCEPTION 'message % is % and does not change like this', OLD.id, OLD.state
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_remote_message_moves BEFORE UPDATE ON wallet_remote_message
    FOR EACH ROW EXECUTE FUNCTION wallet_move_remote_message();


-- Its journals --------------------------------------------------------------------------------------------------------

-- Whether the journal moves what a bet says from the operators' account to the player's cash, or what a win says back, for
-- the round of the bet, and nothing else; or takes such a journal back with its round.
CREATE FUNCTION wallet_remote_moves_so(journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM wallet_journal AS j
        LEFT JOIN wallet_remote_message AS w ON w.transaction = j.key AND w.kind = 'win' AND j.kind = 'remote_back'
        JOIN wallet_remote_bet AS b ON b.id = CASE j.kind WHEN 'remote_bet' THEN j.key ELSE w.bet_id END
        WHERE j.id = journal AND j.kind IN ('remote_bet', 'remote_back') AND j.reverses_id IS NULL
          AND j.round_id = b.round_id AND b.state = 'played'
          AND (SELECT count(*) = 2 AND bool_and(
                   (e.currency, e.mode) = (b.currency, 'R')
                   AND CASE WHEN a.kind = 'operator' THEN -e.amount
                            WHEN a.kind = 'cash' AND a.owner_id = b.player_id THEN e.amount
                       END IS NOT DISTINCT FROM CASE j.kind WHEN 'remote_bet' THEN b.amount ELSE -w.amount END)
               FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id WHERE e.journal_id = j.id)
        UNION ALL
        SELECT FROM wallet_journal AS j JOIN wallet_journal AS was ON was.id = j.reverses_id
        WHERE j.id = journal AND j.kind = 'void' AND was.kind IN ('remote_bet', 'remote_back'))
$$;

CREATE FUNCTION wallet_check_remote_journal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT wallet_remote_moves_so(NEW.id) THEN
        RAISE EXCEPTION 'journal % is no round of an operator''s player', NEW.id USING ERRCODE = 'SB009';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER wallet_journal_plays_remotely AFTER INSERT ON wallet_journal
    FOR EACH ROW WHEN (NEW.kind IN ('remote_bet', 'remote_back')) EXECUTE FUNCTION wallet_check_remote_journal();

-- As before; operators' account moves by nothing but their players' rounds.
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
