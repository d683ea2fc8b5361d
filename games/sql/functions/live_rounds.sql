-- Phases of shared rounds. live_bets.sql has the bets on them.
--
-- The role of web and workers cannot write to games_livetable and games_liveround; it calls the
-- functions below. Each moves a round to its next phase, by the database's clock: betting, closed, dealt,
-- settled, in this order; void can follow the first three. shoes.sql lists the SQLSTATEs.

-- Open a round at a live table, from the shoe on it, and return the round.
-- `round`: its id, new everywhere. `version`: the version of the table in force; at Chemin de Fer
-- also that of the coup before, while the same bank is held.
-- A shared table must be open for this kind of money, and the betting time is that of its version.
-- Raises SB070 if the table is stopped or takes no round now, or its shoe or its last round is not in
-- the right state, SB071 if the id was used before.
-- Locks the live table and its shoe.
CREATE OR REPLACE FUNCTION games_open_round(live_table bigint, round uuid, version bigint, code text) RETURNS games_liveround
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    at_table games_livetable;
    of_table games_table;
    rules games_tableversion;
    dealt_from games_shoe;
    opened games_liveround;
    moment timestamptz;
BEGIN
    SELECT t.* INTO at_table FROM games_livetable AS t WHERE t.id = live_table AND t.stopped_by_id IS NULL FOR NO KEY UPDATE;
    SELECT t.* INTO of_table FROM games_table AS t WHERE t.id = at_table.table_id;
    SELECT v.* INTO rules FROM games_tableversion AS v WHERE v.id = version AND v.table_id = of_table.id;
    SELECT s.* INTO dealt_from FROM games_shoe AS s WHERE s.id = at_table.shoe_id AND s.ended_at IS NULL FOR UPDATE;
    IF dealt_from.id IS NULL OR rules.id IS NULL OR rules.clock IS NULL
       OR of_table.shape = 'shared' AND (of_table.status <> 'open' OR NOT at_table.mode = ANY (rules.modes))
       OR rules.id IS DISTINCT FROM of_table.version_id AND (of_table.shape = 'shared' OR rules.id IS DISTINCT FROM (
           SELECT r.version_id FROM games_liveround AS r WHERE r.id = at_table.round_id))
       OR EXISTS (SELECT FROM games_liveround AS r WHERE r.live_table_id = games_open_round.live_table
                  AND r.phase IN ('betting', 'closed', 'dealt'))
    THEN
        RAISE EXCEPTION 'table % takes no new round now', live_table USING ERRCODE = 'SB070';
    END IF;
    IF EXISTS (SELECT FROM games_soloseat AS s WHERE s.round_id = round) OR EXISTS (SELECT FROM games_round AS r WHERE r.id = round)
       OR EXISTS (SELECT FROM games_liveround AS r WHERE r.id = round) OR EXISTS (SELECT FROM games_shoe AS s WHERE s.id = round)
       OR EXISTS (SELECT FROM wallet_hold AS h WHERE h.round_id = round)
    THEN
        RAISE EXCEPTION 'the id % was used before', round USING ERRCODE = 'SB071';
    END IF;
    moment := clock_timestamp();
    INSERT INTO games_liveround AS r (
        id, live_table_id, version_id, shoe_id, number, is_last, code, phase, opened_at, cards, deadline, salt)
    SELECT round, live_table, rules.id, dealt_from.id, coalesce(max(before.number), 0) + 1,
        of_table.shape = 'shared' AND dealt_from.gone > dealt_from.cut, games_open_round.code, 'betting', moment, '',
        moment + CASE of_table.shape WHEN 'shared' THEN games_lasts(rules.clock, 'betting') ELSE interval '0' END,
        uuid_send(gen_random_uuid())
    FROM games_liveround AS before WHERE before.shoe_id = dealt_from.id
    RETURNING r.* INTO opened;
    UPDATE games_livetable AS t SET round_id = round WHERE t.id = live_table;
    RETURN opened;
END $$;
REVOKE ALL ON FUNCTION games_open_round FROM PUBLIC;

-- Return a time of a table's clock, which is in milliseconds. `times`: how often it runs.
CREATE OR REPLACE FUNCTION games_lasts(clock jsonb, name text, times integer DEFAULT 1) RETURNS interval
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT make_interval(secs => (clock ->> name)::integer * times / 1000.0)
$$;
REVOKE ALL ON FUNCTION games_lasts FROM PUBLIC;

-- Lock a round until the transaction ends, and return it.
-- `phases`: those in which it must be.
-- Raises SB073.
CREATE OR REPLACE FUNCTION games_lock_round(round uuid, phases text[]) RETURNS games_liveround
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    locked games_liveround;
BEGIN
    SELECT r.* INTO locked FROM games_liveround AS r WHERE r.id = round AND r.phase = ANY (phases) FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'round % is in another phase', round USING ERRCODE = 'SB073';
    END IF;
    RETURN locked;
END $$;
REVOKE ALL ON FUNCTION games_lock_round FROM PUBLIC;

-- Lock a round of a shared table whose phase ends now, and return it.
-- Raises SB073 if it is in another phase than `phase` or at another kind of table, SB074 before its
-- deadline.
CREATE OR REPLACE FUNCTION games_lock_due_round(round uuid, phase text) RETURNS games_liveround
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    locked games_liveround := games_lock_round(round, ARRAY[phase]);
BEGIN
    PERFORM FROM games_livetable AS t JOIN games_table AS g ON g.id = t.table_id
    WHERE t.id = locked.live_table_id AND g.shape = 'shared';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'round % is not of a shared table', round USING ERRCODE = 'SB073';
    END IF;
    IF locked.deadline > clock_timestamp() THEN
        RAISE EXCEPTION 'the deadline of round % has not passed', round USING ERRCODE = 'SB074';
    END IF;
    RETURN locked;
END $$;
REVOKE ALL ON FUNCTION games_lock_due_round FROM PUBLIC;

-- Return whether anybody has bet on a round of a shared table.
CREATE OR REPLACE FUNCTION games_has_bets(round uuid) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM games_liveseat AS s WHERE s.round_id = round AND s.stakes <> '{}')
$$;
REVOKE ALL ON FUNCTION games_has_bets FROM PUBLIC;

-- Start the betting time of a round again that nobody has bet on, and return its deadline.
-- Raises SB073 if it does not take bets, SB074 before its deadline, SB075 if somebody has bet on it.
-- Locks the round, so that no bet arrives.
CREATE OR REPLACE FUNCTION games_take_bets_again(round uuid) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    updated games_liveround := games_lock_due_round(round, 'betting');
BEGIN
    IF games_has_bets(round) THEN
        RAISE EXCEPTION 'round % has bets', round USING ERRCODE = 'SB075';
    END IF;
    UPDATE games_liveround AS r SET deadline = clock_timestamp() + games_lasts(v.clock, 'betting')
    FROM games_tableversion AS v WHERE r.id = round AND v.id = r.version_id RETURNING r.* INTO updated;
    RETURN updated.deadline;
END $$;
REVOKE ALL ON FUNCTION games_take_bets_again FROM PUBLIC;

-- Close the bets of a round, record their root (games_seal_bets), choose who turns the cards (games_grant_squeezes),
-- and return the round. No money moves: what
-- is held for the bets stays held until games_settle_live_round takes it.
-- Raises SB073 if it does not take bets, SB074 before its deadline.
CREATE OR REPLACE FUNCTION games_close_bets(round uuid) RETURNS games_liveround
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    updated games_liveround := games_lock_due_round(round, 'betting');
    moment timestamptz := clock_timestamp();
BEGIN
    PERFORM games_seal_bets(round);
    PERFORM games_grant_squeezes(round);
    UPDATE games_liveround AS r SET phase = 'closed', closed_at = moment, deadline = moment + games_lasts(v.clock, 'call')
    FROM games_tableversion AS v WHERE r.id = round AND v.id = r.version_id RETURNING r.* INTO updated;
    RETURN updated;
END $$;
REVOKE ALL ON FUNCTION games_close_bets FROM PUBLIC;

-- Deal a round: the dealer's cards leave the shoe from where the last round ended. Returns the round.
-- `cards`: four to six cards in dealing order, such as "9H 4D KS 2C". The other values are those of the
-- dealer's statement.
-- Raises SB073 if its bets are not closed or its shoe has ended, SB074 before its deadline, SB072 if the
-- dealer has not dealt these cards for the round, or the shoe is not committed to them.
-- Locks the round, then the shoe.
CREATE OR REPLACE FUNCTION games_deal_round(
    round uuid, cards text, salts bytea, dealer_key text, signature bytea, proof bytea) RETURNS games_liveround
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    updated games_liveround := games_lock_due_round(round, 'closed');
    dealt_from games_shoe;
    moment timestamptz := clock_timestamp();
    drawn integer := cardinality(string_to_array(cards, ' '));
BEGIN
    SELECT s.* INTO dealt_from FROM games_shoe AS s WHERE s.id = updated.shoe_id AND s.ended_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the shoe of round % has ended', round USING ERRCODE = 'SB073';
    END IF;
    IF drawn < 4 THEN
        RAISE EXCEPTION 'round % has too few cards', round USING ERRCODE = 'SB072';
    END IF;
    PERFORM games_take_cards(dealt_from, round, cards, salts, dealer_key, signature, proof);
    UPDATE games_liveround AS r SET phase = 'dealt', dealt_at = moment, first_card = dealt_from.gone,
        cards = games_deal_round.cards, deadline = moment + games_lasts(v.clock, 'card', drawn)
    FROM games_tableversion AS v WHERE r.id = round AND v.id = r.version_id RETURNING r.* INTO updated;
    RETURN updated;
END $$;
REVOKE ALL ON FUNCTION games_deal_round FROM PUBLIC;

-- End a dealt round that is paid, and return it.
-- Raises SB073 if it is not dealt, SB074 before its deadline, SB075 if it is not stored or not paid.
CREATE OR REPLACE FUNCTION games_finish_round(round uuid) RETURNS games_liveround
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    updated games_liveround := games_lock_due_round(round, 'dealt');
    moment timestamptz := clock_timestamp();
BEGIN
    IF NOT EXISTS (SELECT FROM games_round AS r WHERE r.id = round AND r.cards = updated.cards)
       OR NOT EXISTS (SELECT FROM wallet_journal AS j WHERE j.round_id = round AND j.kind = 'settle')
    THEN
        RAISE EXCEPTION 'round % is not paid', round USING ERRCODE = 'SB075';
    END IF;
    UPDATE games_liveround AS r SET phase = 'settled', ended_at = moment, deadline = moment + games_lasts(v.clock, 'pause')
    FROM games_tableversion AS v WHERE r.id = round AND v.id = r.version_id RETURNING r.* INTO updated;
    RETURN updated;
END $$;
REVOKE ALL ON FUNCTION games_finish_round FROM PUBLIC;

-- End a round, or a coup of Chemin de Fer, without a result, and return it.
-- Raises SB073 if it has ended, SB033 if it is dealt and two people have not approved, SB075 if a
-- round with bets has no void, or money is still held or staked on it.
CREATE OR REPLACE FUNCTION games_end_void(round uuid) RETURNS games_liveround
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    updated games_liveround := games_lock_round(round, '{betting,closed,dealt}');
    moment timestamptz := clock_timestamp();
BEGIN
    IF updated.phase = 'dealt' AND NOT games_two_agreed_to_void(round) THEN
        RAISE EXCEPTION 'voiding round % takes two people', round USING ERRCODE = 'SB033';
    END IF;
    IF games_has_bets(round) AND NOT EXISTS (SELECT FROM games_void AS v WHERE v.round_id = round)
       OR EXISTS (SELECT FROM wallet_hold AS h WHERE h.round_id = round)
       OR EXISTS (SELECT FROM wallet_account AS a WHERE a.subject_id = round AND a.kind = 'stakes' AND a.balance <> 0)
    THEN
        RAISE EXCEPTION 'the bets on round % are not returned', round USING ERRCODE = 'SB075';
    END IF;
    UPDATE games_liveround AS r SET phase = 'void', ended_at = moment,
        deadline = moment + coalesce(games_lasts(v.clock, 'pause'), interval '0')
    FROM games_tableversion AS v WHERE r.id = round AND v.id = r.version_id RETURNING r.* INTO updated;
    RETURN updated;
END $$;
REVOKE ALL ON FUNCTION games_end_void FROM PUBLIC;

-- Move a coup of Chemin de Fer to its next phase, where players and not the clock decide when, and
-- return it. `at`: time of the move. `deadline`: of the pending question.
-- The first card of a coup is the one that the shoe gives next.
-- Raises SB073 unless the phase is the next one, SB074 for a time outside this transaction, SB075
-- for a coup that ends before it is stored or without cards.
CREATE OR REPLACE FUNCTION games_move_coup(round uuid, phase text, at timestamptz, deadline timestamptz) RETURNS games_liveround
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    updated games_liveround := games_lock_round(
        round, CASE phase WHEN 'closed' THEN '{betting}'::text[] WHEN 'dealt' THEN '{closed}' WHEN 'settled' THEN '{dealt}' END);
    dealt_from games_shoe;
BEGIN
    PERFORM FROM games_livetable AS t JOIN games_table AS g ON g.id = t.table_id
    WHERE t.id = updated.live_table_id AND g.shape = 'chemin';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'round % is no coup', round USING ERRCODE = 'SB073';
    END IF;
    IF (at BETWEEN transaction_timestamp() AND clock_timestamp()) IS NOT TRUE THEN
        RAISE EXCEPTION 'coup % does not move at %', round, at USING ERRCODE = 'SB074';
    END IF;
    SELECT s.* INTO dealt_from FROM games_shoe AS s WHERE s.id = updated.shoe_id AND s.ended_at IS NULL;
    IF phase = 'settled' AND dealt_from.gone < updated.first_card + 4 THEN
        RAISE EXCEPTION 'coup % has no cards', round USING ERRCODE = 'SB075';
    END IF;
    UPDATE games_liveround AS r SET phase = games_move_coup.phase, deadline = games_move_coup.deadline,
        closed_at = CASE games_move_coup.phase WHEN 'closed' THEN at ELSE r.closed_at END,
        dealt_at = CASE games_move_coup.phase WHEN 'dealt' THEN at ELSE r.dealt_at END,
        first_card = CASE games_move_coup.phase WHEN 'dealt' THEN dealt_from.gone ELSE r.first_card END,
        ended_at = CASE games_move_coup.phase WHEN 'settled' THEN at END
    WHERE r.id = round RETURNING r.* INTO updated;
    IF phase = 'closed' THEN
        PERFORM games_seal_bets(round);
    END IF;
    RETURN updated;
END $$;
REVOKE ALL ON FUNCTION games_move_coup FROM PUBLIC;

-- Return whether an incident of the live table awaits its ruling.
CREATE OR REPLACE FUNCTION games_awaits_ruling(live_table bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM games_incident AS i JOIN games_liveround AS r ON r.id = i.live_round_id
        WHERE r.live_table_id = games_awaits_ruling.live_table
            AND NOT EXISTS (SELECT FROM games_incidentruling AS ruling WHERE ruling.incident_id = i.id))
$$;
REVOKE ALL ON FUNCTION games_awaits_ruling FROM PUBLIC;

-- Stop a live table because of an incident of one of its rounds. A stopped table keeps
-- the incident that stopped it first.
-- Raises SB076 if the incident is not one of this table.
-- Locks the live table.
CREATE OR REPLACE FUNCTION games_stop_table(live_table bigint, incident bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_incident AS i JOIN games_liveround AS r ON r.id = i.live_round_id
    WHERE i.id = incident AND r.live_table_id = games_stop_table.live_table;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'incident % is not of table %', incident, live_table USING ERRCODE = 'SB076';
    END IF;
    UPDATE games_livetable AS t SET stopped_by_id = incident WHERE t.id = live_table AND t.stopped_by_id IS NULL;
END $$;
REVOKE ALL ON FUNCTION games_stop_table FROM PUBLIC;

-- Reopen a stopped live table. The phase of an undealt round of a shared table starts again in full.
-- Raises SB076 if the table is not stopped, or an incident awaits its ruling.
-- Locks the round, then the live table.
CREATE OR REPLACE FUNCTION games_reopen_table(live_table bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    UPDATE games_liveround AS r SET deadline = clock_timestamp()
        + games_lasts(v.clock, CASE r.phase WHEN 'betting' THEN 'betting' ELSE 'call' END)
    FROM games_tableversion AS v, games_livetable AS t, games_table AS g
    WHERE r.live_table_id = games_reopen_table.live_table AND r.phase IN ('betting', 'closed') AND v.id = r.version_id
        AND t.id = r.live_table_id AND g.id = t.table_id AND g.shape = 'shared';
    UPDATE games_livetable AS t SET stopped_by_id = NULL WHERE t.id = live_table AND t.stopped_by_id IS NOT NULL;
    IF NOT FOUND OR games_awaits_ruling(live_table) THEN
        RAISE EXCEPTION 'table % stays as it is', live_table USING ERRCODE = 'SB076';
    END IF;
END $$;
REVOKE ALL ON FUNCTION games_reopen_table FROM PUBLIC;

-- Add an empty live table for one kind of money to a table for several players.
-- Raises SB070 if there is no such table, or it has one for this kind of money.
CREATE OR REPLACE FUNCTION games_add_live_table(table_id bigint, mode text) RETURNS games_livetable
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    added games_livetable;
BEGIN
    INSERT INTO games_livetable AS t (table_id, mode)
    SELECT g.id, games_add_live_table.mode FROM games_table AS g
    WHERE g.id = games_add_live_table.table_id AND g.shape IN ('shared', 'chemin') AND games_add_live_table.mode IN ('R', 'F')
    ON CONFLICT DO NOTHING RETURNING t.* INTO added;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no live table is added to table %', games_add_live_table.table_id USING ERRCODE = 'SB070';
    END IF;
    RETURN added;
END $$;
REVOKE ALL ON FUNCTION games_add_live_table FROM PUBLIC;

-- Allow only forward changes of a shared round. Trigger function, BEFORE UPDATE on games_liveround.
-- The phases are betting, closed, dealt, settled, in this order; void can follow the first three.
-- The cards are set once, when the phase changes from closed to dealt. The times of a settled or
-- void round never change, nor do its table, version, shoe and number.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION games_keep_live_round() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.live_table_id, NEW.version_id, NEW.shoe_id, NEW.number, NEW.is_last, NEW.code, NEW.opened_at)
       IS DISTINCT FROM
       (OLD.id, OLD.live_table_id, OLD.version_id, OLD.shoe_id, OLD.number, OLD.is_last, OLD.code, OLD.opened_at)
    THEN
        RAISE EXCEPTION 'round % has begun', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.cards <> '' AND (NEW.cards, NEW.first_card) IS DISTINCT FROM (OLD.cards, OLD.first_card) THEN
        RAISE EXCEPTION 'the cards of round % are drawn', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF (NEW.cards, NEW.first_card) IS DISTINCT FROM (OLD.cards, OLD.first_card)
       AND (OLD.phase, NEW.phase) <> ('closed', 'dealt')
    THEN
        RAISE EXCEPTION 'no card of round % is drawn now', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.phase IN ('settled', 'void')
       AND (NEW.closed_at, NEW.dealt_at, NEW.ended_at) IS DISTINCT FROM (OLD.closed_at, OLD.dealt_at, OLD.ended_at)
    THEN
        RAISE EXCEPTION 'round % has ended', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.phase <> OLD.phase
       AND (OLD.phase, NEW.phase) NOT IN (('betting', 'closed'), ('closed', 'dealt'), ('dealt', 'settled'),
                                          ('betting', 'void'), ('closed', 'void'), ('dealt', 'void'))
    THEN
        RAISE EXCEPTION 'round % does not go from % to %', OLD.id, OLD.phase, NEW.phase
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
