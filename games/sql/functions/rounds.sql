-- Finished rounds. Only these functions write rounds, participations and the queue of verification.
--
--   SB060 the seat is not committed to this round
--   SB061 this is not the seed of the commitment
--   SB062 the table does not take this round
--   SB063 the wagers do not follow from the rules
--   SB066 nothing proves that the dealer dealt this round
--   SB102 the player may not play; detail: the reason, as players.protection.eligibility names it

-- Finish a solo round: move the money, insert the round and the player's participation with its bets,
-- record `round.settled`, and commit the seat to its next round.
-- `seat`: id of the seat. `round`: its committed round. `code`: short code of the round. `account`:
-- id of the account that the game plays on. `seed`: the seed of the commitment. `cards`, `outcome`:
-- what it deals. `dealer_key`, `epoch`, `deal`, `signature`, `proof`: the dealer's public key in hex,
-- its run, the number of the deal in it, its signature of the statement of the deal, and its proof of
-- both (games/engine/commitments.py). `bets`, `stakes`, `payouts`, `commissions`, `results`: one element
-- per wager, in minor units. `session`: id of the player's session or NULL.
-- `next_round`, `next_commitment`, `next_seed`: the next round of the seat, its seed encrypted. `slip`: bets that stay on the table. `last_stakes`: what
-- Rebet places. `terms`, `usual`: as for players_ineligibility.
-- Returns the balance after the payouts, in minor units, the totals of the play session as of
-- players_note_round, the time, whether a reality check has become due, and the time of the round.
-- Raises SB060; SB061 unless the commitment is to this seed, for this round and the table, decks and
-- rules in force; SB066 without a proof of these cards for exactly this round, player's value and
-- stakes; SB062 unless the table is open, and the version in force offers the mode and serves the
-- player; SB102 if players_reason_against_play has a reason, which is not asked again for five seconds after
-- games_lock_solo_seat found none in this transaction; SB063 for a stake outside of the limits
-- of that version, a bet that is named twice, a payout above the highest odds of
-- its rules on this outcome, or results that contradict the payouts; and the errors of games_begin_game and
-- wallet_write_round.
-- Locks the table for share, the seat and the account.
--
-- The database cannot deal the cards, so it believes the dealer, and a payout below the limit. The
-- verification task deals every round again.
CREATE OR REPLACE FUNCTION games_finish_solo_round(
    seat bigint, round uuid, code text, account bigint, seed bytea, player_value text, cards text, outcome text,
    dealer_key text, epoch text, deal bigint, signature bytea, proof bytea, bets text[], stakes bigint[], payouts bigint[], commissions bigint[], results text[], session uuid,
    next_round uuid, next_commitment text, next_seed bytea, slip jsonb,
    last_stakes jsonb, terms text, usual integer
) RETURNS TABLE (balance_after bigint, playing players_playsession, moment timestamptz, is_check_due boolean, stored_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    held record;
    binding text;
    reason text;
    event bigint;
BEGIN
    SELECT s.player_id, s.table_id, s.mode, s.commitment, s.last_round, t.status, v.id AS version_id, v.rules_digest,
           c.decks, p.currency, j.time_zone,
           s.mode = ANY (v.modes) AND p.jurisdiction_id = ANY (v.jurisdictions) AS serves,
           NOT j.may_play_in_parallel OR s.mode = 'R' AND (j.seconds_between_games > 0 OR NOT j.api_clients_may_play) AS is_paced,
           s.mode = 'R' AND NOT p.uses_operator_wallet AS is_real,
           coalesce(s.xid = pg_current_xact_id(), false) AND clock_timestamp() - now() < interval '5 seconds' AS may_play,
           checks.due_after, a.balance, sums.*,
           EXISTS (SELECT FROM games_dealerepoch AS e WHERE e.epoch = games_finish_solo_round.epoch) AS is_known_epoch
    INTO held
    FROM games_soloseat AS s
    JOIN games_table AS t ON t.id = s.table_id
    JOIN players_player AS p ON p.id = s.player_id
    JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    JOIN wallet_account AS a ON a.id = games_finish_solo_round.account AND a.owner_id = s.player_id AND a.mode = s.mode
        AND a.currency = p.currency AND a.kind IN ('cash', 'purse')
    LEFT JOIN games_tableversion AS v ON v.id = t.version_id
    CROSS JOIN players_check_interval(s.player_id, usual) AS checks
    LEFT JOIN games_betcombinations AS c ON c.rules_digest = v.rules_digest
    CROSS JOIN LATERAL (
    SELECT sum(w.stake)::bigint AS staked, sum(w.payout)::bigint AS paid, sum(w.commission)::bigint AS commission,
           count(DISTINCT w.bet) = count(*) AND bool_and(
               w.stake BETWEEN (l.limits -> 'bets' -> w.bet ->> 0)::bigint AND (l.limits -> 'bets' -> w.bet ->> 1)::bigint
               AND w.stake > 0 AND w.stake % (l.limits ->> 'step')::bigint = 0
               AND w.payout BETWEEN 0 AND w.stake + w.stake * o.win / o.per
               AND w.commission IN (0, 2 * w.stake - w.payout)
               AND CASE w.result
                   WHEN 'win' THEN w.payout >= w.stake WHEN 'push' THEN w.payout = w.stake WHEN 'lose' THEN w.payout = 0
                   END
           ) AS follows,
           string_agg(concat(
               '{"bet":', to_json(w.bet), ',"commission":', w.commission, ',"payout":', w.payout, ',"result":',
               to_json(w.result), ',"stake":', w.stake, '}'), ',' ORDER BY w.n) AS texts,
           string_agg(concat(w.bet, '=', w.stake, E'\n'), '' ORDER BY w.bet COLLATE "C") AS stakes
    FROM (SELECT v.limits -> p.currency AS limits) AS l CROSS JOIN unnest(bets, stakes, payouts, commissions, results)
        WITH ORDINALITY AS w (bet, stake, payout, commission, result, n)
    LEFT JOIN games_highestodds AS o
        ON o.rules_digest = v.rules_digest AND o.outcome = games_finish_solo_round.outcome AND o.bet = w.bet
    ) AS sums
    WHERE s.id = seat AND s.round_id = round
    FOR SHARE OF t FOR UPDATE OF s, a;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'seat % is not committed to round %', seat, round USING ERRCODE = 'SB060';
    END IF;
    binding := concat(
        E'purpose=solo\nid=', round, E'\ntable=', held.table_id, E'\ndecks=', held.decks, E'\nrules=',
        held.rules_digest, E'\n');
    IF octet_length(seed) <> 32 OR held.commitment IS DISTINCT FROM encode(sha256(convert_to(
        concat(E'sabot commitment v2\n', binding, 'seed=', encode(seed, 'hex'), E'\n'), 'UTF8')), 'hex') THEN
        RAISE EXCEPTION 'this is not the seed of round %', round USING ERRCODE = 'SB061';
    END IF;
    IF games_is_of_dealer(concat(
        E'sabot deal v1\nkey=', dealer_key, E'\nepoch=', epoch, E'\ndeal=', deal, E'\n', binding, 'commitment=',
        held.commitment, E'\nentropy=', encode(sha256(convert_to(player_value, 'UTF8')), 'hex'), E'\nstakes=',
        encode(sha256(convert_to(held.stakes, 'UTF8')), 'hex'), E'\ncards=', cards, E'\noutcome=', outcome,
        E'\nsignature=', encode(signature, 'hex'), E'\n'
    ), proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'nothing proves that the dealer dealt round %', round USING ERRCODE = 'SB066';
    END IF;
    IF next_commitment !~ '^[0-9a-f]{64}$' OR octet_length(next_seed) IS NOT DISTINCT FROM 0 OR next_round = round THEN
        RAISE EXCEPTION 'seat % cannot be committed to round %', seat, next_round USING ERRCODE = 'SB060';
    END IF;
    IF held.status <> 'open' OR held.serves IS NOT TRUE THEN
        RAISE EXCEPTION 'table % does not take round %', held.table_id, round USING ERRCODE = 'SB062';
    END IF;
    IF NOT held.may_play THEN
        reason := players_ineligibility(held.player_id, terms, held.is_real, session, usual);
        IF reason IS NOT NULL THEN
            RAISE EXCEPTION 'player % may not play', held.player_id USING ERRCODE = 'SB102', DETAIL = reason;
        END IF;
    END IF;
    IF held.follows IS NOT TRUE THEN
        RAISE EXCEPTION 'the wagers of round % do not follow from the rules', round USING ERRCODE = 'SB063';
    END IF;
    IF held.is_paced THEN
        PERFORM games_begin_game(held.player_id, held.table_id, held.mode, round, session, NULL);
    END IF;
    balance_after := wallet_write_round(
        round, account, held.player_id, held.currency, held.mode, held.time_zone, held.staked, held.paid);
    IF NOT held.is_known_epoch THEN
        PERFORM games_note_dealer(epoch, dealer_key);
    END IF;
    event := audit_append('round.settled', 'player:' || held.player_id, 'round:' || round, concat(
        '{"by":"player:', held.player_id, '","data":{"balance_after":', balance_after, ',"balance_before":', held.balance,
        ',"cards":', to_json(cards), ',"commitment":"', held.commitment, '","currency":"', held.currency,
        '","dealer":{"deal":', deal, ',"epoch":"', epoch, '","signature":"', encode(signature, 'hex'), '"},"decks":',
        held.decks, ',"follows":', coalesce('"' || held.last_round || '"', 'null'), ',"mode":"', held.mode,
        '","next":{"commitment":"', next_commitment, '","round":"', next_round,
        '"},"outcome":', to_json(outcome), ',"player_value":',
        to_json(player_value), ',"rules":"', held.rules_digest, '","seed":"', encode(seed, 'hex'), '","session":',
        coalesce('"' || session || '"', 'null'), ',"table":', held.table_id, ',"table_version":', held.version_id, ',"wagers":[', held.texts, ']},"kind":"round.settled","on":"round:', round, '"}'));

    WITH played AS (
        INSERT INTO games_round (
            id, code, table_version_id, mode, commitment, seed, player_value, cards, outcome, at, event_id
        ) VALUES (
            round, games_finish_solo_round.code, held.version_id, held.mode, held.commitment,
            games_finish_solo_round.seed, games_finish_solo_round.player_value, games_finish_solo_round.cards,
            games_finish_solo_round.outcome, clock_timestamp(), event
        ) RETURNING at
    ), due AS (
        INSERT INTO games_verificationdue (round_id) VALUES (round)
    ), part AS (
        INSERT INTO games_participation (
            round_id, player_id, currency, mode, balance_before, balance_after, staked, paid, commission, session, at,
            table_id, bets, stakes, payouts, commissions, results
        )
        SELECT round, held.player_id, held.currency, held.mode, held.balance, balance_after, held.staked, held.paid,
               held.commission, games_finish_solo_round.session, played.at, held.table_id, games_finish_solo_round.bets,
               games_finish_solo_round.stakes, games_finish_solo_round.payouts, games_finish_solo_round.commissions,
               games_finish_solo_round.results
        FROM played
    )
    UPDATE games_soloseat AS s
    SET round_id = next_round, commitment = next_commitment, sealed_seed = next_seed,
        rules_digest = held.rules_digest, undo = '[]',
        slip = games_finish_solo_round.slip, slip_version = 0, last_stakes = games_finish_solo_round.last_stakes,
        last_round = round, unseen = round, used_at = clock_timestamp(), xid = NULL
    WHERE s.id = seat
    RETURNING (SELECT played.at FROM played) INTO stored_at;
    playing := players_note_round(held.player_id, session, held.mode, held.staked, held.paid);
    moment := clock_timestamp();
    is_check_due := coalesce(moment - coalesce(playing.checked_at, playing.began) >= held.due_after, false);
    RETURN NEXT;
END $$;
REVOKE ALL ON FUNCTION games_finish_solo_round FROM PUBLIC;

-- Return the next rounds of the queue of verification, in order of id, and lock them until the
-- transaction ends.
-- `after`: rounds with a greater id. `most`: number of rounds. Rounds that another transaction has
-- locked are left out.
CREATE OR REPLACE FUNCTION games_next_verifications(after uuid, most integer) RETURNS SETOF uuid
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT d.round_id FROM games_verificationdue AS d WHERE d.round_id > after ORDER BY d.round_id LIMIT most
    FOR UPDATE SKIP LOCKED
$$;
REVOKE ALL ON FUNCTION games_next_verifications FROM PUBLIC;

-- Return whether a round is in the queue of verification, and lock it there until the transaction
-- ends.
CREATE OR REPLACE FUNCTION games_is_verification_due(round uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_verificationdue AS d WHERE d.round_id = round FOR UPDATE;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION games_is_verification_due FROM PUBLIC;

-- Put a finished round into the queue of verification; return whether it is new there.
CREATE OR REPLACE FUNCTION games_request_verification(round uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO games_verificationdue (round_id) SELECT r.id FROM games_round AS r WHERE r.id = round ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION games_request_verification FROM PUBLIC;
