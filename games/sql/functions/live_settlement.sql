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

-- Settle a dealt round of a shared table: store it with every participation and wager, and pay
-- everybody in one journal, and note it in everybody's play session and time.
-- `pays`: what each bet of the game pays on this coup, a JSON array of {"bet", "win", "per",
-- "bears_commission", "result"}; `win` units are won for each `per` units staked. `key`: idempotency
-- key of the journal.
-- Returns the digest of the settlement, and its totals by currency: {"players", "wagers", "staked",
-- "paid", "commission"} in minor units. The digest is the SHA-256 in hex of one line "player bet stake
-- payout commission result" for each bet, ordered by player id and bet code, separated by line feeds.
-- Raises SB060 if the round is not dealt, SB063 if a bet pays more than the rules of the round's
-- version allow on this outcome, SB064, SB065, and the errors of wallet_settle_stakes.
-- Locks the round, then the accounts in ascending order of id.
--
-- Amounts are rounded down bet by bet, by integer division. The balance before is the one right
-- before the stakes were posted: other postings may have followed.
CREATE OR REPLACE FUNCTION games_settle_live_round(round uuid, pays jsonb, key uuid)
RETURNS TABLE (digest text, totals jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    live record;
    wrong jsonb;
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

    PERFORM FROM wallet_account AS account
    WHERE account.id IN (SELECT seat.account_id FROM games_liveseat AS seat WHERE seat.round_id = round)
    ORDER BY account.id FOR UPDATE;

    WITH pay AS MATERIALIZED (
        SELECT * FROM jsonb_to_recordset(games_settle_live_round.pays)
            AS pay (bet text, win bigint, per bigint, bears_commission boolean, result text)
    ), seat AS (
        SELECT s.account_id, s.player_id, s.currency, s.session, s.stakes FROM games_liveseat AS s WHERE s.round_id = round
    ), before AS (
        SELECT entry.account_id, entry.balance_after - entry.amount AS balance
        FROM wallet_journal AS journal JOIN wallet_entry AS entry ON entry.journal_id = journal.id
        WHERE journal.round_id = round AND journal.kind = 'held_stake' AND entry.balance_after IS NOT NULL
    ), slip AS MATERIALIZED (
        SELECT nextval('games_participation_id_seq') AS id, seat.player_id, seat.currency, seat.session, seat.stakes,
            before.balance AS balance_before,
            (SELECT account.balance FROM wallet_account AS account WHERE account.id = seat.account_id) AS balance
        FROM seat FULL JOIN before USING (account_id)
    ), line AS MATERIALIZED (
        SELECT slip.id, slip.player_id, slip.currency, slip.session, slip.balance,
            coalesce(slip.balance_before, slip.balance) AS balance_before, laid.bet, laid.stake, made.payout, pay.result,
            CASE WHEN pay.bears_commission THEN 2 * laid.stake - made.payout ELSE 0 END AS commission
        FROM slip
        CROSS JOIN LATERAL (SELECT bet.key, bet.value::bigint FROM jsonb_each_text(slip.stakes) AS bet) AS laid (bet, stake)
        LEFT JOIN pay ON pay.bet = laid.bet  -- a bet that the game does not know cannot be stored
        CROSS JOIN LATERAL (
            SELECT CASE pay.result WHEN 'lose' THEN 0 ELSE laid.stake + laid.stake * pay.win / pay.per END
        ) AS made (payout)
    ), played AS (
        INSERT INTO games_round (
            id, code, table_version_id, mode, commitment, shoe_id, first_card, player_value, cards, outcome, at
        ) VALUES (
            round, live.code, live.version_id, live.mode, live.commitment, live.shoe_id, live.first_card, '', live.cards,
            live.outcome, clock_timestamp()
        ) RETURNING at
    ), due AS (
        INSERT INTO games_replaydue (round_id) VALUES (round)
    ), part AS (
        INSERT INTO games_participation (
            id, round_id, player_id, currency, mode, balance_before, balance_after, staked, paid, commission, session, at,
            table_id
        )
        SELECT line.id, round, line.player_id, line.currency, live.mode, line.balance_before,
            line.balance + sum(line.payout)::bigint, sum(line.stake)::bigint, sum(line.payout)::bigint,
            sum(line.commission)::bigint, line.session, (SELECT played.at FROM played), live.table_id
        FROM line GROUP BY line.id, line.player_id, line.currency, line.session, line.balance_before, line.balance
        ORDER BY line.player_id
    )
    INSERT INTO games_wager (participation_id, bet, stake, payout, commission, result)
    SELECT line.id, line.bet, line.stake, line.payout, line.commission, line.result
    FROM line ORDER BY line.player_id, line.bet COLLATE "C";

    SELECT jsonb_agg(jsonb_build_array(found.player_id, found.stored, found.recomputed)) INTO wrong
    FROM (
        SELECT coalesce(part.player_id, taken.player_id) AS player_id,
            coalesce(part.staked || ' ' || part.currency || ' ' || part.mode, 'nothing') AS stored,
            coalesce(taken.staked || ' ' || taken.currency || ' ' || taken.mode, 'nothing') AS recomputed
        FROM (SELECT * FROM games_participation AS p WHERE p.round_id = round) AS part
        FULL JOIN (
            SELECT account.owner_id AS player_id, entry.currency, entry.mode, -sum(entry.amount)::bigint AS staked
            FROM wallet_journal AS journal JOIN wallet_entry AS entry ON entry.journal_id = journal.id
            JOIN wallet_account AS account ON account.id = entry.account_id AND account.owner_id IS NOT NULL
            WHERE journal.round_id = round AND journal.kind = 'held_stake'
            GROUP BY account.owner_id, entry.currency, entry.mode
        ) AS taken ON taken.player_id = part.player_id
        WHERE (part.staked, part.currency, part.mode) IS DISTINCT FROM (taken.staked, taken.currency, taken.mode)
        ORDER BY 1 LIMIT 20
    ) AS found;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the bets on round % differ from the stakes in the ledger', round
            USING ERRCODE = 'SB064', DETAIL = wrong::text;
    END IF;

    PERFORM FROM (
        SELECT array_agg(seat.account_id) AS accounts, array_agg(part.paid) AS paid
        FROM (SELECT p.player_id, p.paid FROM games_participation AS p WHERE p.round_id = round) AS part
        FULL JOIN (SELECT s.player_id, s.account_id FROM games_liveseat AS s WHERE s.round_id = round) AS seat
            USING (player_id)
    ) AS everybody
    CROSS JOIN LATERAL wallet_settle_stakes(round, games_settle_live_round.key, everybody.accounts, everybody.paid);

    SELECT jsonb_agg(jsonb_build_array(found.player_id, found.stored, found.recomputed)) INTO wrong
    FROM (
        SELECT player_id, part.balance_after::text AS stored, ended.balance::text AS recomputed
        FROM (SELECT p.player_id, p.balance_after FROM games_participation AS p WHERE p.round_id = round) AS part
        FULL JOIN (
            SELECT seat.player_id,
                (SELECT account.balance FROM wallet_account AS account WHERE account.id = seat.account_id) AS balance
            FROM games_liveseat AS seat WHERE seat.round_id = round AND seat.stakes <> '{}'
        ) AS ended USING (player_id)
        WHERE part.balance_after IS DISTINCT FROM ended.balance
        ORDER BY 1 LIMIT 20
    ) AS found;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'a balance differs from the settlement of round %', round
            USING ERRCODE = 'SB065', DETAIL = wrong::text;
    END IF;

    PERFORM players_note_rounds(
        array_agg(p.player_id), array_agg(p.session), array_agg(p.mode::text), array_agg(p.staked), array_agg(p.paid))
    FROM games_participation AS p WHERE p.round_id = round;

    RETURN QUERY
    WITH line AS MATERIALIZED (
        SELECT part.player_id, part.currency, wager.bet, wager.stake, wager.payout, wager.commission, wager.result
        FROM games_participation AS part JOIN games_wager AS wager ON wager.participation_id = part.id
        WHERE part.round_id = round
    ), total AS (
        SELECT line.currency, count(DISTINCT line.player_id) AS players, count(*) AS wagers,
            sum(line.stake)::bigint AS staked, sum(line.payout)::bigint AS paid, sum(line.commission)::bigint AS commission
        FROM line GROUP BY line.currency
    )
    SELECT encode(sha256(convert_to(string_agg(
            concat_ws(' ', line.player_id, line.bet, line.stake, line.payout, line.commission, line.result),
            E'\n' ORDER BY line.player_id, line.bet COLLATE "C"
        ), 'UTF8')), 'hex'),
        (SELECT jsonb_object_agg(total.currency, to_jsonb(total) - 'currency') FROM total)
    FROM line;
END $$;
REVOKE ALL ON FUNCTION games_settle_live_round FROM PUBLIC;

-- Release what is held for a void round of a shared table, and store the round with every bet, after
-- its stakes were returned; return whether it had bets.
-- Balances are the ledger's: before the stakes were posted, where they were, and after their return.
-- A round without bets is not stored.
-- Raises SB060 if the round has ended, SB033 if it is dealt and two people have not approved, SB064 if
-- stakes were not returned.
-- Locks the round, then the accounts in ascending order of id.
CREATE OR REPLACE FUNCTION games_store_void_round(round uuid) RETURNS boolean
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
    IF live.phase = 'dealt' AND NOT games_two_agreed_to_void(round) THEN
        RAISE EXCEPTION 'voiding round % takes two people', round USING ERRCODE = 'SB033';
    END IF;
    PERFORM wallet_delete_holds(round);
    IF EXISTS (
        SELECT FROM wallet_journal AS j LEFT JOIN wallet_reversal AS r ON r.journal_id = j.id
        WHERE j.round_id = round AND j.kind IN ('held_stake', 'settle') AND r.journal_id IS NULL) THEN
        RAISE EXCEPTION 'the stakes of round % were not returned', round USING ERRCODE = 'SB064';
    END IF;
    WITH seat AS (
        SELECT s.account_id, s.player_id, s.currency, s.session, s.stakes FROM games_liveseat AS s
        WHERE s.round_id = round AND s.live_table_id = live.live_table_id AND s.stakes <> '{}'
    ), before AS (
        SELECT entry.account_id, entry.balance_after - entry.amount AS balance
        FROM wallet_journal AS journal JOIN wallet_entry AS entry ON entry.journal_id = journal.id
        WHERE journal.round_id = round AND journal.kind = 'held_stake'
    ), side AS MATERIALIZED (
        SELECT seat.player_id, seat.currency, seat.session, seat.stakes, before.balance AS balance_before,
            (SELECT account.balance FROM wallet_account AS account WHERE account.id = seat.account_id) AS balance
        FROM seat FULL JOIN before USING (account_id)
    ), slip AS MATERIALIZED (
        SELECT nextval('games_participation_id_seq') AS id, side.*,
            (SELECT sum(bet.value::bigint)::bigint FROM jsonb_each_text(side.stakes) AS bet) AS staked
        FROM side WHERE side.player_id IS NOT NULL
    ), played AS (
        INSERT INTO games_round (
            id, code, table_version_id, mode, commitment, shoe_id, first_card, player_value, cards, outcome, at
        )
        SELECT round, live.code, live.version_id, live.mode, live.commitment, live.shoe_id, live.first_card, '', live.cards,
            coalesce(games_outcome(live.cards), ''), clock_timestamp()
        WHERE EXISTS (SELECT FROM slip)
        RETURNING at
    ), part AS (
        INSERT INTO games_participation (
            id, round_id, player_id, currency, mode, balance_before, balance_after, staked, paid, commission, session, at,
            table_id
        )
        SELECT slip.id, round, slip.player_id, slip.currency, live.mode, coalesce(slip.balance_before, slip.balance),
            slip.balance, slip.staked, 0, 0, slip.session, (SELECT played.at FROM played), live.table_id
        FROM slip ORDER BY slip.player_id
    )
    INSERT INTO games_wager (participation_id, bet, stake, payout, commission, result)
    SELECT slip.id, bet.key, bet.value::bigint, 0, 0, 'void' FROM slip CROSS JOIN jsonb_each_text(slip.stakes) AS bet;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION games_store_void_round FROM PUBLIC;
