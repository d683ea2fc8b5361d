-- Seats, tenures and reports at Chemin de Fer tables.

-- House players sit where nobody plays for real money, whoever writes; and who has got up has got up.
CREATE OR REPLACE FUNCTION games_keep_guest() RETURNS trigger
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

-- What was decided, and what came of it, is never written anew.
CREATE OR REPLACE FUNCTION games_keep_play() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- A tenure ends once, and what went home does not come back.
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

-- Forgets the words of reports about how a player whose account has been erased plays, and of those that they made; that
-- there were some stays.
CREATE OR REPLACE FUNCTION games_forget_reports(player bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM players_closure AS gone WHERE gone.player_id = player AND gone.state = 'erased') THEN
        RAISE EXCEPTION 'the account of player % is not erased', player USING ERRCODE = 'check_violation';
    END IF;
    UPDATE games_playreport AS report SET words = '', note = ''
    FROM games_cheminseat AS seat
    WHERE seat.id = report.seat_id AND (report.reporter_id = player OR seat.player_id = player);
END $$;
REVOKE ALL ON FUNCTION games_forget_reports FROM PUBLIC;
