-- The operator wallet: an operator's players at our tables. Money enters with a bet that the
-- operator accepted, and leaves with a win message to the operator. The database cannot know what
-- the operator answered.

-- Refuse an operator's player unless the player uses the operator wallet and the partner is an
-- operator. Trigger function, BEFORE INSERT on wallet_operator_player.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION wallet_begin_operator_player() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM players_player AS p WHERE p.id = NEW.player_id AND p.uses_operator_wallet)
        OR NOT EXISTS (SELECT FROM wallet_partner AS o WHERE o.id = NEW.partner_id AND o.kind = 'operator') THEN
        RAISE EXCEPTION 'player % is of no operator', NEW.player_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Keep the player and the operator of an operator's player unchanged. Trigger function, BEFORE
-- UPDATE on wallet_operator_player.
-- The operator's name for the player may become 'forgotten:<id>' after the account was erased.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION wallet_keep_operator_player() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (OLD.player_id, OLD.partner_id) IS DISTINCT FROM (NEW.player_id, NEW.partner_id)
        OR OLD.name <> NEW.name AND (NEW.name <> 'forgotten:' || OLD.player_id OR NOT EXISTS (
            SELECT FROM players_closure AS c WHERE c.player_id = OLD.player_id AND c.state = 'erased')) THEN
        RAISE EXCEPTION 'player % stays whose they are', OLD.player_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Allow only the changes in the life of a launch. Trigger function, BEFORE UPDATE on
-- wallet_operator_launch.
-- It is used once, before `ends_at`; `used_at` is the database's time. After that it gets its
-- session, once. After the player's account was erased, the operator's token may be emptied.
-- Raises restrict_violation (23001) for any other change.
CREATE OR REPLACE FUNCTION wallet_use_operator_launch() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.token = '' AND (OLD.id, OLD.operator_player_id, OLD.game, OLD.language, OLD.digest, OLD.at, OLD.ends_at, OLD.used_at,
        OLD.session) IS NOT DISTINCT FROM (NEW.id, NEW.operator_player_id, NEW.game, NEW.language, NEW.digest, NEW.at,
        NEW.ends_at, NEW.used_at, NEW.session)
        AND EXISTS (SELECT FROM players_closure AS c WHERE c.player_id = OLD.operator_player_id AND c.state = 'erased') THEN
        RETURN NEW;
    END IF;
    IF NEW.used_at IS NULL OR OLD.used_at IS NULL AND (NEW.session IS NOT NULL OR OLD.ends_at <= clock_timestamp())
        OR OLD.used_at IS NOT NULL AND (NEW.used_at <> OLD.used_at OR NEW.session IS NULL OR OLD.session IS NOT NULL)
        OR (OLD.id, OLD.operator_player_id, OLD.token, OLD.game, OLD.language, OLD.digest, OLD.at, OLD.ends_at) IS DISTINCT FROM
           (NEW.id, NEW.operator_player_id, NEW.token, NEW.game, NEW.language, NEW.digest, NEW.at, NEW.ends_at) THEN
        RAISE EXCEPTION 'launch % is not used like this', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.used_at := coalesce(OLD.used_at, clock_timestamp());
    RETURN NEW;
END $$;

-- Check a new bet at an operator. Trigger function, BEFORE INSERT on wallet_operator_bet. Sets
-- `asked_at` to the database's time.
-- Raises restrict_violation (23001) unless the state is asked, the launch has a session of this
-- player, and the currency is the player's.
CREATE OR REPLACE FUNCTION wallet_begin_operator_bet() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.state <> 'asked' OR NOT EXISTS (
        SELECT FROM wallet_operator_launch AS l JOIN players_player AS p ON p.id = l.operator_player_id
        WHERE l.id = NEW.launch_id AND l.session IS NOT NULL AND p.id = NEW.player_id AND p.currency = NEW.currency) THEN
        RAISE EXCEPTION 'no bet begins like %', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.asked_at := clock_timestamp();
    RETURN NEW;
END $$;

-- Allow one change of a bet: from asked to a final state. Trigger function, BEFORE UPDATE on
-- wallet_operator_bet. Sets `ended_at` to the database's time.
-- Raises restrict_violation (23001) for a second decision or a change of the bet itself.
CREATE OR REPLACE FUNCTION wallet_decide_operator_bet() RETURNS trigger
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

-- Check that the operator is notified of a decided bet. Constraint trigger function, AFTER UPDATE on
-- wallet_operator_bet, at commit, because bet and message are written in the same transaction.
-- A bet that was given up has a rollback message. A bet that was played has its journal and a win
-- message.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION wallet_check_operator_bet_decided() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.state = 'given_up' AND NOT EXISTS (
            SELECT FROM wallet_operator_message AS m WHERE m.bet_id = NEW.id AND m.takes_back = NEW.id)
        OR NEW.state = 'played' AND NOT (
            EXISTS (SELECT FROM wallet_posting_key AS k WHERE k.key = NEW.id)
            AND EXISTS (SELECT FROM wallet_operator_message AS m WHERE m.bet_id = NEW.id AND m.kind = 'win')) THEN
        RAISE EXCEPTION 'bet % is % and its operator is not notified', NEW.id, NEW.state USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

-- Check a new message to an operator. Trigger function, BEFORE INSERT on wallet_operator_message.
-- Sets `at` to the database's time.
-- A win belongs to a bet that was played. A rollback takes back its bet or that bet's win.
-- Raises restrict_violation (23001) otherwise, or if the message is not new (state waiting, no
-- tries).
CREATE OR REPLACE FUNCTION wallet_begin_operator_message() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.state <> 'waiting' OR NEW.tries <> 0 OR NOT EXISTS (
        SELECT FROM wallet_operator_bet AS b
        WHERE b.id = NEW.bet_id AND CASE NEW.kind
            WHEN 'win' THEN b.state = 'played'
            ELSE b.state IN ('played', 'given_up') AND (NEW.takes_back = b.id OR NEW.takes_back = (
                SELECT w.transaction FROM wallet_operator_message AS w WHERE w.bet_id = b.id AND w.kind = 'win')) END) THEN
        RAISE EXCEPTION 'no message begins like this: %', NEW USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

-- Allow only the status changes of a message to an operator. Trigger function, BEFORE UPDATE on
-- wallet_operator_message.
-- The operator takes a waiting message or refuses it (doubt), and a refused one may wait again.
-- Staff with the permission wallet.settle_operator_messages settle a refused message by hand. They
-- may settle a waiting message only if the operator has no active key, because then it cannot be
-- sent.
-- Raises restrict_violation (23001) for any other change.
CREATE OR REPLACE FUNCTION wallet_move_operator_message() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.bet_id, OLD.transaction, OLD.kind, OLD.amount, OLD.takes_back, OLD.at) IS DISTINCT FROM
       (NEW.id, NEW.bet_id, NEW.transaction, NEW.kind, NEW.amount, NEW.takes_back, NEW.at)
        OR (OLD.state, NEW.state) NOT IN (('waiting', 'waiting'), ('waiting', 'taken'), ('waiting', 'doubt'),
                                          ('doubt', 'waiting'), ('doubt', 'settled'), ('waiting', 'settled'))
        OR OLD.state = 'waiting' AND NEW.state = 'settled' AND EXISTS (
            SELECT FROM wallet_operator_bet AS b JOIN wallet_operator_player AS r ON r.player_id = b.player_id
            JOIN wallet_partner_key AS k ON k.partner_id = r.partner_id AND k.ended_at IS NULL
            WHERE b.id = OLD.bet_id)
        OR NEW.state = 'settled' AND (
            SELECT players_staff_may('staff:' || s.id, s.person, 'wallet', 'settle_operator_messages')
            FROM players_staff AS s WHERE s.id = NEW.settled_by_id) IS NOT TRUE THEN
        RAISE EXCEPTION 'message % is % and does not change like this', OLD.id, OLD.state
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Erase the operator's name for a player and the operator's tokens of the player's launches.
-- Raises restrict_violation (23001), from the triggers on both tables, unless the player's account
-- was erased.
CREATE OR REPLACE FUNCTION wallet_forget_operator_player(player bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE wallet_operator_player SET name = 'forgotten:' || player_id WHERE player_id = player;
    UPDATE wallet_operator_launch SET token = '' WHERE operator_player_id = player AND token <> '';
$$;
REVOKE ALL ON FUNCTION wallet_forget_operator_player FROM PUBLIC;

-- Return whether a journal may have a line on an operator account.
-- It may if it moves exactly the amount of a played bet from the operator account to the player's
-- cash (operator_bet), or the amount of the bet's win back (operator_return), for the round of the
-- bet. It may also if it is the void of such a journal.
CREATE OR REPLACE FUNCTION wallet_operator_journal_matches(journal bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM wallet_journal AS j
        LEFT JOIN wallet_operator_message AS w ON w.transaction = j.key AND w.kind = 'win' AND j.kind = 'operator_return'
        JOIN wallet_operator_bet AS b ON b.id = CASE j.kind WHEN 'operator_bet' THEN j.key ELSE w.bet_id END
        WHERE j.id = journal AND j.kind IN ('operator_bet', 'operator_return') AND j.reverses_id IS NULL
          AND j.round_id = b.round_id AND b.state = 'played'
          AND (SELECT count(*) = 2 AND bool_and(
                   (e.currency, e.mode) = (b.currency, 'R')
                   AND CASE WHEN a.kind = 'operator' THEN -e.amount
                            WHEN a.kind = 'cash' AND a.owner_id = b.player_id THEN e.amount
                       END IS NOT DISTINCT FROM CASE j.kind WHEN 'operator_bet' THEN b.amount ELSE -w.amount END)
               FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id WHERE e.journal_id = j.id)
        UNION ALL
        SELECT FROM wallet_journal AS j
        WHERE j.id = journal AND j.kind = 'void' AND (
            SELECT was.kind FROM wallet_journal AS was WHERE was.id = j.reverses_id) IN ('operator_bet', 'operator_return'))
$$;
