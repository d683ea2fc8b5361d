-- Seats, tenures and reports at Chemin de Fer tables.

-- Check a seat at a Chemin de Fer table. Trigger function, BEFORE INSERT OR UPDATE on
-- games_cheminseat.
-- House players (without `player_id`) sit only at tables for free money. The number, the player and
-- the account of a seat never change, and nothing changes after the player left.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION games_keep_player() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.player_id IS NULL
           AND NOT EXISTS (SELECT FROM games_livetable AS t WHERE t.id = NEW.live_table_id AND t.mode = 'F')
        THEN
            RAISE EXCEPTION 'house players play for free money alone' USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF (NEW.id, NEW.live_table_id, NEW.number, NEW.player_id, NEW.account_id, NEW.is_random, NEW.joined_at)
       IS DISTINCT FROM
       (OLD.id, OLD.live_table_id, OLD.number, OLD.player_id, OLD.account_id, OLD.is_random, OLD.joined_at)
       OR OLD.left_at IS NOT NULL
    THEN
        RAISE EXCEPTION 'seat % is on record', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse the statement. Trigger function for voids and for the coups, moves and stakes of Chemin de
-- Fer, whose rows never change.
-- Raises restrict_violation (23001), always.
CREATE OR REPLACE FUNCTION games_keep_play() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Allow only forward changes of a banker's tenure: it ends once, and the amount taken home never
-- decreases. Trigger function, BEFORE UPDATE on games_chemintenure.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION games_keep_tenure() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.live_table_id, NEW.seat_id, NEW.account_id, NEW.put_up, NEW.began_at)
       IS DISTINCT FROM (OLD.id, OLD.live_table_id, OLD.seat_id, OLD.account_id, OLD.put_up, OLD.began_at)
       OR NEW.home < OLD.home OR OLD.ended_at IS NOT NULL AND NEW.ended_at IS DISTINCT FROM OLD.ended_at
    THEN
        RAISE EXCEPTION 'tenure % is on record', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Allow two changes of a report about a player's play: staff decide it once, and its texts are emptied after an account was
-- erased. Trigger function, BEFORE UPDATE on games_playreport. Sets `decided_at` to the database's time.
-- Raises SB082 unless an active member of staff who may examine play decides it, restrict_violation (23001) for any other change.
CREATE OR REPLACE FUNCTION games_decide_play_report() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    decided text[] := '{finding,note,decided_by,decided_at}';
BEGIN
    IF OLD.decided_at IS NULL AND NEW.finding <> '' AND to_jsonb(NEW) - decided = to_jsonb(OLD) - decided THEN
        IF NOT EXISTS (
            SELECT FROM players_staff AS s
            WHERE 'staff:' || s.id = NEW.decided_by AND players_staff_may(NEW.decided_by, s.person, 'games', 'examine_play'))
        THEN
            RAISE EXCEPTION '% may not decide report %', NEW.decided_by, OLD.id USING ERRCODE = 'SB082';
        END IF;
        NEW.decided_at := clock_timestamp();
        RETURN NEW;
    END IF;
    IF NEW.text || NEW.note = '' AND to_jsonb(NEW) - '{text,note}'::text[] = to_jsonb(OLD) - '{text,note}'::text[] AND EXISTS (
        SELECT FROM games_cheminseat AS seat
        JOIN players_closure AS gone ON gone.player_id IN (OLD.reporter_id, seat.player_id) AND gone.state = 'erased'
        WHERE seat.id = OLD.seat_id)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'report % stays as it was', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

-- Empty the texts of reports about a player's play and of reports that the player made. The rows
-- stay.
-- Raises check_violation (23514) unless the account was erased.
CREATE OR REPLACE FUNCTION games_forget_reports(player bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM players_closure AS gone WHERE gone.player_id = player AND gone.state = 'erased') THEN
        RAISE EXCEPTION 'the account of player % is not erased', player USING ERRCODE = 'check_violation';
    END IF;
    UPDATE games_playreport AS report SET text = '', note = ''
    FROM games_cheminseat AS seat
    WHERE seat.id = report.seat_id AND (report.reporter_id = player OR seat.player_id = player);
END $$;
REVOKE ALL ON FUNCTION games_forget_reports FROM PUBLIC;
