-- Money at a table of Chemin de Fer: bids, banks, stakes, and the chips of house players. Nothing else
-- posts it, but for settlements (games_finish_coup) and voids. chemin_moves.sql lists the SQLSTATEs.
--
-- The application moves money before it stores the move that it belongs to, in one transaction.
-- games_check_chemin_state then compares the new table state with the ledger.

-- Set the bid of a player for a bank that is for sale: `amount` minor units are held, 0 releases them.
-- `sale`: id of the sale, new everywhere with its first bid. `seat`: number of the player's seat.
-- Raises SB120 unless it is the sale at the table, SB123 for an amount that nobody bids here, and the
-- errors of wallet_set_hold.
-- Locks the table state, the account and the limits of the player.
CREATE OR REPLACE FUNCTION games_hold_bid(live_table bigint, sale uuid, seat integer, amount bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    bidder record;
BEGIN
    SELECT s.account_id, t.sale_id, t.state ->> 'phase' AS phase, (t.state -> 'sale' ->> 'full_amount')::bigint AS full_amount,
           (games_chemin_limits(games_chemin_version(live_table, t.state ->> 'phase')) ->> 'minimum')::bigint AS minimum
    INTO bidder
    FROM games_chemintable AS t JOIN games_cheminseat AS s
        ON s.live_table_id = t.live_table_id AND s.left_at IS NULL AND s.number = seat
    WHERE t.live_table_id = live_table FOR UPDATE OF t;
    IF NOT FOUND OR bidder.sale_id <> sale OR bidder.sale_id IS NULL AND (
        bidder.phase <> 'auction' OR EXISTS (SELECT FROM wallet_hold AS h WHERE h.round_id = sale)
        OR EXISTS (SELECT FROM games_liveround AS r WHERE r.id = sale))
    THEN
        RAISE EXCEPTION 'sale % is not at table %', sale, live_table USING ERRCODE = 'SB120';
    END IF;
    IF (amount = 0 OR bidder.phase = 'auction' AND amount >= bidder.minimum AND amount < bidder.full_amount) IS NOT TRUE THEN
        RAISE EXCEPTION 'table % takes no bid of %', live_table, amount USING ERRCODE = 'SB123';
    END IF;
    UPDATE games_chemintable AS t SET sale_id = sale WHERE t.live_table_id = live_table AND t.sale_id IS NULL;
    PERFORM wallet_set_hold(sale, bidder.account_id, amount);
END $$;
REVOKE ALL ON FUNCTION games_hold_bid FROM PUBLIC;

-- Begin the tenure of a banker, who pays the bank, and return the account of the bank.
-- `tenure`: its id, new. `seat`: number of the banker's seat. `amount`: minor units. `at`: time of the move.
-- Raises SB124 if there is a tenure at the table, the seat is free, or the table allows no such bank, and
-- the errors of wallet_write. SB141 at commit, unless a move has the tenure.
-- Locks the table state, then the account.
CREATE OR REPLACE FUNCTION games_begin_tenure(live_table bigint, tenure uuid, seat integer, amount bigint, at timestamptz)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    banker record;
    bank bigint;
BEGIN
    SELECT s.id, s.account_id, s.player_id, a.currency, a.mode INTO banker
    FROM games_chemintable AS t
    JOIN games_cheminseat AS s ON s.live_table_id = t.live_table_id AND s.left_at IS NULL AND s.number = seat
    JOIN wallet_account AS a ON a.id = s.account_id
    CROSS JOIN games_chemin_limits(games_chemin_version(live_table, t.state ->> 'phase')) AS limits
    WHERE t.live_table_id = live_table AND t.tenure_id IS NULL
      AND t.state ->> 'phase' IN ('free', 'offer', 'suite', 'auction')
      AND amount BETWEEN (limits ->> 'minimum')::bigint AND (limits ->> 'maximum')::bigint
      AND at BETWEEN transaction_timestamp() AND clock_timestamp()
    FOR UPDATE OF t;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no tenure begins like this at table %', live_table USING ERRCODE = 'SB124';
    END IF;
    bank := wallet_open_table_account(banker.player_id, 'bank', banker.currency, banker.mode, tenure);
    PERFORM FROM wallet_write(jsonb_build_array(jsonb_build_object(
        'key', gen_random_uuid(), 'kind', 'bank', 'round', tenure, 'lines', jsonb_build_array(
            jsonb_build_array(banker.account_id, banker.currency, banker.mode, -amount),
            jsonb_build_array(bank, banker.currency, banker.mode, amount)))), false);
    INSERT INTO games_chemintenure (id, live_table_id, seat_id, account_id, put_up, home, began_at)
    VALUES (tenure, live_table, banker.id, bank, amount, 0, at);
    RETURN bank;
END $$;
REVOKE ALL ON FUNCTION games_begin_tenure FROM PUBLIC;

-- Check that a new tenure is that of its table, or has ended. Constraint trigger function, AFTER INSERT on
-- games_chemintenure, at commit, because the move is stored after the bank is paid.
-- Raises SB141.
CREATE OR REPLACE FUNCTION games_tenure_has_its_move() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_chemintable AS t WHERE t.live_table_id = NEW.live_table_id AND t.tenure_id = NEW.id
    UNION ALL SELECT FROM games_chemintenure AS t WHERE t.id = NEW.id AND t.ended_at IS NOT NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'tenure % began without a move', NEW.id USING ERRCODE = 'SB141';
    END IF;
    RETURN NULL;
END $$;

-- Move a player's stake to the stakes of a coup; a negative one returns to the player.
-- `seat`: number of the player's seat. `amount`: minor units.
-- Raises SB124 unless the coup takes stakes and the player sits at its table, SB009 if more returns than
-- the player has staked, and the errors of wallet_write.
CREATE OR REPLACE FUNCTION games_lay_stake(round uuid, seat integer, amount bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    punter record;
BEGIN
    SELECT a.id, a.currency, a.mode INTO punter
    FROM games_liveround AS r
    JOIN games_cheminseat AS s ON s.live_table_id = r.live_table_id AND s.left_at IS NULL AND s.number = seat
    JOIN wallet_account AS a ON a.id = s.account_id
    WHERE r.id = round AND r.phase = 'betting';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'coup % takes no stake of seat %', round, seat USING ERRCODE = 'SB124';
    END IF;
    PERFORM FROM wallet_write(jsonb_build_array(jsonb_build_object(
        'key', gen_random_uuid(), 'kind', 'stake', 'round', round, 'lines', jsonb_build_array(
            jsonb_build_array(punter.id, punter.currency, punter.mode, -amount),
            jsonb_build_array(wallet_open_table_account(NULL, 'stakes', punter.currency, punter.mode, round), punter.currency,
                              punter.mode, amount)))), false);
END $$;
REVOKE ALL ON FUNCTION games_lay_stake FROM PUBLIC;

-- Pay money of a bank home to its banker, and add it to what the tenure has paid home.
-- `back`: minor units of what was put up. `won`: minor units of what was won.
-- Raises SB124 for an unknown tenure, SB009 while stakes wait for the bank, and the errors of wallet_write.
CREATE OR REPLACE FUNCTION games_pay_home(tenure uuid, back bigint, won bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    journals jsonb;
BEGIN
    SELECT coalesce(jsonb_agg(jsonb_build_object(
               'key', gen_random_uuid(), 'kind', part.kind, 'round', tenure, 'lines', jsonb_build_array(
               jsonb_build_array(t.account_id, a.currency, a.mode, -part.amount),
               jsonb_build_array(a.id, a.currency, a.mode, part.amount))) ORDER BY part.kind), '[]')
    INTO journals
    FROM games_chemintenure AS t JOIN games_cheminseat AS s ON s.id = t.seat_id JOIN wallet_account AS a ON a.id = s.account_id
    CROSS JOIN LATERAL (VALUES ('bank_back', back), ('bank_won', won)) AS part (kind, amount)
    WHERE t.id = tenure AND part.amount > 0;
    IF journals = '[]' THEN
        RAISE EXCEPTION 'tenure % pays nothing home', tenure USING ERRCODE = 'SB124';
    END IF;
    PERFORM FROM wallet_write(journals, false);
    UPDATE games_chemintenure AS t
    SET home = (SELECT -sum(e.amount)::bigint FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
                WHERE j.round_id = t.id AND j.kind IN ('bank_back', 'bank_won') AND e.account_id = t.account_id)
    WHERE t.id = tenure;
END $$;
REVOKE ALL ON FUNCTION games_pay_home FROM PUBLIC;

-- Give a house player at a practice table chips for twenty of its largest banks, if it has fewer, and
-- return its account and what is free on it, in minor units.
-- `house_player`: id of the house player. An account is opened if there is none.
-- Raises SB120 if no house players play at the table.
-- Locks the account.
CREATE OR REPLACE FUNCTION games_fund_house_player(live_table bigint, house_player uuid) RETURNS TABLE (account bigint, free bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    limits jsonb;
    missing bigint;
BEGIN
    SELECT games_chemin_limits(games_chemin_version(live_table, c.state ->> 'phase')) INTO limits
    FROM games_chemintable AS c JOIN games_livetable AS t ON t.id = c.live_table_id AND t.mode = 'F' WHERE t.id = live_table;
    IF (limits ->> 'house_players')::integer > 0 IS NOT TRUE THEN
        RAISE EXCEPTION 'no house players play at table %', live_table USING ERRCODE = 'SB120';
    END IF;
    account := wallet_open_table_account(NULL, 'seat', limits ->> 'currency', 'F', house_player);
    SELECT a.balance - a.held INTO free FROM wallet_account AS a WHERE a.id = account FOR UPDATE;
    missing := 20 * (limits ->> 'maximum')::bigint - free;
    IF missing > 0 THEN
        PERFORM FROM wallet_write((
            SELECT jsonb_build_array(jsonb_build_object(
                'key', gen_random_uuid(), 'kind', 'seat_funded', 'round', NULL, 'lines', jsonb_build_array(
                    jsonb_build_array(m.id, m.currency, m.mode, -missing),
                    jsonb_build_array(account, m.currency, m.mode, missing))))
            FROM wallet_account AS m WHERE m.kind = 'mint' AND m.mode = 'F' AND m.currency = limits ->> 'currency'), false);
        free := free + missing;
    END IF;
    RETURN NEXT;
END $$;
REVOKE ALL ON FUNCTION games_fund_house_player FROM PUBLIC;
