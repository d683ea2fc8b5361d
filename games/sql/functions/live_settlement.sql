-- Settlement and voids of rounds of shared tables. Bets, cards and stakes are those that are stored;
-- the caller brings only what the rules say about them.
--
--   SB060 the round is not in the phase
--   SB063 the payouts do not follow from the rules
--   SB064 the bets differ from the stakes in the ledger
--   SB065 a balance differs from the settlement
--
-- SB064 and SB065 have the differences as detail: a JSON array of [player id, stored, recomputed].
--
-- PostgreSQL's statistics do not cover the rows of a round, which were just written. It would expect
-- one row and compare ten thousand with ten thousand in nested loops. So rows of a round are joined
-- to each other by FULL JOIN only, which always hashes or sorts. Anything else is looked up by its
-- key.

-- Return the outcome of the cards of a punto banco coup in dealing order, "9H 4D KS 2C": player,
-- banker or tie; NULL if they are not four to six cards.
-- The fifth card is Player's unless Player stands, the sixth is always Banker's.
CREATE OR REPLACE FUNCTION games_outcome(cards text) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    points integer[] := ARRAY(
        SELECT strpos('A23456789', left(c.card, 1)) FROM string_to_table(cards, ' ') WITH ORDINALITY AS c (card, n) ORDER BY c.n);
    player integer;
    banker integer;
BEGIN
    IF cardinality(points) NOT BETWEEN 4 AND 6 THEN
        RETURN NULL;
    END IF;
    player := (points[1] + points[3]) % 10;
    banker := (points[2] + points[4]) % 10;
    IF cardinality(points) = 5 AND player > 5 THEN
        banker := (banker + points[5]) % 10;
    ELSE
        player := (player + coalesce(points[5], 0)) % 10;
        banker := (banker + coalesce(points[6], 0)) % 10;
    END IF;
    RETURN CASE sign(player - banker) WHEN 1 THEN 'player' WHEN -1 THEN 'banker' ELSE 'tie' END;
END $$;

-- Settle a dealt round of a shared table: store it with every participation and its bets, turn what is
-- held into stakes and pay everybody in the same statement, and note it in everybody's play session
-- and time.
-- `pays`: what each bet of the game pays on this coup, a JSON array of {"bet", "win", "per",
-- "bears_commission", "result"}; `win` units are won for each `per` units staked. `stake_key`,
-- `settle_key`: idempotency keys of the journals.
-- Records round.settled with the SHA-256 in hex of what is stored, and its totals by currency
-- ({"players", "wagers", "staked", "paid", "commission"} in minor units). The hash is of one line
-- "player bet stake payout commission result" for each bet, ordered by player id and bet code, separated
-- by line feeds.
-- Returns each distinct line [bet, stake, payout, commission, result], and each distinct combination of
-- bets.
-- Raises SB060 if the round is not dealt, SB063 if a bet pays more than the rules of the round's
-- version allow on this outcome, SB064 if the bets of a seat differ from what is held on its account,
-- SB065 if the ledger moved other accounts, and the errors of wallet_settle_holds.
-- Locks the round, then the accounts in ascending order of id.
--
-- Amounts are rounded down bet by bet, by integer division. Players who have placed the same bets are
-- settled together.
CREATE OR REPLACE FUNCTION games_settle_live_round(round uuid, pays jsonb, stake_key uuid, settle_key uuid)
RETURNS TABLE (lines jsonb, slips jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    live record;
    parts record;
    ended record;
    wrong jsonb;
    digest text;
    moment timestamptz := clock_timestamp();
BEGIN
    SELECT l.code, l.version_id, l.shoe_id, l.first_card, l.cards, games_outcome(l.cards) AS outcome, t.table_id, t.mode,
           s.commitment, v.rules_digest
    INTO live
    FROM games_liveround AS l
    JOIN games_livetable AS t ON t.id = l.live_table_id JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'shared'
    JOIN games_shoe AS s ON s.id = l.shoe_id JOIN games_tableversion AS v ON v.id = l.version_id
    WHERE l.id = round AND l.phase = 'dealt' FOR UPDATE OF l;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'round % is not dealt', round USING ERRCODE = 'SB060';
    END IF;
    IF EXISTS (
        SELECT FROM jsonb_to_recordset(games_settle_live_round.pays)
            AS pay (bet text, win bigint, per bigint, bears_commission boolean, result text)
        LEFT JOIN games_highestodds AS o
            ON o.rules_digest = live.rules_digest AND o.outcome = live.outcome AND o.bet = pay.bet
        WHERE (pay.per > 0 AND CASE pay.result
            WHEN 'win' THEN pay.win >= 0 AND pay.win * o.per <= o.win * pay.per
            WHEN 'push' THEN pay.win = 0 AND o.win >= 0
            WHEN 'lose' THEN o.bet IS NOT NULL END) IS NOT TRUE) THEN
        RAISE EXCEPTION 'the payouts of round % do not follow from the rules', round USING ERRCODE = 'SB063';
    END IF;

    WITH pay AS MATERIALIZED (
        SELECT * FROM jsonb_to_recordset(games_settle_live_round.pays)
            AS pay (bet text, win bigint, per bigint, bears_commission boolean, result text)
    ), slip AS MATERIALIZED (
        SELECT coalesce(seat.account_id, held.account_id) AS account, seat.player_id, seat.currency, seat.session, seat.stakes,
            held.amount AS held
        FROM (SELECT s.account_id, s.player_id, s.currency, s.session, s.stakes FROM games_liveseat AS s
              WHERE s.round_id = round AND s.stakes <> '{}') AS seat
        FULL JOIN (SELECT h.account_id, h.amount FROM wallet_hold AS h WHERE h.round_id = round) AS held
            ON held.account_id = seat.account_id
    ), settled AS MATERIALIZED (
        SELECT each.stakes, row_number() OVER () AS number, made.*
        FROM (SELECT slip.stakes FROM slip WHERE slip.stakes IS NOT NULL GROUP BY slip.stakes) AS each
        CROSS JOIN LATERAL (
            SELECT array_agg(l.bet) AS bets, array_agg(l.stake) AS each_stake, array_agg(l.payout) AS payouts,
                array_agg(l.commission) AS commissions, array_agg(l.result) AS results, sum(l.stake)::bigint AS staked,
                sum(l.payout)::bigint AS paid, sum(l.commission)::bigint AS commission,
                string_agg(concat_ws(' ', l.bet, l.stake, l.payout, l.commission, l.result), E'\n') AS lines,
                string_agg(concat_ws(' ', '@', l.bet, l.stake, l.payout, l.commission, l.result), E'\n') AS text
            FROM (
                SELECT laid.bet, laid.stake, made.payout, pay.result,
                    CASE WHEN pay.bears_commission THEN 2 * laid.stake - made.payout ELSE 0 END AS commission
                FROM (SELECT bet.key AS bet, bet.value::bigint AS stake FROM jsonb_each_text(each.stakes) AS bet) AS laid
                LEFT JOIN pay ON pay.bet = laid.bet  -- a bet that the game does not know cannot be stored
                CROSS JOIN LATERAL (
                    SELECT CASE pay.result WHEN 'lose' THEN 0 ELSE laid.stake + laid.stake * pay.win / pay.per END
                ) AS made (payout)
                ORDER BY laid.bet COLLATE "C"
            ) AS l
        ) AS made
    ), part AS MATERIALIZED (
        SELECT slip.account, slip.player_id, slip.currency, slip.session, slip.held, settled.number, settled.staked,
            settled.paid, settled.commission, cardinality(settled.bets) AS wagers,
            replace(settled.text, '@', slip.player_id::text) AS text
        FROM slip FULL JOIN settled ON settled.stakes = slip.stakes ORDER BY slip.account
    ), whole AS (
        SELECT array_agg(part.account) AS accounts, array_agg(part.player_id) AS players,
            array_agg(part.currency) AS currencies, array_agg(part.session) AS sessions, array_agg(part.number) AS numbers,
            array_agg(part.staked) AS staked, array_agg(part.paid) AS paid, array_agg(part.commission) AS commissions,
            array_agg(part.held) AS held
        FROM part
    ), line AS (
        SELECT l.* FROM settled
        CROSS JOIN LATERAL unnest(settled.bets, settled.each_stake, settled.payouts, settled.commissions, settled.results)
            AS l (bet, stake, payout, commission, result)
    )
    SELECT whole.*,
        (SELECT jsonb_agg(jsonb_build_array(s.number, s.bets::text, s.each_stake::text, s.payouts::text, s.commissions::text,
                                            s.results::text, s.lines)) FROM settled AS s) AS settled,
        (SELECT encode(sha256(convert_to(string_agg(p.text, E'\n' ORDER BY p.player_id), 'UTF8')), 'hex') FROM part AS p) AS hash,
        (SELECT string_agg(concat(
             '"', t.currency, '":{"commission":', t.commission, ',"paid":', t.paid, ',"players":', t.players, ',"staked":',
             t.staked, ',"wagers":', t.wagers, '}'), ',' ORDER BY t.currency)
         FROM (SELECT p.currency, count(*) AS players, sum(p.wagers)::bigint AS wagers, sum(p.staked)::bigint AS staked,
                   sum(p.paid)::bigint AS paid, sum(p.commission)::bigint AS commission
               FROM part AS p GROUP BY p.currency) AS t) AS totals,
        (SELECT jsonb_agg(jsonb_build_array(each.bet, each.stake, each.payout, each.commission, each.result))
         FROM (SELECT DISTINCT line.bet, line.stake, line.payout, line.commission, line.result FROM line) AS each) AS lines,
        (SELECT jsonb_agg(each.bets) FROM (SELECT DISTINCT s.bets FROM settled AS s) AS each) AS slips
    INTO parts FROM whole;
    IF parts.held IS DISTINCT FROM parts.staked THEN
        SELECT jsonb_agg(jsonb_build_array(a.owner_id, coalesce(each.staked || ' ' || a.currency || ' ' || live.mode, 'nothing'),
                                           coalesce(each.held || ' ' || a.currency || ' ' || a.mode, 'nothing'))) INTO wrong
        FROM (SELECT * FROM unnest(parts.accounts, parts.staked, parts.held) AS p (account, staked, held)
              WHERE p.staked IS DISTINCT FROM p.held ORDER BY 1 LIMIT 20) AS each
        JOIN wallet_account AS a ON a.id = each.account;
        RAISE EXCEPTION 'the bets on round % differ from what is held for it', round
            USING ERRCODE = 'SB064', DETAIL = wrong::text;
    END IF;

    SELECT array_agg(m.account) AS accounts, array_agg(m.balance) AS balances INTO ended
    FROM wallet_settle_holds(round, stake_key, settle_key, parts.accounts, parts.paid) AS m;
    IF ended.accounts IS DISTINCT FROM parts.accounts THEN
        RAISE EXCEPTION 'the ledger did not move the accounts of round %', round USING ERRCODE = 'SB065';
    END IF;
    WITH played AS (
        INSERT INTO games_round (
            id, code, table_version_id, mode, commitment, shoe_id, first_card, player_value, cards, outcome, at
        ) VALUES (
            round, live.code, live.version_id, live.mode, live.commitment, live.shoe_id, live.first_card, '', live.cards,
            live.outcome, moment
        )
    ), due AS (
        INSERT INTO games_verificationdue (round_id) VALUES (round)
    ), part AS MATERIALIZED (
        SELECT p.player_id, p.currency, p.balance + p.staked - p.paid AS balance_before, p.balance AS balance_after, p.staked,
            p.paid, p.commission, p.session, s.*
        FROM (SELECT * FROM unnest(parts.players, parts.currencies, parts.sessions, parts.numbers, parts.staked, parts.paid,
                                   parts.commissions, ended.balances)
                  AS p (player_id, currency, session, number, staked, paid, commission, balance)) AS p
        FULL JOIN (
            SELECT (s.row ->> 0)::bigint AS number, (s.row ->> 1)::text[] AS bets, (s.row ->> 2)::bigint[] AS stakes,
                (s.row ->> 3)::bigint[] AS payouts, (s.row ->> 4)::bigint[] AS commissions, (s.row ->> 5)::text[] AS results,
                s.row ->> 6 AS lines
            FROM jsonb_array_elements(parts.settled) AS s (row)
        ) AS s ON s.number = p.number
    ), stored AS (
        INSERT INTO games_participation (
            round_id, player_id, currency, mode, balance_before, balance_after, staked, paid, commission, session, at, table_id,
            bets, stakes, payouts, commissions, results
        )
        SELECT round, p.player_id, p.currency, live.mode, p.balance_before, p.balance_after, p.staked, p.paid, p.commission,
            p.session, moment, live.table_id, p.bets, p.stakes, p.payouts, p.commissions, p.results
        FROM part AS p
    )
    SELECT encode(sha256(convert_to(coalesce(string_agg(concat_ws(E'\n', concat_ws(' ',
            p.player_id, p.currency, live.mode, p.balance_before, p.balance_after, p.staked, p.paid, p.commission,
            coalesce(p.session::text, 'none')), p.lines), E'\n' ORDER BY p.player_id), ''), 'UTF8')), 'hex')
    INTO digest FROM part AS p;  -- as of games_parts_digest, which reads back what is stored here
    IF parts.players IS NOT NULL THEN
        PERFORM players_note_rounds(
            parts.players, parts.sessions, array_fill(live.mode::text, ARRAY[cardinality(parts.players)]), parts.staked,
            parts.paid);
    END IF;

    PERFORM audit_append('round.settled', 'system', 'round:' || round, concat(
        '{"by":"system","data":{"cards":"', live.cards, '","code":', to_json(live.code), ',"commitment":"', live.commitment,
        '","dealt":', games_dealt_for_event(live.shoe_id, round, live.first_card), ',"first_card":', live.first_card, ',"mode":"', live.mode, '","outcome":"', live.outcome, '","parts":"',
        digest, '","rules":"', live.rules_digest, '","sha256":', coalesce('"' || parts.hash || '"', 'null'), ',"shoe":"', live.shoe_id,
        '","table_version":', live.version_id, ',"totals":', coalesce('{' || parts.totals || '}', 'null'),
        '},"kind":"round.settled","on":"round:', round, '"}'));
    RETURN QUERY SELECT parts.lines, parts.slips;
END $$;
REVOKE ALL ON FUNCTION games_settle_live_round FROM PUBLIC;

-- Release what is held for a void round of a shared table, and store the round with every bet and its
-- void, after its stakes were returned; return whether it had bets. Records the root of the bets
-- (games_seal_bets) if the round still took bets.
-- `reason`, `by`: of the void.
-- No money has moved: the balance before is the one after. A round without bets is not stored.
-- Raises SB060 if the round has ended, SB033 for a reason that does not fit (games_void_has_its_reason, and
-- games_void_has_its_cause at commit), SB064 if stakes were not returned.
-- Locks the round, then the accounts in ascending order of id.
CREATE OR REPLACE FUNCTION games_store_void_round(round uuid, reason text, by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    live record;
BEGIN
    SELECT l.code, l.version_id, l.shoe_id, l.first_card, l.cards, l.phase, l.live_table_id, t.table_id, t.mode, s.commitment
    INTO live
    FROM games_liveround AS l
    JOIN games_livetable AS t ON t.id = l.live_table_id JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'shared'
    JOIN games_shoe AS s ON s.id = l.shoe_id
    WHERE l.id = round AND l.phase IN ('betting', 'closed', 'dealt') FOR UPDATE OF l;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'round % is not in progress', round USING ERRCODE = 'SB060';
    END IF;
    IF live.phase = 'betting' THEN
        PERFORM games_seal_bets(round);
    END IF;
    PERFORM wallet_delete_holds(round);
    IF EXISTS (
        SELECT FROM wallet_journal AS j LEFT JOIN wallet_reversal AS r ON r.journal_id = j.id
        WHERE j.round_id = round AND j.kind IN ('held_stake', 'settle') AND r.journal_id IS NULL) THEN
        RAISE EXCEPTION 'the stakes of round % were not returned', round USING ERRCODE = 'SB064';
    END IF;
    WITH slip AS MATERIALIZED (
        SELECT s.player_id, s.currency, s.session,
            (SELECT account.balance FROM wallet_account AS account WHERE account.id = s.account_id) AS balance, laid.*
        FROM games_liveseat AS s
        CROSS JOIN LATERAL (
            SELECT sum(bet.value::bigint)::bigint AS staked, array_agg(bet.key) AS bets, array_agg(bet.value::bigint) AS stakes
            FROM jsonb_each_text(s.stakes) AS bet
        ) AS laid
        WHERE s.round_id = round AND s.live_table_id = live.live_table_id AND s.stakes <> '{}'
    ), played AS (
        INSERT INTO games_round (
            id, code, table_version_id, mode, commitment, shoe_id, first_card, player_value, cards, outcome, at
        )
        SELECT round, live.code, live.version_id, live.mode, live.commitment, live.shoe_id, live.first_card, '', live.cards,
            coalesce(games_outcome(live.cards), ''), clock_timestamp()
        WHERE EXISTS (SELECT FROM slip)
        RETURNING at
    )
    INSERT INTO games_participation (
        round_id, player_id, currency, mode, balance_before, balance_after, staked, paid, commission, session, at,
        table_id, bets, stakes, payouts, commissions, results
    )
    SELECT round, slip.player_id, slip.currency, live.mode, slip.balance, slip.balance, slip.staked, 0, 0, slip.session,
        (SELECT played.at FROM played), live.table_id, slip.bets, slip.stakes, array_fill(0::bigint, ARRAY[cardinality(slip.bets)]),
        array_fill(0::bigint, ARRAY[cardinality(slip.bets)]), array_fill('void'::text, ARRAY[cardinality(slip.bets)])
    FROM slip ORDER BY slip.player_id;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO games_void (round_id, reason, by) VALUES (round, games_store_void_round.reason, games_store_void_round.by);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION games_store_void_round FROM PUBLIC;
