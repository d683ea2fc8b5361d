-- Moves at a table of Chemin de Fer. Nothing else writes its table state, seats, tenures, coups,
-- stakes and moves.
--
-- games.engine.chemin decides what follows from an action. These functions check the result against
-- what is stored: rounds, shoes, versions, and above all the ledger. They believe what only the rules
-- can say and no money depends on: which of the seats is asked next, and that a question may be
-- skipped. games/chemin/moves.py has a Python error for each SQLSTATE.
--   SB102 the player may not play; detail: the reason, as players.protection.eligibility names it
--   SB120 the table takes no such move now
--   SB121 this seat does not decide this now
--   SB122 the deadline of the question has passed, or has not
--   SB123 the amount is outside of what the table allows
--   SB124 the seat, its player and its account do not belong together
--   SB125 the new table state differs from what is stored
--   SB126 the coup does not follow from its cards and stakes
--   SB141 a tenure began without a move

-- Return the number of the seat that decides now, by a table state; NULL if nobody is asked.
CREATE OR REPLACE FUNCTION games_seat_in_turn(state jsonb) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE
        WHEN state ->> 'phase' IN ('cards', 'banker', 'choice') THEN (state -> 'bank' ->> 0)::integer
        WHEN state ->> 'phase' = 'punter' THEN (
            SELECT (stake.chips ->> 0)::integer
            FROM jsonb_array_elements(state -> 'coup' -> 'stakes') WITH ORDINALITY AS stake (chips, n)
            ORDER BY (stake.chips ->> 1)::bigint DESC, stake.n LIMIT 1)
        ELSE (state ->> 'asked')::integer
    END
$$;

-- Return whether a table is within a coup, by the phase of its state.
CREATE OR REPLACE FUNCTION games_is_in_coup(phase text) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT phase IN ('calls', 'stakes', 'cards', 'punter', 'banker')
$$;

-- Return the version that applies at a table: while a bank is held or for sale that of the latest
-- coup, otherwise the version in force.
CREATE OR REPLACE FUNCTION games_chemin_version(live_table bigint, phase text) RETURNS games_tableversion
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT v.* FROM games_livetable AS t JOIN games_table AS g ON g.id = t.table_id
    LEFT JOIN games_liveround AS r ON r.id = t.round_id
        AND (games_is_in_coup(phase) OR phase IN ('choice', 'suite', 'auction', 'shoe'))
    JOIN games_tableversion AS v ON v.id = coalesce(r.version_id, g.version_id)
    WHERE t.id = live_table
$$;
REVOKE ALL ON FUNCTION games_chemin_version FROM PUBLIC;

-- Return how long the pending question of a table waits for its answer; NULL without a deadline.
-- House players and leaving players get only the short time of a house player. A free bank waits for
-- ever, unless house players sit at the table.
CREATE OR REPLACE FUNCTION games_time_to_answer(live_table bigint, state jsonb, clock jsonb) RETURNS interval
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE
        WHEN state ->> 'phase' = 'free' THEN (
            SELECT games_lasts(clock, 'house_player') WHERE EXISTS (
                SELECT FROM games_cheminseat AS s
                WHERE s.live_table_id = live_table AND s.left_at IS NULL AND s.player_id IS NULL))
        ELSE (
            SELECT games_lasts(clock, CASE
                WHEN s.player_id IS NULL OR s.why_left <> '' THEN 'house_player'
                ELSE CASE state ->> 'phase' WHEN 'cards' THEN 'deal' WHEN 'punter' THEN 'decide' WHEN 'banker' THEN 'decide'
                    WHEN 'choice' THEN 'choice' ELSE 'ask' END
                END)
            FROM games_cheminseat AS s
            WHERE s.live_table_id = live_table AND s.left_at IS NULL AND s.number = games_seat_in_turn(state))
    END
$$;
REVOKE ALL ON FUNCTION games_time_to_answer FROM PUBLIC;

-- Return the stakes of a coup in the ledger, by account, in the order in which they were laid first.
-- Stakes of a void coup count, too.
CREATE OR REPLACE FUNCTION games_coup_stakes(round uuid) RETURNS TABLE (account bigint, amount bigint, stake_order bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT e.account_id, -sum(e.amount)::bigint, min(j.id)
    FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
    JOIN wallet_account AS a ON a.id = e.account_id AND a.kind <> 'stakes'
    WHERE j.round_id = round AND j.kind = 'stake' GROUP BY e.account_id
$$;
REVOKE ALL ON FUNCTION games_coup_stakes FROM PUBLIC;

-- Return the table state without players, bank and shoe.
-- `seat_count`: number of seats.
CREATE OR REPLACE FUNCTION games_empty_chemin_state(seat_count integer) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT jsonb_build_object('last_banker', seat_count, 'seats', '[]'::jsonb, 'phase', 'alone', 'asked', NULL, 'bank', NULL,
                              'sale', NULL, 'coup', NULL, 'shoe', NULL)
$$;

-- Return the limits of a version of a Chemin de Fer table, with its only currency under "currency".
CREATE OR REPLACE FUNCTION games_chemin_limits(version games_tableversion) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT entry.value || jsonb_build_object('currency', entry.key) FROM jsonb_each(version.limits) AS entry
$$;
REVOKE ALL ON FUNCTION games_chemin_limits FROM PUBLIC;

-- Add the empty state of a live table of Chemin de Fer.
-- Raises SB120 if it is not one, or has a state.
CREATE OR REPLACE FUNCTION games_add_chemin_table(live_table bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO games_chemintable (live_table_id, state, move, question)
    SELECT t.id, games_empty_chemin_state((games_chemin_limits(v) ->> 'seat_count')::integer), 0, 0
    FROM games_livetable AS t JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'chemin'
    JOIN games_tableversion AS v ON v.id = g.version_id
    WHERE t.id = live_table
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'live table % gets no state', live_table USING ERRCODE = 'SB120';
    END IF;
END $$;
REVOKE ALL ON FUNCTION games_add_chemin_table FROM PUBLIC;

-- Return why a player may not put money at risk in a move, as players_reason_against_play does; NULL if they
-- may. `mode`: of the table. `move`: as games_store_move takes it.
CREATE OR REPLACE FUNCTION games_reason_against_move(player bigint, mode text, move jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT r.reason
    FROM players_player AS p CROSS JOIN players_reason_against_play(
        p.id, move ->> 'terms', games_reason_against_move.mode = 'R' AND NOT p.uses_operator_wallet,
        (move ->> 'session')::uuid, (move ->> 'minutes')::integer) AS r
    WHERE p.id = player
$$;
REVOKE ALL ON FUNCTION games_reason_against_move FROM PUBLIC;

-- Refuse a decision that the stored table state does not ask for.
-- `move`: as games_store_move takes it. `at_table`: the stored state. `limits`: of the version that applies.
-- Raises SB121 for another seat or phase, SB122 after the deadline of a player's answer or before that
-- of the croupier and of a house player, SB123 for an amount.
CREATE OR REPLACE FUNCTION games_check_decision(move jsonb, at_table games_chemintable, limits jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    state jsonb := at_table.state;
    kind text := move ->> 'kind';
    phase text := at_table.state ->> 'phase';
    decider text := move ->> 'decider';
    amount bigint := (move ->> 'amount')::bigint;
    call text := move ->> 'call';
    turn integer := games_seat_in_turn(at_table.state);
    seat record;
    bank bigint := (at_table.state -> 'bank' ->> 1)::bigint;
    called text := at_table.state -> 'coup' ->> 'call';
    staked bigint;
BEGIN
    SELECT s.number, s.player_id, s.away_since, s.why_left INTO seat FROM games_cheminseat AS s
    WHERE s.id = (move ->> 'seat')::bigint AND s.live_table_id = at_table.live_table_id AND s.left_at IS NULL;
    IF NOT FOUND OR (decider = 'house_player') <> (seat.player_id IS NULL)
       OR (phase = ANY (CASE kind
            WHEN 'take_bank' THEN '{free,offer,suite}'::text[] WHEN 'make_bid' THEN '{auction}' WHEN 'make_call' THEN '{calls}'
            WHEN 'lay_stake' THEN '{stakes}' WHEN 'pass' THEN '{offer,suite,auction,calls,stakes}' WHEN 'deal_cards' THEN '{cards}'
            WHEN 'draw_card' THEN '{punter,banker}' WHEN 'stand' THEN '{punter,banker}' WHEN 'ask_croupier' THEN '{punter,banker}'
            WHEN 'keep_bank' THEN '{choice}' WHEN 'give_suite' THEN '{choice}' END)) IS NOT TRUE
       OR (CASE phase WHEN 'free' THEN seat.away_since IS NOT NULL OR seat.why_left <> ''
           ELSE turn IS DISTINCT FROM seat.number END)
       OR decider = 'croupier' AND kind NOT IN ('pass', 'deal_cards', 'draw_card', 'stand', 'give_suite')
    THEN
        RAISE EXCEPTION 'seat % does not decide this at table %', move ->> 'seat', at_table.live_table_id USING ERRCODE = 'SB121';
    END IF;
    IF (CASE decider
        WHEN 'player' THEN turn IS NOT NULL AND clock_timestamp() >= at_table.deadline
        ELSE (clock_timestamp() >= at_table.deadline) IS NOT TRUE END)
    THEN
        RAISE EXCEPTION 'question % of table % is not answered now', at_table.question, at_table.live_table_id
            USING ERRCODE = 'SB122';
    END IF;
    SELECT coalesce(sum((stake.chips ->> 1)::bigint) FILTER (WHERE NOT (stake.n = 1 AND called <> 'banco_avec_la_table')), 0)
    INTO staked FROM jsonb_array_elements(state -> 'coup' -> 'stakes') WITH ORDINALITY AS stake (chips, n);
    IF (CASE kind
        WHEN 'take_bank' THEN amount BETWEEN (limits ->> 'minimum')::bigint AND (limits ->> 'maximum')::bigint
            AND (phase <> 'suite' OR amount = (state -> 'sale' ->> 'full_amount')::bigint)
        WHEN 'make_bid' THEN
            amount >= (limits ->> 'minimum')::bigint AND amount < (state -> 'sale' ->> 'full_amount')::bigint
        WHEN 'make_call' THEN CASE call
            WHEN 'banco_avec_la_table' THEN amount BETWEEN bank - bank / 2 AND bank
            ELSE call IN ('banco_solo', 'banco', 'banco_et_la_table_marche') AND amount IS NULL END
        -- A caller who covers the bank leaves up to half of it to the others.
        WHEN 'lay_stake' THEN amount > 0 AND amount <= CASE
            WHEN called = 'banco_solo' THEN 0
            WHEN called IN ('banco', 'banco_et_la_table_marche') THEN bank / 2 - staked
            ELSE bank - staked END
        ELSE amount IS NULL END) IS NOT TRUE
    THEN
        RAISE EXCEPTION 'table % allows no % of %', at_table.live_table_id, kind, amount USING ERRCODE = 'SB123';
    END IF;
END $$;
REVOKE ALL ON FUNCTION games_check_decision FROM PUBLIC;

-- Refuse a table state that differs from seats, shoe, round in progress and ledger.
-- `stored`: the row with the new state, tenure and sale. `before`: the state before. `seat_count`: number
-- of seats. `voids`: whether the round in progress is being voided.
-- Raises SB125.
CREATE OR REPLACE FUNCTION games_check_chemin_state(stored games_chemintable, before jsonb, seat_count integer, voids boolean)
RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    state jsonb := stored.state;
    phase text := state ->> 'phase';
    hands jsonb := state -> 'coup' -> 'hands';
    live games_liveround;
    shoe games_shoe;
    wrong text;
BEGIN
    SELECT r.* INTO live FROM games_liveround AS r
    WHERE r.live_table_id = stored.live_table_id AND r.phase IN ('betting', 'closed', 'dealt') AND NOT voids;
    SELECT s.* INTO shoe FROM games_livetable AS t JOIN games_shoe AS s ON s.id = t.shoe_id AND s.ended_at IS NULL
    WHERE t.id = stored.live_table_id;
    wrong := CASE
        WHEN (SELECT coalesce(jsonb_agg(seat.entry ORDER BY seat.entry -> 0), '[]')
              FROM jsonb_array_elements(state -> 'seats') AS seat (entry))
            IS DISTINCT FROM (
                SELECT coalesce(jsonb_agg(jsonb_build_array(
                    s.number, CASE WHEN s.why_left <> '' THEN 'leaving' WHEN s.away_since IS NOT NULL THEN 'away'
                              ELSE 'playing' END) ORDER BY s.number), '[]')
                FROM games_cheminseat AS s WHERE s.live_table_id = stored.live_table_id AND s.left_at IS NULL)
            THEN 'seats'
        WHEN nullif(state -> 'bank', 'null') IS DISTINCT FROM (
                SELECT jsonb_build_array(s.number, a.balance)
                FROM games_chemintenure AS t JOIN games_cheminseat AS s ON s.id = t.seat_id
                JOIN wallet_account AS a ON a.id = t.account_id
                WHERE t.id = stored.tenure_id AND t.live_table_id = stored.live_table_id AND t.ended_at IS NULL)
            OR EXISTS (SELECT FROM games_chemintenure AS t
                       WHERE t.live_table_id = stored.live_table_id AND t.ended_at IS NULL
                         AND t.id IS DISTINCT FROM stored.tenure_id)
            THEN 'bank'
        WHEN (state ->> 'last_banker')::integer
            IS DISTINCT FROM coalesce((state -> 'bank' ->> 0)::integer, (before ->> 'last_banker')::integer)
            THEN 'order of seats'
        WHEN (SELECT coalesce(jsonb_agg(bid.chips ORDER BY bid.chips -> 0), '[]')
                FROM jsonb_array_elements(CASE jsonb_typeof(state -> 'sale') WHEN 'object' THEN state -> 'sale' -> 'bids' END)
                    AS bid (chips))
            IS DISTINCT FROM (
                SELECT coalesce(jsonb_agg(jsonb_build_array(s.number, h.amount) ORDER BY s.number), '[]')
                FROM wallet_hold AS h JOIN games_cheminseat AS s ON s.account_id = h.account_id
                    AND s.live_table_id = stored.live_table_id AND s.left_at IS NULL
                WHERE h.round_id = stored.sale_id)
            THEN 'bids'
        WHEN games_is_in_coup(phase) IS DISTINCT FROM (live.id IS NOT NULL)
            OR live.phase IS DISTINCT FROM CASE phase WHEN 'calls' THEN 'betting' WHEN 'stakes' THEN 'betting'
                WHEN 'cards' THEN 'closed' WHEN 'punter' THEN 'dealt' WHEN 'banker' THEN 'dealt' END
            THEN 'phase'
        WHEN live.id IS NOT NULL AND (state -> 'coup' -> 'stakes' IS DISTINCT FROM (
                SELECT coalesce(jsonb_agg(jsonb_build_array(s.number, stake.amount) ORDER BY stake.stake_order), '[]')
                FROM games_coup_stakes(live.id) AS stake LEFT JOIN games_cheminseat AS s
                    ON s.account_id = stake.account AND s.live_table_id = stored.live_table_id AND s.left_at IS NULL)
            OR (SELECT sum(stake.amount) FROM games_coup_stakes(live.id) AS stake) > (state -> 'bank' ->> 1)::bigint)
            THEN 'stakes'
        -- Face-down cards stay face down, and no page shows a card that the shoe has not given. A coup can be
        -- voided because the number of cards that left the shoe is wrong.
        WHEN jsonb_typeof(state -> 'shoe') = 'object' AND (
                (state -> 'shoe' ->> 'gone')::integer IS DISTINCT FROM shoe.gone AND NOT voids
                OR (state -> 'shoe' ->> 'cards')::integer IS DISTINCT FROM 52 * shoe.decks)
            OR jsonb_typeof(hands) = 'object' AND (
                (hands ->> 'first')::integer + 4 + (hands ->> 'punter_drew')::boolean::integer
                    + (hands ->> 'banker_drew')::boolean::integer IS DISTINCT FROM shoe.gone)
            OR CASE WHEN live.phase = 'dealt' THEN
                ((hands ->> 'first')::integer, hands ->> 'punter_shown', hands ->> 'banker_shown', hands ->> 'banker_drew',
                 (hands ->> 'punter_drew')::boolean AND phase = 'punter', state -> 'coup' -> 'outcome')
                IS DISTINCT FROM (live.first_card, 'false', (phase = 'banker')::text, 'false', false, 'null'::jsonb)
               WHEN live.id IS NOT NULL THEN jsonb_typeof(hands) = 'object' END
            THEN 'cards'
        WHEN phase IN ('offer', 'suite', 'auction', 'calls', 'stakes')
             AND NOT EXISTS (SELECT FROM games_cheminseat AS s
                 WHERE s.live_table_id = stored.live_table_id AND s.left_at IS NULL AND s.away_since IS NULL
                   AND s.why_left = '' AND s.number = (state ->> 'asked')::integer)
            OR phase = before ->> 'phase' AND state ->> 'asked' <> before ->> 'asked'
             AND ((state ->> 'asked')::integer - (state ->> 'last_banker')::integer - 1 + seat_count) % seat_count
               < ((before ->> 'asked')::integer - (state ->> 'last_banker')::integer - 1 + seat_count) % seat_count
            THEN 'turn'
        END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the state of table % differs from what is stored: %', stored.live_table_id, wrong
            USING ERRCODE = 'SB125';
    END IF;
END $$;
REVOKE ALL ON FUNCTION games_check_chemin_state FROM PUBLIC;

-- Store a move of a table with everything that follows from it, and return the row of the table. Its
-- money was posted and its cards were drawn before, in this transaction.
-- `move`: a JSON object of "number", "kind" (such as "make_call"), "decider", "amount", "call",
-- "events" (as games.chemin.event_codec writes them), "at" and "round"; "seat" is the id of the seat
-- that decides, and "session" and "idempotency_keys" are its player's; "terms" and "minutes" are as for
-- players_ineligibility. "why" is the reason why players
-- leave in this move. "sale" is the id under which bids are held. "newcomer" is a new seat: {"number",
-- "player", "account", "is_random", "session"}. "tenure" is the id of a tenure that begins in this move.
-- `state`: the table state after it.
-- Deadline, ended tenures and the seats of players who leave, go away or come back follow from it.
-- Raises SB108 for a player in a session of API clients; SB102 for a player who puts money at risk, sits down or comes back, and may not play; SB120 if the
-- move is not the next one, or the table is closed or stopped; SB121, SB122, SB123
-- as games_check_decision does; SB124 for a seat whose account is not its player's or not of this money,
-- or a session of somebody else; SB125 as games_check_chemin_state does; and the errors of games_begin_game for a
-- decision that puts money at risk.
-- Locks the table state.
CREATE OR REPLACE FUNCTION games_store_move(live_table bigint, move jsonb, state jsonb) RETURNS games_chemintable
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    before games_chemintable;
    after games_chemintable;
    at_table record;
    version games_tableversion;
    limits jsonb;
    kind text := move ->> 'kind';
    decider text := move ->> 'decider';
    moment timestamptz := (move ->> 'at')::timestamptz;
    phase text;
    seat_id bigint := (move ->> 'seat')::bigint;
    is_decision boolean := move ->> 'kind' IN ('take_bank', 'pass', 'make_bid', 'make_call', 'lay_stake', 'deal_cards',
        'draw_card', 'stand', 'ask_croupier', 'keep_bank', 'give_suite');
    waits interval;
    reason text;
BEGIN
    SELECT t.* INTO before FROM games_chemintable AS t WHERE t.live_table_id = live_table FOR UPDATE;
    phase := before.state ->> 'phase';
    SELECT t.mode, t.table_id, t.stopped_by_id IS NOT NULL AS is_stopped, g.status = 'open' AS is_open, t.round_id AS latest_round, r.id AS round,
           r.phase
    INTO at_table
    FROM games_livetable AS t JOIN games_table AS g ON g.id = t.table_id
    LEFT JOIN games_liveround AS r ON r.id = t.round_id AND r.phase IN ('betting', 'closed', 'dealt')
    WHERE t.id = live_table;
    version := games_chemin_version(live_table, phase);
    limits := games_chemin_limits(version);
    IF (before.move + 1 = (move ->> 'number')::bigint
        AND (move ->> 'round' IS NULL OR (move ->> 'round')::uuid = at_table.latest_round)
        AND moment BETWEEN transaction_timestamp() AND clock_timestamp()
        AND CASE decider
            WHEN 'player' THEN is_decision OR kind IN ('join', 'leave', 'step_away', 'come_back')
            WHEN 'croupier' THEN is_decision WHEN 'house_player' THEN is_decision
            WHEN 'house' THEN kind IN ('join', 'leave', 'step_away', 'set_balance', 'bring_shoe', 'void_coup', 'end_bank', 'break_up')
            END
        AND CASE
            WHEN kind IN ('join', 'bring_shoe') THEN at_table.is_open AND NOT at_table.is_stopped
            WHEN NOT is_decision THEN true
            -- The decision that ends a dealt coup is stored after its round was settled, in the same move.
            WHEN at_table.is_stopped THEN at_table.phase = 'dealt' OR EXISTS (
                SELECT FROM games_liveround AS l WHERE l.id = at_table.latest_round AND l.phase = 'settled' AND l.ended_at = moment)
            ELSE games_is_in_coup(phase) OR at_table.is_open END
        AND CASE kind
            WHEN 'bring_shoe' THEN phase = 'shoe' WHEN 'end_bank' THEN phase IN ('shoe', 'choice')
            WHEN 'break_up' THEN NOT games_is_in_coup(phase)
            WHEN 'void_coup' THEN games_is_in_coup(phase) AND NOT EXISTS (
                SELECT FROM wallet_account AS a
                WHERE a.subject_id = at_table.round AND a.kind = 'stakes' AND a.balance <> 0)
            ELSE true END) IS NOT TRUE
    THEN
        RAISE EXCEPTION 'table % takes no % now', live_table, kind USING ERRCODE = 'SB120';
    END IF;
    IF is_decision THEN
        PERFORM games_check_decision(move, before, limits);
    END IF;
    IF decider = 'player' AND players_is_of_api_client((move ->> 'session')::uuid) THEN
        RAISE EXCEPTION 'API clients may not play at table %', live_table USING ERRCODE = 'SB108';
    END IF;
    IF decider = 'player' AND kind IN ('join', 'come_back', 'take_bank', 'keep_bank', 'make_bid', 'make_call', 'lay_stake') THEN
        reason := games_reason_against_move(
            coalesce((SELECT s.player_id FROM games_cheminseat AS s WHERE s.id = seat_id), (move -> 'newcomer' ->> 'player')::bigint),
            at_table.mode, move);
        IF reason IS NOT NULL THEN
            RAISE EXCEPTION 'the player may not play at table %', live_table USING ERRCODE = 'SB102', DETAIL = reason;
        END IF;
        IF is_decision THEN
            PERFORM games_begin_game(
                (SELECT s.player_id FROM games_cheminseat AS s WHERE s.id = seat_id), at_table.table_id, at_table.mode,
                coalesce((move ->> 'round')::uuid, (move ->> 'sale')::uuid, (move ->> 'tenure')::uuid), (move ->> 'session')::uuid, NULL);
        END IF;
    END IF;

    IF jsonb_typeof(move -> 'newcomer') = 'object' THEN
        INSERT INTO games_cheminseat AS s (
            live_table_id, number, player_id, account_id, is_random, session, missed, joined_at, why_left)
        SELECT live_table, new.number, new.player, a.id, new.is_random, new.session, 0, moment, ''
        FROM jsonb_to_record(move -> 'newcomer')
            AS new (number integer, player bigint, account bigint, is_random boolean, session uuid)
        JOIN wallet_account AS a ON a.id = new.account AND a.currency = limits ->> 'currency' AND a.mode = at_table.mode
            AND a.owner_id IS NOT DISTINCT FROM new.player AND a.kind = CASE WHEN new.player IS NULL THEN 'seat' ELSE 'cash' END
        WHERE kind = 'join' AND (decider = 'player') = (new.player IS NOT NULL) AND new.number BETWEEN 1 AND (limits ->> 'seat_count')::integer
        RETURNING s.id INTO seat_id;
    END IF;
    IF seat_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM games_cheminseat AS s
        WHERE s.id = seat_id AND s.live_table_id = games_store_move.live_table AND s.left_at IS NULL
          AND (decider <> 'player' OR s.player_id IS NOT NULL)
          AND (move ->> 'session' IS NULL OR EXISTS (
              SELECT FROM players_session AS own JOIN players_player AS p ON p.user_id = own.user_id AND p.id = s.player_id
              WHERE own.id = (move ->> 'session')::uuid)))
       OR (kind = 'join' OR decider <> 'house' OR kind IN ('leave', 'step_away', 'set_balance')) AND seat_id IS NULL
    THEN
        RAISE EXCEPTION 'this is no seat of table %', live_table USING ERRCODE = 'SB124';
    END IF;
    UPDATE games_cheminseat AS s
    SET missed = CASE decider WHEN 'croupier' THEN s.missed + (s.away_since IS NULL AND s.why_left = '')::integer
                 WHEN 'player' THEN CASE WHEN is_decision AND kind <> 'ask_croupier' THEN 0 ELSE s.missed END ELSE s.missed END,
        session = CASE decider WHEN 'player' THEN coalesce((move ->> 'session')::uuid, s.session) ELSE s.session END,
        idempotency_keys = CASE WHEN decider = 'player' AND jsonb_typeof(move -> 'idempotency_keys') = 'array'
            THEN ARRAY(SELECT each.key::uuid FROM jsonb_array_elements_text(move -> 'idempotency_keys') AS each (key))
            ELSE s.idempotency_keys END
    WHERE s.id = seat_id AND decider IN ('croupier', 'player');

    after := before;
    after.state := games_store_move.state;
    after.move := before.move + 1;
    after.tenure_id := coalesce(before.tenure_id, (move ->> 'tenure')::uuid);

    INSERT INTO games_cheminmove (
        live_table_id, number, round_id, tenure_id, seat_id, kind, amount, call, decider, events, asked_at, at)
    VALUES (
        live_table, after.move, (move ->> 'round')::uuid, after.tenure_id, seat_id, kind, (move ->> 'amount')::bigint,
        coalesce(move ->> 'call', ''), decider, move -> 'events', CASE WHEN is_decision THEN before.asked_at END,
        moment);

    UPDATE games_cheminseat AS s
    SET why_left = CASE
            WHEN changed.leaves THEN CASE s.why_left WHEN '' THEN move ->> 'why' ELSE s.why_left END
            WHEN changed.will_leave THEN move ->> 'why' WHEN changed.is_back THEN '' ELSE s.why_left END,
        left_at = CASE WHEN changed.leaves THEN moment END,
        away_since = CASE WHEN changed.is_back THEN NULL WHEN changed.is_away THEN moment ELSE s.away_since END,
        missed = CASE WHEN changed.is_back THEN 0 ELSE s.missed END
    FROM (
        SELECT (event ->> 'seat')::integer AS number, bool_or(event ->> 'event' = 'PlayerLeft') AS leaves,
               bool_or(event ->> 'event' = 'PlayerWillLeave') AS will_leave,
               bool_or(event ->> 'event' = 'PlayerAway') AS is_away, bool_or(event ->> 'event' = 'PlayerBack') AS is_back
        FROM jsonb_array_elements(move -> 'events') AS event
        WHERE event ->> 'event' IN ('PlayerLeft', 'PlayerWillLeave', 'PlayerAway', 'PlayerBack') GROUP BY 1
    ) AS changed
    WHERE s.live_table_id = games_store_move.live_table AND s.left_at IS NULL AND s.number = changed.number;
    IF move -> 'events' @> '[{"event": "BankEnded"}]' THEN
        UPDATE games_chemintenure AS t SET ended_at = moment FROM wallet_account AS a
        WHERE t.id = after.tenure_id AND t.ended_at IS NULL AND a.id = t.account_id AND a.balance = 0;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the bank of table % has not ended', live_table USING ERRCODE = 'SB125';
        END IF;
        after.tenure_id := NULL;
    END IF;

    after.sale_id := CASE WHEN jsonb_typeof(state -> 'sale') = 'object' THEN (move ->> 'sale')::uuid END;
    IF before.sale_id IS NOT NULL AND before.sale_id IS DISTINCT FROM after.sale_id
       AND EXISTS (SELECT FROM wallet_hold AS h WHERE h.round_id = before.sale_id)
    THEN
        RAISE EXCEPTION 'bids at table % are still held', live_table USING ERRCODE = 'SB125';
    END IF;
    IF is_decision AND kind <> 'ask_croupier'
       OR (phase, games_seat_in_turn(before.state)) IS DISTINCT FROM (state ->> 'phase', games_seat_in_turn(state))
    THEN
        waits := games_time_to_answer(live_table, state, version.clock) + CASE
            WHEN move -> 'events' @> '[{"event": "Settled"}]' OR move -> 'events' @> '[{"event": "CoupVoided"}]'
            THEN games_lasts(version.clock, 'pause') ELSE interval '0' END;
        after.question := before.question + 1;
        after.asked_at := moment;
        after.deadline := moment + waits;
    END IF;
    UPDATE games_chemintable AS t
    SET state = after.state, move = after.move, question = after.question, asked_at = after.asked_at, deadline = after.deadline,
        tenure_id = after.tenure_id, sale_id = after.sale_id
    WHERE t.live_table_id = games_store_move.live_table;
    PERFORM games_check_chemin_state(after, before.state, (limits ->> 'seat_count')::integer, kind = 'void_coup');
    RETURN after;
END $$;
REVOKE ALL ON FUNCTION games_store_move FROM PUBLIC;

-- Clear a table whose state is lost: bids are released, everybody leaves, and its tenure ends. Returns the
-- number of the move.
-- Raises SB120 while a coup is in progress, SB125 if its bank holds money.
-- Locks the table state, then the accounts with bids.
CREATE OR REPLACE FUNCTION games_clear_table(live_table bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before games_chemintable;
    moment timestamptz := clock_timestamp();
    gone jsonb;
BEGIN
    SELECT t.* INTO before FROM games_chemintable AS t WHERE t.live_table_id = live_table FOR UPDATE;
    IF NOT FOUND OR EXISTS (SELECT FROM games_liveround AS r WHERE r.live_table_id = games_clear_table.live_table
                            AND r.phase IN ('betting', 'closed', 'dealt')) THEN
        RAISE EXCEPTION 'table % is in a coup', live_table USING ERRCODE = 'SB120';
    END IF;
    IF EXISTS (SELECT FROM games_chemintenure AS t JOIN wallet_account AS a ON a.id = t.account_id
               WHERE t.id = before.tenure_id AND a.balance <> 0) THEN
        RAISE EXCEPTION 'money is left at table %', live_table USING ERRCODE = 'SB125';
    END IF;
    PERFORM wallet_delete_holds(before.sale_id);
    UPDATE games_chemintenure AS t SET ended_at = moment WHERE t.id = before.tenure_id AND t.ended_at IS NULL;
    WITH leaves AS (
        UPDATE games_cheminseat AS s
        SET left_at = moment, why_left = CASE s.why_left WHEN '' THEN 'broken_up' ELSE s.why_left END
        WHERE s.live_table_id = games_clear_table.live_table AND s.left_at IS NULL RETURNING s.number
    )
    SELECT coalesce(jsonb_agg(jsonb_build_object('event', 'PlayerLeft', 'seat', l.number) ORDER BY l.number), '[]')
    INTO gone FROM leaves AS l;
    INSERT INTO games_cheminmove (live_table_id, number, tenure_id, kind, call, decider, events, at)
    VALUES (live_table, before.move + 1, before.tenure_id, 'break_up', '', 'house', gone, moment);
    UPDATE games_chemintable AS t
    SET state = games_empty_chemin_state((games_chemin_limits(v) ->> 'seat_count')::integer), move = before.move + 1,
        question = before.question + 1, tenure_id = NULL, sale_id = NULL, asked_at = NULL, deadline = NULL
    FROM games_livetable AS l JOIN games_table AS g ON g.id = l.table_id JOIN games_tableversion AS v ON v.id = g.version_id
    WHERE t.live_table_id = games_clear_table.live_table AND l.id = t.live_table_id;
    RETURN before.move + 1;
END $$;
REVOKE ALL ON FUNCTION games_clear_table FROM PUBLIC;

-- Start the time of the pending question again, after a stop, a pause or an outage. Its number does
-- not change.
-- Raises SB122 unless the deadline has passed by five seconds; nothing moves at the table, because it is
-- stopped, or paused between two coups; or since the question was asked, a house stop has ended or an
-- incident of the latest coup was ruled on.
-- Locks the table state and the round in progress.
CREATE OR REPLACE FUNCTION games_ask_again(live_table bigint) RETURNS games_chemintable
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    asked games_chemintable;
    moment timestamptz := clock_timestamp();
    waits interval;
BEGIN
    SELECT t.* INTO asked FROM games_chemintable AS t WHERE t.live_table_id = live_table FOR UPDATE;
    IF (asked.deadline <= moment - interval '5 seconds') IS NOT TRUE AND NOT EXISTS (
        SELECT FROM games_livetable AS t JOIN games_table AS g ON g.id = t.table_id
        LEFT JOIN games_liveround AS r ON r.id = t.round_id AND r.phase IN ('betting', 'closed', 'dealt')
        WHERE t.id = live_table AND (
            t.stopped_by_id IS NOT NULL AND r.phase IS DISTINCT FROM 'dealt' OR g.status = 'paused' AND r.id IS NULL
            OR EXISTS (SELECT FROM games_incident AS i JOIN games_incidentruling AS ruling ON ruling.incident_id = i.id
                       WHERE i.live_round_id = t.round_id AND ruling.at > asked.asked_at)
            OR EXISTS (SELECT FROM wallet_housestop AS h WHERE h.ended_at > asked.asked_at)))
    THEN
        RAISE EXCEPTION 'question % of table % is pending', asked.question, live_table USING ERRCODE = 'SB122';
    END IF;
    SELECT games_time_to_answer(live_table, asked.state, v.clock) INTO waits
    FROM games_chemin_version(live_table, asked.state ->> 'phase') AS v;
    IF waits IS NOT NULL THEN
        UPDATE games_chemintable AS t SET asked_at = moment, deadline = moment + waits
        WHERE t.live_table_id = games_ask_again.live_table RETURNING t.* INTO asked;
        UPDATE games_liveround AS r SET deadline = moment + waits
        WHERE r.live_table_id = games_ask_again.live_table AND r.phase IN ('betting', 'closed', 'dealt');
    END IF;
    RETURN asked;
END $$;
REVOKE ALL ON FUNCTION games_ask_again FROM PUBLIC;

-- Start the time again for which the seats of away players are kept, while their table is paused or after
-- a house stop. Nothing changes at other tables.
CREATE OR REPLACE FUNCTION games_keep_away_seats(live_table bigint) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE games_cheminseat AS s SET away_since = clock_timestamp()
    FROM games_livetable AS t JOIN games_table AS g ON g.id = t.table_id
    WHERE t.id = games_keep_away_seats.live_table AND s.live_table_id = t.id AND s.left_at IS NULL AND s.away_since IS NOT NULL
      AND (g.status = 'paused' OR EXISTS (SELECT FROM wallet_housestop AS h WHERE h.ended_at > s.away_since))
$$;
REVOKE ALL ON FUNCTION games_keep_away_seats FROM PUBLIC;

-- Return the points of a hand of Chemin de Fer. `cards`: such as "9H".
CREATE OR REPLACE FUNCTION games_points(VARIADIC cards text[]) RETURNS integer
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(sum(strpos('A23456789', left(c.card, 1))), 0)::integer % 10 FROM unnest(cards) AS c (card)
$$;

-- End a coup of Chemin de Fer: pay it, and store it as a round with the participation and the wager of
-- every player, and with its stakes. A settled coup counts as played, and round.settled is recorded: its
-- SHA-256 in hex is of one line "seat player bet stake payout commission" for each stake in order, with
-- "house" for a house player, the bank's last, separated by line feeds.
-- Stakes and bank are those of the ledger; house players have no participation.
-- `tenure`: id of the banker's tenure. `key`: idempotency key of the settlement. `cards`: what the shoe
-- dealt, such as "9H 4D KS 2C"; `outcome`: punter, banker, draw, or empty if the coup is void, whose
-- stakes were returned before. `punter_draws`, `banker_draws`: what each side declared.
-- `punter_departs`, `banker_departs`: whether that departs from the rule.
-- Raises SB060 if the round is not in the phase, or not of the tenure's table; SB064 if stakes of a void
-- coup were not returned, or belong to nobody at the table; SB126 if the outcome does not follow from the
-- cards, the shoe has not given as many, or the stakes are not covered by the bank; and the errors of
-- wallet_write.
-- Locks the round, then accounts.
--
-- The database cannot deal the cards. The verification task deals every coup again.
-- The balance before is that of the account and, for the banker, of the bank, which holds what is at
-- risk.
CREATE OR REPLACE FUNCTION games_finish_coup(
    round uuid, tenure uuid, key uuid, cards text, outcome text, punter_draws boolean, banker_draws boolean,
    punter_departs boolean, banker_departs boolean, at timestamptz, proof bytea
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    live record;
    is_void boolean := games_finish_coup.outcome = '';
    deal text[] := string_to_array(games_finish_coup.cards, ' ');
    drew_punter boolean;
    punter integer;
    banker integer;
    called text;
    sums record;
    tax bigint := 0;
    times integer;
BEGIN
    SELECT l.code, l.version_id, l.shoe_id, l.first_card, l.live_table_id, games_shoe_binding(s) AS binding, t.table_id, t.mode, s.commitment, s.gone, v.rules_digest,
           bank.seat_id AS banker, bank.account_id AS bank, a.currency, a.balance, pool.id AS pool, pool.balance AS pooled,
           house.id AS house, seat.player_id AS banker_player
    INTO live
    FROM games_liveround AS l
    JOIN games_livetable AS t ON t.id = l.live_table_id JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'chemin'
    JOIN games_shoe AS s ON s.id = l.shoe_id JOIN games_tableversion AS v ON v.id = l.version_id
    JOIN games_chemintenure AS bank ON bank.id = games_finish_coup.tenure AND bank.live_table_id = l.live_table_id
    JOIN games_cheminseat AS seat ON seat.id = bank.seat_id
    JOIN wallet_account AS a ON a.id = bank.account_id AND a.kind = 'bank'
    JOIN wallet_account AS house ON house.kind = 'house' AND house.owner_id IS NULL AND house.subject_id IS NULL
        AND house.currency = a.currency AND house.mode = a.mode
    LEFT JOIN wallet_account AS pool ON pool.subject_id = l.id AND pool.kind = 'stakes'
    WHERE l.id = round AND CASE WHEN is_void THEN l.phase IN ('betting', 'closed', 'dealt') ELSE l.phase = 'settled' END
    FOR UPDATE OF l;
    IF NOT FOUND OR EXISTS (SELECT FROM games_chemincoup AS c WHERE c.round_id = round) THEN
        RAISE EXCEPTION 'round % does not end with a coup of tenure %', round, tenure USING ERRCODE = 'SB060';
    END IF;
    SELECT coalesce(sum(stake.amount), 0)::bigint AS staked, count(*) AS stakes, count(s.id) AS seated,
           coalesce(bool_and(stake.amount > 0), false) AS are_sound,
           (array_agg(s.id ORDER BY stake.amount DESC, stake.stake_order))[1] AS punter
    INTO sums
    FROM games_coup_stakes(round) AS stake LEFT JOIN games_cheminseat AS s
        ON s.account_id = stake.account AND s.live_table_id = live.live_table_id AND s.left_at IS NULL;
    IF sums.seated <> sums.stakes OR is_void AND live.pooled <> 0 OR NOT is_void AND live.pooled IS DISTINCT FROM sums.staked THEN
        RAISE EXCEPTION 'the stakes of round % differ from the ledger', round
            USING ERRCODE = 'SB064', DETAIL = jsonb_build_array(jsonb_build_array(0, sums.staked, live.pooled))::text;
    END IF;
    called := coalesce((SELECT m.call FROM games_cheminmove AS m WHERE m.round_id = round AND m.call <> '' LIMIT 1), '');

    IF NOT is_void THEN
        punter := games_points(deal[1], deal[3]);
        banker := games_points(deal[2], deal[4]);
        drew_punter := coalesce(games_finish_coup.punter_draws, false) AND banker < 8;
        IF (games_finish_coup.cards ~ '^[2-9TJQKA][CDHS]( [2-9TJQKA][CDHS]){3,5}$'
            AND cardinality(deal) = 4 + drew_punter::integer + coalesce(games_finish_coup.banker_draws, false)::integer
            AND cardinality(deal) = live.gone - live.first_card
            AND games_is_of_dealer(concat(
                E'sabot coup v1\n', live.binding, 'round=', round, E'\nfirst=', live.first_card, E'\ncards=',
                games_finish_coup.cards, E'\n'), games_finish_coup.proof)
            AND (games_finish_coup.punter_draws IS NULL) = (punter >= 8)
            AND (games_finish_coup.banker_draws IS NULL) = (punter >= 8 OR banker >= 8)
            AND sums.are_sound AND sums.staked <= live.balance
            AND NOT (sums.stakes > 1 AND (games_finish_coup.punter_departs OR games_finish_coup.banker_departs))
            AND (called IN ('', 'banco_avec_la_table') OR sums.staked = live.balance)) IS NOT TRUE
        THEN
            RAISE EXCEPTION 'coup % does not follow from its cards and stakes', round USING ERRCODE = 'SB126';
        END IF;
        banker := CASE WHEN games_finish_coup.banker_draws
            THEN games_points(deal[2], deal[4], deal[5 + drew_punter::integer]) ELSE banker END;
        punter := CASE WHEN drew_punter THEN games_points(deal[1], deal[3], deal[5]) ELSE punter END;
        IF games_finish_coup.outcome
            <> (CASE sign(punter - banker) WHEN 1 THEN 'punter' WHEN -1 THEN 'banker' ELSE 'draw' END) THEN
            RAISE EXCEPTION 'coup % does not follow from its cards and stakes', round USING ERRCODE = 'SB126';
        END IF;
        times := CASE games_finish_coup.outcome WHEN 'punter' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END;
        tax := CASE games_finish_coup.outcome WHEN 'banker' THEN sums.staked * 5 / 100 ELSE 0 END;
        PERFORM FROM wallet_write(jsonb_build_array(jsonb_build_object(
            'key', key, 'kind', 'settle', 'round', round, 'lines', (
                SELECT jsonb_agg(jsonb_build_array(l.account, live.currency, live.mode, l.amount) ORDER BY l.n, l.account)
                FROM (
                    SELECT 1 AS n, live.pool AS account, -sums.staked AS amount
                    UNION ALL SELECT 2, stake.account, times * stake.amount FROM games_coup_stakes(round) AS stake
                    UNION ALL SELECT 3, live.house, tax
                    UNION ALL SELECT 4, live.bank, (1 - times) * sums.staked - tax
                ) AS l WHERE l.amount <> 0))), false);
    END IF;

    INSERT INTO games_round (
        id, code, table_version_id, mode, commitment, shoe_id, first_card, player_value, cards, outcome, at
    ) VALUES (
        round, live.code, live.version_id, live.mode, live.commitment, live.shoe_id, live.first_card, '',
        games_finish_coup.cards, games_finish_coup.outcome, games_finish_coup.at
    );
    INSERT INTO games_verificationdue (round_id) SELECT round WHERE NOT is_void;
    WITH side AS (
        SELECT s.id AS seat, s.player_id, s.account_id, s.session, 'punter' AS bet, stake.amount AS stake,
               times * stake.amount AS payout, 0 AS commission, 0 AS bank
        FROM games_coup_stakes(round) AS stake
        JOIN games_cheminseat AS s ON s.account_id = stake.account AND s.live_table_id = live.live_table_id AND s.left_at IS NULL
        UNION ALL
        SELECT s.id, s.player_id, s.account_id, s.session, 'bank', sums.staked, (2 - times) * sums.staked - tax, tax, b.balance
        FROM games_cheminseat AS s JOIN wallet_account AS b ON b.id = live.bank WHERE s.id = live.banker
    ), part AS (
        SELECT side.player_id, side.session, side.bet, side.stake,
               CASE WHEN is_void THEN 0 ELSE side.payout END AS payout, side.commission, a.balance + side.bank AS balance,
               CASE WHEN is_void THEN 'void' WHEN games_finish_coup.outcome = 'draw' THEN 'push'
                    WHEN (games_finish_coup.outcome = 'punter') = (side.bet = 'punter') THEN 'win' ELSE 'lose' END AS result
        FROM side JOIN wallet_account AS a ON a.id = side.account_id WHERE side.player_id IS NOT NULL
    )
    INSERT INTO games_participation (
        round_id, player_id, currency, mode, balance_before, balance_after, staked, paid, commission, session, at, table_id,
        bets, stakes, payouts, commissions, results
    )
    SELECT round, part.player_id, live.currency, live.mode,
           part.balance + CASE WHEN is_void THEN 0 ELSE part.stake - part.payout END, part.balance, part.stake, part.payout,
           part.commission, part.session, games_finish_coup.at, live.table_id, ARRAY[part.bet], ARRAY[part.stake],
           ARRAY[part.payout], ARRAY[part.commission], ARRAY[part.result]
    FROM part;
    INSERT INTO games_chemincoup (
        round_id, tenure_id, banker_id, banker_player_id, bank, call, at_risk, punter_id, outcome, punter_total, banker_total,
        punter_draws, banker_draws, punter_departs, banker_departs, tax, at
    ) VALUES (
        round, tenure, live.banker, live.banker_player, live.balance, called, sums.staked, sums.punter,
        games_finish_coup.outcome, punter, banker, games_finish_coup.punter_draws, games_finish_coup.banker_draws,
        games_finish_coup.punter_departs, games_finish_coup.banker_departs, tax, games_finish_coup.at
    );
    INSERT INTO games_cheminstake (coup_id, seat_id, player_id, stake, returned)
    SELECT round, s.id, s.player_id, stake.amount, CASE WHEN is_void THEN 0 ELSE times * stake.amount END
    FROM games_coup_stakes(round) AS stake
    JOIN games_cheminseat AS s ON s.account_id = stake.account AND s.live_table_id = live.live_table_id AND s.left_at IS NULL
    ORDER BY stake.stake_order;
    IF NOT is_void THEN
        PERFORM players_note_rounds(
            array_agg(p.player_id), array_agg(p.session), array_agg(p.mode::text), array_agg(p.staked), array_agg(p.paid))
        FROM games_participation AS p WHERE p.round_id = round;
        PERFORM audit_append('round.settled', 'system', 'round:' || round, concat(
            '{"by":"system","data":{"at_risk":', sums.staked, ',"cards":"', games_finish_coup.cards, '","code":', to_json(live.code),
            ',"commitment":"', live.commitment, '","coup":"', games_coup_digest(round), '","currency":"', live.currency, '","dealt":',
            games_dealt_for_event(live.shoe_id, round, live.first_card), ',"first_card":', live.first_card, ',"mode":"',
            live.mode, '","outcome":"', games_finish_coup.outcome, '","parts":"', games_parts_digest(round), '","rules":"', live.rules_digest,
            '","sha256":"', encode(sha256(convert_to(concat_ws(E'\n', (
                SELECT string_agg(concat_ws(' ', s.seat_id, coalesce(s.player_id::text, 'house'), 'punter', s.stake, s.returned, 0),
                                  E'\n' ORDER BY s.id)
                FROM games_cheminstake AS s WHERE s.coup_id = round
            ), concat_ws(' ', live.banker, coalesce(live.banker_player::text, 'house'), 'bank', sums.staked,
                         (2 - times) * sums.staked - tax, tax)), 'UTF8')), 'hex'),
            '","shoe":"', live.shoe_id, '","stakes":', sums.stakes, ',"table_version":', live.version_id, ',"tax":', tax, ',"tenure":"', tenure,
            '"},"kind":"round.settled","on":"round:', round, '"}'));
    END IF;
END $$;
REVOKE ALL ON FUNCTION games_finish_coup FROM PUBLIC;
