-- Chat at shared tables. Messages are kept for the retention time of chat (90 days, GLI-19 v3.0,
-- A.4.7) and never changed.
-- The database decides who may write and how often.
--
--   SB011 the player writes too fast
--   SB012 the player is banned from this chat
--   SB013 the player has no chat name
--   SB014 the player changed the chat name less than a day ago
--   SB015 staff took this name away
--   SB146 the player has reported 20 messages within an hour

-- Check a new report. Trigger function, BEFORE INSERT on games_chatreport. Sets `at` to the
-- database's time, and clears the decision.
-- Raises restrict_violation (23001) for a message of the reporter, a removed one, or one that is older
-- than a day and not shown to players any more. Raises SB146 after 20 reports within an hour.
-- Locks an advisory lock of the player, so that concurrent reports count each other.
CREATE OR REPLACE FUNCTION games_report_chat() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    moment timestamptz := clock_timestamp();
BEGIN
    IF NOT EXISTS (
        SELECT FROM games_chatmessage AS said
        WHERE said.id = NEW.message_id AND said.player_id <> NEW.player_id AND said.removed_at IS NULL
          AND said.at > moment - interval '1 day') THEN
        RAISE EXCEPTION 'player % does not report message %', NEW.player_id, NEW.message_id
            USING ERRCODE = 'restrict_violation';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('games_chatreport', NEW.player_id));
    IF (SELECT count(*) >= 20 FROM (
            SELECT before.at FROM games_chatreport AS before WHERE before.player_id = NEW.player_id
            ORDER BY before.id DESC LIMIT 20) AS late
        WHERE late.at > moment - interval '1 hour') THEN
        RAISE EXCEPTION 'player % reports too much', NEW.player_id USING ERRCODE = 'SB146';
    END IF;
    NEW.at := clock_timestamp();
    NEW.decision := '';
    NEW.decided_by := '';
    NEW.decided_at := NULL;
    RETURN NEW;
END $$;

-- Allow one change of a report: its decision. Trigger function, BEFORE UPDATE on games_chatreport.
-- Sets `decided_at` to the database's time.
-- Raises restrict_violation (23001) for any other change or a second decision.
CREATE OR REPLACE FUNCTION games_decide_chat_report() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.decision <> '' OR NEW.decision = '' OR NEW.decided_by = ''
       OR to_jsonb(NEW) - '{decision,decided_by,decided_at}'::text[] <> to_jsonb(OLD) - '{decision,decided_by,decided_at}'::text[]
    THEN
        RAISE EXCEPTION 'report % stays as it was', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.decided_at := clock_timestamp();
    RETURN NEW;
END $$;

-- Set the time of a new chat ban, and allow two changes of a ban: it is lifted once, and its reason
-- is emptied after the account was erased. Trigger function, BEFORE INSERT OR UPDATE on
-- games_chatban. Times are the database's.
-- Raises restrict_violation (23001) for any other change.
CREATE OR REPLACE FUNCTION games_keep_chat_ban() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.at := clock_timestamp();
        NEW.lifted_at := NULL;
        NEW.lifted_by := '';
        RETURN NEW;
    END IF;
    IF NEW.reason = '' AND to_jsonb(NEW) - 'reason' = to_jsonb(OLD) - 'reason'
       AND EXISTS (SELECT FROM players_closure AS gone WHERE gone.player_id = OLD.player_id AND gone.state = 'erased')
    THEN
        RETURN NEW;
    END IF;
    IF OLD.lifted_at IS NOT NULL OR NEW.lifted_at IS NULL OR NEW.lifted_by = ''
       OR to_jsonb(NEW) - '{lifted_at,lifted_by}'::text[] <> to_jsonb(OLD) - '{lifted_at,lifted_by}'::text[]
    THEN
        RAISE EXCEPTION 'ban % stays as it was', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.lifted_at := clock_timestamp();
    RETURN NEW;
END $$;

-- Return whether a chat message may be deleted: its retention time is over, and no report about it
-- is undecided. An undecided report does not protect the message of a player whose account was
-- erased.
-- `message`: id of the message.
CREATE OR REPLACE FUNCTION games_chat_is_due(message bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM games_chatmessage AS said
        WHERE said.id = message AND said.at < clock_timestamp() - audit_retention_period('chat')
            AND (NOT EXISTS (SELECT FROM games_chatreport AS report WHERE report.message_id = said.id AND report.decision = '')
                 OR EXISTS (SELECT FROM players_closure AS gone WHERE gone.player_id = said.player_id AND gone.state = 'erased')))
$$;

-- Refuse to delete a chat message, or a report about it, before games_chat_is_due allows it.
-- Trigger function, BEFORE DELETE on games_chatmessage and games_chatreport.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION games_keep_chat() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT games_chat_is_due(CASE TG_TABLE_NAME WHEN 'games_chatmessage' THEN (to_jsonb(OLD) ->> 'id')::bigint
                             ELSE (to_jsonb(OLD) ->> 'message_id')::bigint END)
    THEN
        RAISE EXCEPTION 'what was said in the chat is kept for longer' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;

-- Allow one change of a message: staff remove it once and give a reason. Trigger function, BEFORE
-- UPDATE on games_chatmessage. Sets `removed_at` to the database's time.
-- Raises restrict_violation (23001) for any other change.
-- Locks advisory lock (1011, table id), so that removals and new messages of a table come one after
-- the other.
CREATE OR REPLACE FUNCTION games_keep_chat_message() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.removed_at IS NOT NULL OR NEW.removed_at IS NULL OR NEW.removed_by = '' OR NEW.removed_for = ''
       OR to_jsonb(NEW) - '{removed_at,removed_by,removed_for,removed_note}'::text[]
          <> to_jsonb(OLD) - '{removed_at,removed_by,removed_for,removed_note}'::text[]
    THEN
        RAISE EXCEPTION 'message % stays as it was said', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    PERFORM pg_advisory_xact_lock(1011, NEW.live_table_id::integer);
    NEW.removed_at := clock_timestamp();
    RETURN NEW;
END $$;

-- Check a new or changed chat name. Trigger function, BEFORE INSERT OR UPDATE on
-- games_chatname. Sets `chosen_at` to the database's time.
-- Raises SB014 if the player changed it less than a day ago, SB015 if staff took the name away,
-- unique_violation (23505, games_chatname_once) if another player's messages have it,
-- restrict_violation (23001) if the row would belong to another player.
-- Locks advisory lock (1024, 0) shared: waits for a name that is being taken away, and then sees
-- it.
CREATE OR REPLACE FUNCTION games_choose_chat_name() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.chosen_at := clock_timestamp();
    IF TG_OP = 'UPDATE' THEN
        IF NEW.player_id <> OLD.player_id THEN
            RAISE EXCEPTION 'a name in the chat is one player''s' USING ERRCODE = 'restrict_violation';
        END IF;
        IF OLD.chosen_at > NEW.chosen_at - interval '1 day' THEN
            RAISE EXCEPTION 'player % has chosen a name today', NEW.player_id USING ERRCODE = 'SB014';
        END IF;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(1024, 0);
    PERFORM FROM games_chatnametaken AS taken WHERE lower(taken.name) = lower(NEW.name);
    IF FOUND THEN
        RAISE EXCEPTION 'this name was taken away' USING ERRCODE = 'SB015';
    END IF;
    PERFORM FROM games_chatmessage AS said WHERE lower(said.name) = lower(NEW.name) AND said.player_id <> NEW.player_id;
    IF FOUND THEN
        RAISE EXCEPTION 'somebody else has spoken under this name'
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'games_chatname_once';
    END IF;
    RETURN NEW;
END $$;

-- Take a name away: put it on the list of refused names, and delete it from the player who has it.
-- Trigger function, BEFORE INSERT on games_chatnametaken. Sets `id` and `at`. A newer name of the
-- player stays.
-- Locks the player's name, then advisory lock (1024, 0): the same order as a change of a name. The
-- id is drawn under the lock, so ids follow the order of commits, and a reader that continues after
-- an id misses no row.
CREATE OR REPLACE FUNCTION games_take_chat_name() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_chatname AS mine WHERE mine.player_id = NEW.player_id FOR UPDATE;
    PERFORM pg_advisory_xact_lock(1024, 0);
    NEW.id := nextval(pg_get_serial_sequence('games_chatnametaken', 'id'));
    NEW.at := clock_timestamp();
    DELETE FROM games_chatname AS mine WHERE mine.player_id = NEW.player_id AND lower(mine.name) = lower(NEW.name);
    RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION games_take_chat_name FROM PUBLIC;

-- Refuse to change or delete a name on the list of refused names. Trigger function, BEFORE UPDATE,
-- DELETE OR TRUNCATE on games_chatnametaken. After the player's account was erased, player and note
-- may be emptied. The name stays.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION games_keep_taken_name() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.player_id IS NULL AND NEW.note = ''
           AND to_jsonb(NEW) - '{player_id,note}'::text[] = to_jsonb(OLD) - '{player_id,note}'::text[]
           AND EXISTS (SELECT FROM players_closure AS gone WHERE gone.player_id = OLD.player_id AND gone.state = 'erased')
        THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'a removed name stays on the list of refused names' USING ERRCODE = 'restrict_violation';
END $$;

-- Check a new chat message. Trigger function, BEFORE INSERT on games_chatmessage. Sets `id`, `name`
-- and `at`, and clears the removal.
-- Raises SB013 without a name, SB012 if the player is banned at this table or all tables, SB011
-- after a message in the last 2 seconds or six in the last 30.
-- Locks the player's name, so that of two concurrent messages the second sees the first. Then locks
-- advisory lock (1011, table id). The id is drawn under that lock, so ids at a table follow the
-- order of commits, and a reader that continues after an id misses no message.
CREATE OR REPLACE FUNCTION games_say_in_chat() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    moment timestamptz;
BEGIN
    SELECT name INTO NEW.name FROM games_chatname WHERE player_id = NEW.player_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'player % has no name in the chat', NEW.player_id USING ERRCODE = 'SB013';
    END IF;
    moment := clock_timestamp();
    PERFORM FROM games_chatban AS ban
    WHERE ban.player_id = NEW.player_id AND ban.lifted_at IS NULL AND (ban.until IS NULL OR ban.until > moment)
        AND (ban.live_table_id IS NULL OR ban.live_table_id = NEW.live_table_id);
    IF FOUND THEN
        RAISE EXCEPTION 'player % may not write in the chat', NEW.player_id USING ERRCODE = 'SB012';
    END IF;
    IF (SELECT count(*) >= 6 OR count(*) FILTER (WHERE late.at > moment - interval '2 seconds') >= 1
        FROM (SELECT said.at FROM games_chatmessage AS said WHERE said.player_id = NEW.player_id
              ORDER BY said.id DESC LIMIT 6) AS late
        WHERE late.at > moment - interval '30 seconds')
    THEN
        RAISE EXCEPTION 'player % writes too fast', NEW.player_id USING ERRCODE = 'SB011';
    END IF;
    PERFORM pg_advisory_xact_lock(1011, NEW.live_table_id::integer);
    NEW.id := nextval(pg_get_serial_sequence('games_chatmessage', 'id'));
    NEW.at := clock_timestamp();
    NEW.removed_at := NULL;
    NEW.removed_by := '';
    NEW.removed_for := '';
    NEW.removed_note := '';
    RETURN NEW;
END $$;

-- Erase a player from the chat: their name, blocks, texts of bans, and their link to names taken
-- away, and the messages and reports that games_chat_is_due allows to delete.
-- Raises check_violation (23514) unless the account was erased.
CREATE OR REPLACE FUNCTION games_forget_chat(player bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM players_closure AS gone WHERE gone.player_id = player AND gone.state = 'erased') THEN
        RAISE EXCEPTION 'the account of player % is not erased', player USING ERRCODE = 'check_violation';
    END IF;
    DELETE FROM games_chatreport AS report USING games_chatmessage AS said
    WHERE said.id = report.message_id AND said.player_id = player AND games_chat_is_due(said.id);
    DELETE FROM games_chatmessage AS said WHERE said.player_id = player AND games_chat_is_due(said.id);
    UPDATE games_chatban SET reason = '' WHERE player_id = player AND reason <> '';
    UPDATE games_chatnametaken SET player_id = NULL, note = '' WHERE player_id = player;
    DELETE FROM games_chatblock WHERE player_id = player OR blocked_id = player;
    DELETE FROM games_chatname WHERE player_id = player;
END $$;
REVOKE ALL ON FUNCTION games_forget_chat FROM PUBLIC;
