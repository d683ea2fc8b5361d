-- Verification of rounds against the ledger: stakes and payouts of a round are those of its participations
-- and wagers, and no wager pays more than the rules of its version.

-- Compare rounds with what journals have moved for them.
-- `rounds[i]`, `players[i]`, `staked[i]`, `paid[i]`: what a range of journals has staked and paid for a player,
-- in minor units; NULL players are house players.
-- Returns one sentence for each difference, as games_differences does.
--
-- Most rounds agree, so they are compared first, and only others are read from the ledger again: a round
-- may have journals outside of the range.
CREATE OR REPLACE FUNCTION games_verify_rounds(rounds uuid[], players bigint[], staked bigint[], paid bigint[])
RETURNS TABLE (invariant text, finding text)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan
SET work_mem = '128MB' SET jit = off SET max_parallel_workers_per_gather = 0
SET random_page_cost = 1.1 AS $$
DECLARE
    doubtful uuid[];
BEGIN
    WITH odds AS MATERIALIZED (
        SELECT v.id AS version_id, o.outcome, o.bet, o.win::bigint, o.per::bigint
        FROM games_tableversion AS v JOIN games_highestodds AS o ON o.rules_digest = v.rules_digest
    )
    SELECT array_agg(m.round) INTO doubtful
    FROM (
        SELECT m.round, (p.staked = min(m.staked) AND p.paid = min(m.paid) AND sum(w.stake) = p.staked
               AND sum(w.payout) = p.paid AND sum(w.commission) = p.commission
               AND bool_and((w.payout <= w.stake + w.stake * o.win / o.per) IS TRUE)) IS TRUE AS agrees
        FROM unnest(rounds, players, staked, paid) AS m (round, player, staked, paid)
        LEFT JOIN games_participation AS p ON p.round_id = m.round AND p.player_id = m.player
        LEFT JOIN games_round AS r ON r.id = m.round AND r.mode = p.mode
        LEFT JOIN LATERAL unnest(p.bets, p.stakes, p.payouts, p.commissions) AS w (bet, stake, payout, commission) ON true
        LEFT JOIN odds AS o ON o.version_id = r.table_version_id AND o.outcome = r.outcome AND o.bet = w.bet
        GROUP BY m.round, m.player, p.id
    ) AS m WHERE NOT m.agrees;
    RETURN QUERY SELECT f.* FROM (SELECT DISTINCT d.round FROM unnest(doubtful) AS d (round)) AS each CROSS JOIN LATERAL games_differences(each.round) AS f;
END $$;
REVOKE ALL ON FUNCTION games_verify_rounds FROM PUBLIC;

-- Compare a round with all its journals that are no reversals.
-- Returns one sentence for each difference, with the name of the invariant: a round that is not stored,
-- stakes or payouts that differ from its participations, wagers that do not add up to them, and wagers that
-- pay more than the rules of its version on its outcome.
-- Nothing is demanded of a live round in progress. A banker at Chemin de Fer has no stake of his own in the
-- ledger: what the bank has won or lost is compared, and nothing where the coup is void.
CREATE OR REPLACE FUNCTION games_differences(round uuid) RETURNS TABLE (invariant text, finding text)
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    stored games_round;
    journals text;
    is_coup boolean := EXISTS (SELECT FROM wallet_account AS a WHERE a.subject_id = games_differences.round AND a.kind = 'stakes');
BEGIN
    SELECT r.* INTO stored FROM games_round AS r WHERE r.id = games_differences.round;
    IF NOT FOUND THEN
        IF EXISTS (SELECT FROM games_liveround AS l WHERE l.id = games_differences.round AND l.phase IN ('betting', 'closed', 'dealt'))
           OR NOT EXISTS (SELECT FROM wallet_journal AS j WHERE j.round_id = games_differences.round AND j.reverses_id IS NULL
                          AND NOT EXISTS (SELECT FROM wallet_reversal AS v WHERE v.journal_id = j.id)) THEN
            RETURN;
        END IF;
        RETURN QUERY
        SELECT 'journals_have_rounds'::text, format('journal %s: this %s moves %s on account %s for round %s, which is not stored',
                j.id, j.kind, e.amount, e.account_id, games_differences.round)
        FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id
        WHERE j.round_id = games_differences.round AND j.kind IN ('stake', 'held_stake', 'settle') AND a.owner_id IS NOT NULL
        ORDER BY j.id, e.line;
        RETURN;
    END IF;
    RETURN QUERY
    WITH posted AS (
        SELECT a.owner_id AS player_id, string_agg(DISTINCT j.id::text, ', ') AS journals, min(a.mode) AS mode,
               bool_or(j.kind IN ('stake', 'held_stake') AND a.kind <> 'bank') AS has_stake,
               coalesce(-sum(e.amount) FILTER (WHERE j.kind IN ('stake', 'held_stake')), 0) AS staked, sum(e.amount) AS gained
        FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
        JOIN wallet_account AS a ON a.id = e.account_id AND a.owner_id IS NOT NULL
        WHERE j.round_id = games_differences.round AND j.reverses_id IS NULL AND j.kind IN ('stake', 'held_stake', 'settle')
        GROUP BY a.owner_id
    ), wagered AS (
        SELECT p.id, sum(w.stake) AS stake, sum(w.payout) AS payout, sum(w.commission) AS commission
        FROM games_participation AS p JOIN games_wager AS w ON w.participation_id = p.id
        WHERE p.round_id = games_differences.round GROUP BY p.id
    ), part AS (
        SELECT p.*, w.stake, w.payout, w.commission AS of_wagers,
               EXISTS (SELECT FROM games_wager AS b WHERE b.participation_id = p.id AND b.bet = 'bank') AS is_bank
        FROM games_participation AS p LEFT JOIN wagered AS w USING (id) WHERE p.round_id = games_differences.round
    )
    SELECT 'rounds_pay_what_they_say'::text, format(
            'round %s: journals %s take %s from player %s and leave a gain of %s; its participation says staked %s, paid %s',
            games_differences.round, coalesce(m.journals, 'none'), coalesce(m.staked, 0), coalesce(m.player_id, p.player_id),
            coalesce(m.gained, 0), coalesce(p.staked::text, 'nothing'), coalesce(p.paid::text, 'nothing'))
    FROM posted AS m FULL JOIN part AS p USING (player_id)
    WHERE (p.paid - p.staked = coalesce(m.gained, 0) AND (m.has_stake IS NOT TRUE OR p.is_bank OR p.staked = m.staked)
           AND p.mode = coalesce(m.mode, p.mode) AND p.mode = stored.mode) IS NOT TRUE
      AND (p.is_bank AND stored.outcome = '' AND coalesce(m.gained, 0) = 0) IS NOT TRUE
    UNION ALL
    SELECT 'wagers_are_sums', format('round %s: wagers of player %s add up to staked %s, paid %s; its participation says %s and %s',
            games_differences.round, p.player_id, coalesce(p.stake, 0), coalesce(p.payout, 0), p.staked, p.paid)
    FROM part AS p WHERE (p.staked, p.paid, p.commission) IS DISTINCT FROM (p.stake, p.payout, p.of_wagers)
    UNION ALL
    SELECT 'payouts_follow_the_paytable', format('round %s: bet %s of player %s pays %s for a stake of %s, at most %s is allowed by version %s',
            games_differences.round, w.bet, p.player_id, w.payout, w.stake, coalesce(w.stake + w.stake * o.win / o.per, 0),
            stored.table_version_id)
    FROM part AS p JOIN games_wager AS w ON w.participation_id = p.id
    LEFT JOIN games_tableversion AS v ON v.id = stored.table_version_id
    LEFT JOIN games_highestodds AS o ON o.rules_digest = v.rules_digest AND o.outcome = stored.outcome AND o.bet = w.bet
    WHERE CASE
        WHEN stored.outcome = '' OR w.result = 'void' THEN w.payout <> 0
        WHEN is_coup THEN false  -- what a coup pays is compared with its stakes (coups_pay_who_staked)
        ELSE (w.payout <= w.stake + w.stake * o.win / o.per) IS NOT TRUE END;
END $$;
REVOKE ALL ON FUNCTION games_differences FROM PUBLIC;

-- Return fingerprints of rounds, and of participations with their bets: the XOR of a hash of each row with `seed`.
-- `old_participation`, `participation`: participations below these ids. `old_before`,
-- `before`: rounds before these times. The columns are named alike.
CREATE OR REPLACE FUNCTION games_print(
    old_participation bigint, participation bigint, old_before timestamptz, before timestamptz, seed bigint
) RETURNS TABLE (old_rounds bigint, rounds bigint, old_participations bigint, participations bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
BEGIN
    SELECT coalesce(bit_xor(r.print) FILTER (WHERE r.at < old_before), 0),
           coalesce(bit_xor(r.print) FILTER (WHERE r.at < games_print.before), 0)
    INTO old_rounds, rounds
    FROM (
        SELECT r.at, uuid_hash_extended(r.id, hashint8extended(r.table_version_id, hashtextextended(r.outcome,
                   hashtextextended(r.cards, timestamptz_hash_extended(r.at, games_print.seed + ascii(r.mode)))))) AS print
        FROM games_round AS r OFFSET 0) AS r;
    SELECT coalesce(bit_xor(p.print) FILTER (WHERE p.id < old_participation), 0),
           coalesce(bit_xor(p.print) FILTER (WHERE p.id < games_print.participation), 0)
    INTO old_participations, participations
    FROM (
        SELECT p.id, uuid_hash_extended(p.round_id, hashint8extended(p.id, hashint8extended(p.player_id, hashint8extended(p.staked,
                   hashint8extended(p.paid, hashint8extended(p.commission, hashint8extended(p.balance_before,
                   hashint8extended(p.balance_after, hashtextextended(p.currency, hash_array_extended(p.bets,
                   hash_array_extended(p.stakes, hash_array_extended(p.payouts, hash_array_extended(p.commissions,
                   hash_array_extended(p.results, games_print.seed + ascii(p.mode))))))))))))))) AS print
        FROM games_participation AS p OFFSET 0) AS p;
    RETURN NEXT;
END $$;
REVOKE ALL ON FUNCTION games_print FROM PUBLIC;
