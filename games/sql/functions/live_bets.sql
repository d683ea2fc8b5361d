-- Seats at shared tables, and the bets on their rounds. Only these functions write games_liveseat and
-- games_livetotal.
--
--   SB100 the account is not one that the player may bet from at this table
--   SB101 the round takes no bets
--   SB102 the player may not play; detail: the reason, as players.protection.eligibility names it
--   SB103 the player may play at one table at a time, and has opened another
--   SB104 the table takes no more bets from the player; detail: jurisdiction, mode or stopped
--   SB105 the stakes do not follow from the rules or the limits of the table
--   SB106 the bets of all players could cost the house more than the table allows

-- Seat a player at a shared table, to bet from one of their accounts. An existing seat stays as it
-- is.
-- Raises SB100 unless the account is the player's cash or purse for the money of the table. Players
-- of an operator wallet bet free money only.
CREATE OR REPLACE FUNCTION games_take_seat(live_table bigint, player bigint, account bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    theirs wallet_account;
BEGIN
    SELECT a.* INTO theirs
    FROM wallet_account AS a JOIN players_player AS p ON p.id = a.owner_id
    JOIN games_livetable AS t ON t.id = games_take_seat.live_table AND t.mode = a.mode
    JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'shared'
    WHERE a.id = account AND a.owner_id = player AND a.kind IN ('cash', 'purse')
        AND NOT (p.uses_operator_wallet AND a.mode = 'R');
    IF NOT FOUND THEN
        RAISE EXCEPTION 'player % takes no seat with account %', player, account USING ERRCODE = 'SB100';
    END IF;
    INSERT INTO games_liveseat (live_table_id, player_id, account_id, currency, stakes, version, undo, last_stakes)
    VALUES (games_take_seat.live_table, player, account, theirs.currency, '{}', 0, '[]', '{}')
    ON CONFLICT DO NOTHING;
END $$;
REVOKE ALL ON FUNCTION games_take_seat FROM PUBLIC;

-- Return whether stakes may be placed together: whole positive amounts on bets of the game, within
-- the limits and on the step, with no excluded pair and no side bet without a main bet.
-- `limits`: of a table version in the currency of the stakes. `stakes`: bet -> minor units; none at
-- all may be placed too.
CREATE OR REPLACE FUNCTION games_stakes_fit(rules_digest text, limits jsonb, stakes jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    rules games_betcombinations;
    step bigint := limits -> 'step';
BEGIN
    SELECT c.* INTO rules FROM games_betcombinations AS c WHERE c.rules_digest = games_stakes_fit.rules_digest;
    RETURN stakes = '{}' OR (
        SELECT bool_and(coalesce(CASE WHEN bet.stake::text ~ '^[1-9][0-9]{0,14}$' THEN
                bet.stake::bigint BETWEEN (limits -> 'bets' -> bet.code -> 0)::bigint
                    AND (limits -> 'bets' -> bet.code -> 1)::bigint
                AND bet.stake::bigint % step = 0 END, false)
            AND (NOT rules.needs ? bet.code
                 OR stakes ?| ARRAY(SELECT jsonb_array_elements_text(rules.needs -> bet.code))))
        FROM jsonb_each(stakes) AS bet (code, stake)
    ) AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(rules.exclusions) AS rivals
        WHERE (SELECT count(*) FROM jsonb_array_elements_text(rivals) AS bet WHERE stakes ? bet) > 1);
END $$;
REVOKE ALL ON FUNCTION games_stakes_fit FROM PUBLIC;

-- Return what the house pays beyond the stakes on the coup that costs it most, in minor units, as
-- games.engine.settle.largest_win does.
-- `stakes`: bet -> minor units, of all players.
CREATE OR REPLACE FUNCTION games_largest_win(rules_digest text, stakes jsonb) RETURNS numeric
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT max(coup.won)
    FROM games_betcombinations AS c CROSS JOIN LATERAL jsonb_array_elements(c.wins) AS row (pays)
    CROSS JOIN LATERAL (
        SELECT sum((stakes -> bet.code)::bigint * (bet.odds -> 0)::bigint / (bet.odds -> 1)::bigint) AS won
        FROM jsonb_each(row.pays) AS bet (code, odds)
    ) AS coup
    WHERE c.rules_digest = games_largest_win.rules_digest
$$;
REVOKE ALL ON FUNCTION games_largest_win FROM PUBLIC;

-- Return the sum of two sets of stakes less a third, bet by bet. `more`, `less`: bet -> minor units.
CREATE OR REPLACE FUNCTION games_add_stakes(stakes jsonb, more jsonb, less jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_object_agg(bet.code, bet.stake), '{}') FROM (
        SELECT each.code, sum(each.stake) AS stake FROM (
            SELECT code, stake::bigint AS stake FROM jsonb_each_text(stakes) AS s (code, stake)
            UNION ALL SELECT code, stake::bigint FROM jsonb_each_text(more) AS m (code, stake)
            UNION ALL SELECT code, -stake::bigint FROM jsonb_each_text(less) AS l (code, stake)
        ) AS each GROUP BY each.code
    ) AS bet
$$;
REVOKE ALL ON FUNCTION games_add_stakes FROM PUBLIC;

-- Replace the bets of a seat on the current round of its table, hold their sum on its account, and add
-- the difference to the bets of all players. Returns the seat as it is then; no row if somebody else
-- has changed it since the caller read `seen`, its version.
-- `stakes`: bet -> minor units. `undo`: the earlier slips of the round. `last_chip`: the chip that was
-- used. `session`: id of the session, or NULL. `key`: idempotency key of the click, or NULL; the seat
-- keeps the latest eight. `terms`, `minutes`: see players_ineligibility.
-- Raises SB101 unless the round is the table's and its deadline has not passed, SB102, SB103, SB105,
-- and the errors of wallet_set_hold. For the first bet on the round it raises the errors of games_begin_game. For stakes that grow it also raises SB102 for an unanswered
-- reality check, SB104 unless the version in force serves the player with this kind of money and the
-- table is not stopped, and SB106. Bets may be removed as long as the round takes bets.
-- Locks what players_ineligibility locks, the player's open table, the round for share, the seat, the
-- account, the limits of the player, and the totals of the round.
CREATE OR REPLACE FUNCTION games_place_bets(
    seat bigint, seen integer, round uuid, stakes jsonb, undo jsonb, last_chip bigint, session uuid, key uuid, terms text,
    minutes integer
) RETURNS SETOF games_liveseat
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off AS $$
DECLARE
    held record;
    live games_liveround;
    own games_liveseat;
    rules games_tableversion;
    reason text;
    before jsonb;
    total jsonb;
    grows boolean;
BEGIN
    SELECT s.player_id, s.live_table_id, t.mode, t.table_id, p.uses_operator_wallet, j.may_play_in_parallel,
           NOT j.may_play_in_parallel OR t.mode = 'R' AND (j.seconds_between_games > 0 OR NOT j.api_clients_may_play) AS is_paced
    INTO held
    FROM games_liveseat AS s JOIN games_livetable AS t ON t.id = s.live_table_id
    JOIN players_player AS p ON p.id = s.player_id JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE s.id = seat;
    reason := players_ineligibility(
        held.player_id, terms, held.mode = 'R' AND NOT held.uses_operator_wallet, session, minutes);
    IF reason <> 'check' THEN
        RAISE EXCEPTION 'player % may not play', held.player_id USING ERRCODE = 'SB102', DETAIL = reason;
    END IF;
    IF NOT held.may_play_in_parallel THEN
        PERFORM FROM games_opentable AS o
        WHERE o.player_id = held.player_id AND o.table_id = held.table_id AND o.mode = held.mode FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'player % has opened another table', held.player_id USING ERRCODE = 'SB103',
                DETAIL = (SELECT g.slug FROM games_table AS g WHERE g.id = held.table_id);
        END IF;
    END IF;

    SELECT r.* INTO live FROM games_liveround AS r
    WHERE r.id = round AND r.live_table_id = held.live_table_id AND r.phase = 'betting' AND r.deadline > clock_timestamp()
    FOR SHARE;
    IF NOT FOUND OR live.deadline <= clock_timestamp() THEN  -- the clock again, after waiting for the lock
        RAISE EXCEPTION 'round % takes no bets', round USING ERRCODE = 'SB101';
    END IF;
    SELECT s.* INTO own FROM games_liveseat AS s WHERE s.id = seat FOR UPDATE;
    IF own.version <> seen THEN
        RETURN;
    END IF;
    before := CASE WHEN own.round_id = round THEN own.stakes ELSE '{}' END;
    SELECT v.* INTO rules FROM games_tableversion AS v WHERE v.id = live.version_id;
    IF NOT games_stakes_fit(rules.rules_digest, rules.limits -> own.currency, stakes) IS TRUE THEN
        RAISE EXCEPTION 'seat % has no such stakes', seat USING ERRCODE = 'SB105';
    END IF;
    grows := EXISTS (
        SELECT FROM jsonb_each(stakes) AS bet (code, stake)
        WHERE bet.stake::bigint > coalesce((before -> bet.code)::bigint, 0));
    IF grows AND reason IS NOT NULL THEN
        RAISE EXCEPTION 'player % may not play', held.player_id USING ERRCODE = 'SB102', DETAIL = reason;
    END IF;
    IF grows THEN
        SELECT CASE
            WHEN (p.jurisdiction_id = ANY (v.jurisdictions)) IS NOT TRUE THEN 'jurisdiction'
            WHEN held.mode = ANY (v.modes) IS NOT TRUE THEN 'mode'
            WHEN t.stopped_by_id IS NOT NULL THEN 'stopped' END
        INTO reason
        FROM games_livetable AS t JOIN games_table AS g ON g.id = t.table_id JOIN players_player AS p ON p.id = own.player_id
        LEFT JOIN games_tableversion AS v ON v.id = g.version_id WHERE t.id = own.live_table_id;
        IF reason IS NOT NULL THEN
            RAISE EXCEPTION 'table % takes no more bets from player %', held.table_id, held.player_id
                USING ERRCODE = 'SB104', DETAIL = reason;
        END IF;
    END IF;

    PERFORM wallet_set_hold(
        round, own.account_id, (SELECT coalesce(sum(bet.stake::bigint), 0)::bigint FROM jsonb_each(stakes) AS bet (code, stake)));
    IF grows AND before = '{}' AND held.is_paced THEN
        PERFORM games_begin_game(held.player_id, held.table_id, held.mode, round, session, NULL);
    END IF;
    UPDATE games_liveseat AS s SET round_id = round, stakes = games_place_bets.stakes, undo = games_place_bets.undo,
        last_stakes = CASE WHEN s.round_id IS DISTINCT FROM round AND s.stakes <> '{}' THEN s.stakes ELSE s.last_stakes END,
        last_chip = games_place_bets.last_chip, session = games_place_bets.session, version = s.version + 1,
        idempotency_keys = CASE WHEN key IS NULL THEN s.idempotency_keys
            ELSE (s.idempotency_keys || key)[greatest(coalesce(cardinality(s.idempotency_keys), 0) - 6, 1):] END
    WHERE s.id = seat RETURNING s.* INTO own;
    INSERT INTO games_livetotal AS t (round_id, currency, stakes)
    VALUES (round, own.currency, games_add_stakes('{}', games_place_bets.stakes, before))
    ON CONFLICT (round_id, currency) DO UPDATE SET stakes = games_add_stakes(t.stakes, games_place_bets.stakes, before)
    RETURNING t.stakes INTO total;
    IF grows AND games_largest_win(rules.rules_digest, total) > coalesce((rules.limits -> own.currency -> 'liability')::bigint, 0)
    THEN
        RAISE EXCEPTION 'the bets on round % could cost too much', round USING ERRCODE = 'SB106';
    END IF;
    RETURN NEXT own;
END $$;
REVOKE ALL ON FUNCTION games_place_bets FROM PUBLIC;

-- Return whether a click was carried out at a player's seat at a shared table.
-- `key`: idempotency key of the click.
-- Waits for a change of the seat that is in progress.
CREATE OR REPLACE FUNCTION games_is_click_done(live_table bigint, player bigint, key uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    known uuid[];
BEGIN
    SELECT s.idempotency_keys INTO known FROM games_liveseat AS s
    WHERE s.live_table_id = games_is_click_done.live_table AND s.player_id = games_is_click_done.player FOR SHARE;
    RETURN coalesce(key = ANY (known), false);
END $$;
REVOKE ALL ON FUNCTION games_is_click_done FROM PUBLIC;
