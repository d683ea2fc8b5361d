-- Verification of rounds against the event log: the rows and the journals of a round agree with its signed events,
-- and each round, stake and payout has an event.
--
-- Findings have three columns: what was verified, the subject as in the event log, and a sentence.

-- Return the SHA-256 in hex of what is stored of the players of a round: for each, in order of id, a line
-- "player currency mode balance_before balance_after staked paid commission session", followed by a line
-- "bet stake payout commission result" for each bet by its code. Amounts are minor units; a missing session
-- is "none". Lines are separated by line feeds; without players, it is the hash of an empty text.
CREATE OR REPLACE FUNCTION games_parts_digest(round uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT encode(sha256(convert_to(coalesce(string_agg(concat_ws(E'\n', concat_ws(' ',
            p.player_id, p.currency, p.mode, p.balance_before, p.balance_after, p.staked, p.paid, p.commission,
            coalesce(p.session::text, 'none')), w.lines), E'\n' ORDER BY p.player_id), ''), 'UTF8')), 'hex')
    FROM games_participation AS p
    CROSS JOIN LATERAL (
        SELECT string_agg(concat_ws(' ', w.bet, w.stake, w.payout, w.commission, w.result), E'\n' ORDER BY w.bet COLLATE "C") AS lines
        FROM unnest(p.bets, p.stakes, p.payouts, p.commissions, p.results) AS w (bet, stake, payout, commission, result)
    ) AS w
    WHERE p.round_id = round
$$;

-- Return the SHA-256 in hex of what is stored of a coup of Chemin de Fer: a line "tenure banker bank call at_risk
-- punter outcome punter_total banker_total punter_draws banker_draws punter_departs banker_departs tax", and a line
-- "seat player stake returned" for each stake by seat. What is missing is "none". NULL if there is no such coup.
CREATE OR REPLACE FUNCTION games_coup_digest(round uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT encode(sha256(convert_to(concat_ws(E'\n', concat_ws(' ',
            c.tenure_id, c.banker_id, c.bank, coalesce(nullif(c.call, ''), 'none'), c.at_risk, coalesce(c.punter_id::text, 'none'),
            coalesce(nullif(c.outcome, ''), 'none'), coalesce(c.punter_total::text, 'none'), coalesce(c.banker_total::text, 'none'),
            coalesce(c.punter_draws::text, 'none'), coalesce(c.banker_draws::text, 'none'), c.punter_departs, c.banker_departs, c.tax),
        (SELECT string_agg(concat_ws(' ', s.seat_id, coalesce(s.player_id::text, 'house'), s.stake, s.returned), E'\n' ORDER BY s.seat_id)
         FROM games_cheminstake AS s WHERE s.coup_id = c.round_id)), 'UTF8')), 'hex')
    FROM games_chemincoup AS c WHERE c.round_id = round
$$;

-- Return the facts of a stored round that `round.voided` says: JSON with the digest of its coup (null at other games)
-- and of its players, and what the round was played from and for.
CREATE OR REPLACE FUNCTION games_void_facts(round uuid) RETURNS jsonb
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT jsonb_build_object(
        'cards', r.cards, 'code', r.code, 'commitment', r.commitment, 'coup', games_coup_digest(r.id), 'first_card', r.first_card,
        'mode', r.mode, 'outcome', r.outcome, 'parts', games_parts_digest(r.id), 'shoe', r.shoe_id, 'table_version', r.table_version_id)
    FROM games_round AS r WHERE r.id = round
$$;

-- Return the SHA-256 in hex of what a void did: a line "player currency returned shortfall" for each player by id, in
-- minor units, each ended by a line feed.
CREATE OR REPLACE FUNCTION games_void_digest(round uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT encode(sha256(convert_to(coalesce(string_agg(
        concat_ws(' ', p.player_id, p.currency, p.returned, p.shortfall) || E'\n', '' ORDER BY p.player_id), ''), 'UTF8')), 'hex')
    FROM games_voidpart AS p WHERE p.void_id = round
$$;

-- Compare the events `round.settled`, `round.voided` and `bets.sealed` of the leaves from `first` to below `beyond` with the
-- rows of their rounds and with what journals have moved for them.
-- A banker at Chemin de Fer has no stake of his own in the ledger, so the gain of each player of a coup is compared, and
-- its tax both with the journal and with what the rule makes of the stakes.
CREATE OR REPLACE FUNCTION games_verify_logged_rounds(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan
SET work_mem = '128MB' SET jit = off SET max_parallel_workers_per_gather = 0 SET random_page_cost = 1.1 AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH said AS MATERIALIZED (
        SELECT e.id, l.leaf, e.by, substr(e."on", 7)::uuid AS round, d.data, d.data ? 'dealer' AS is_solo, d.data ? 'tenure' AS is_coup
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind = 'round.settled'
        CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data OFFSET 0) AS d
        WHERE l.leaf >= first AND l.leaf < beyond
    ), posted AS (
        SELECT m.round_id, jsonb_object_agg(m.owner_id, m.moves) AS players, coalesce(sum(m.house), 0)::bigint AS house,
               min(m.before) AS before, min(m.after) AS after
        FROM (
            SELECT s.round AS round_id, a.owner_id, CASE WHEN s.is_coup THEN to_jsonb(sum(e.amount)) ELSE jsonb_build_array(
                       coalesce(-sum(e.amount) FILTER (WHERE j.kind <> 'settle'), 0), coalesce(sum(e.amount) FILTER (WHERE j.kind = 'settle'), 0))
                   END AS moves, 0 AS house,
                   (array_agg(e.balance_after - e.amount ORDER BY e.version))[1] AS before,
                   (array_agg(e.balance_after ORDER BY e.version DESC))[1] AS after
            FROM said AS s
            JOIN wallet_journal AS j ON j.round_id = s.round AND j.reverses_id IS NULL AND j.kind IN ('stake', 'held_stake', 'settle')
            JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id AND a.owner_id IS NOT NULL
            GROUP BY s.round, a.owner_id, s.is_coup
        ) AS m GROUP BY m.round_id
    ), taxed AS (
        SELECT s.round AS round_id, sum(e.amount)::bigint AS tax
        FROM said AS s JOIN wallet_journal AS j ON j.round_id = s.round AND j.reverses_id IS NULL AND j.kind = 'settle'
        JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'house'
        WHERE s.is_coup GROUP BY s.round
    ), played AS (
        SELECT p.round_id, count(*) AS players, min(p.player_id) AS player, min(p.table_id) AS table_id, min(p.currency) AS currency,
               min(p.mode) AS mode, min(p.balance_before) AS balance_before, min(p.balance_after) AS balance_after, min(p.staked) AS staked,
               min(p.paid) AS paid, min(p.commission) AS commission, min(p.session::text) AS session,
               jsonb_object_agg(p.player_id, CASE WHEN s.is_coup THEN to_jsonb(p.paid - p.staked) ELSE jsonb_build_array(p.staked, p.paid) END) AS moves,
               CASE WHEN s.is_solo THEN (
                   SELECT jsonb_agg(jsonb_build_object('bet', w.bet, 'commission', w.commission, 'payout', w.payout, 'result', w.result,
                                                       'stake', w.stake) ORDER BY w.id)
                   FROM games_wager AS w WHERE w.participation_id = min(p.id)) END AS wagers
        FROM said AS s JOIN games_participation AS p ON p.round_id = s.round GROUP BY p.round_id, s.is_solo
        , s.is_coup
    ), compared AS (
        SELECT s.id, s.leaf, s.round, r.id IS NOT NULL AS is_there,
            jsonb_build_object(
                'table version', s.data -> 'table_version', 'rules', s.data -> 'rules', 'mode', s.data -> 'mode',
                'commitment', s.data -> 'commitment', 'cards', s.data -> 'cards', 'outcome', s.data -> 'outcome')
            || CASE WHEN s.is_solo THEN jsonb_build_object(
                'seed', s.data -> 'seed', 'player''s value', s.data -> 'player_value', 'players', 1, 'player', s.by,
                'table', s.data -> 'table', 'currency', s.data -> 'currency', 'balance before', s.data -> 'balance_before',
                'balance after', s.data -> 'balance_after', 'session', s.data -> 'session', 'wagers', s.data -> 'wagers',
                'total staked', own.staked, 'total paid', own.paid, 'total commission', own.commission,
                'balance before in the ledger', s.data -> 'balance_before', 'balance after in the ledger', s.data -> 'balance_after')
            ELSE jsonb_build_object(
                'code', s.data -> 'code', 'shoe', s.data -> 'shoe', 'first card', s.data -> 'first_card', 'players and bets', s.data -> 'parts')
            END
            || CASE WHEN s.is_coup THEN jsonb_build_object(
                'coup', s.data -> 'coup', 'tax', s.data -> 'tax', 'tax in the ledger', s.data -> 'tax',
                'tax by the rule', s.data -> 'tax') ELSE '{}' END AS due,
            jsonb_build_object(
                'table version', r.table_version_id, 'rules', v.rules_digest, 'mode', r.mode, 'commitment', r.commitment,
                'cards', r.cards, 'outcome', r.outcome)
            || CASE WHEN s.is_solo THEN jsonb_build_object(
                'seed', encode(r.seed, 'hex'), 'player''s value', r.player_value, 'players', p.players, 'player', 'player:' || p.player,
                'table', p.table_id, 'currency', p.currency, 'balance before', p.balance_before, 'balance after', p.balance_after,
                'session', p.session, 'wagers', p.wagers, 'total staked', p.staked, 'total paid', p.paid,
                'total commission', p.commission, 'balance before in the ledger', m.before, 'balance after in the ledger', m.after)
            ELSE jsonb_build_object(
                'code', r.code, 'shoe', r.shoe_id, 'first card', r.first_card, 'players and bets',
                CASE WHEN s.is_solo THEN NULL ELSE games_parts_digest(s.round) END)
            END
            || CASE WHEN s.is_coup THEN jsonb_build_object(
                'coup', games_coup_digest(s.round), 'tax', (SELECT c.tax FROM games_chemincoup AS c WHERE c.round_id = s.round),
                'tax in the ledger', coalesce(t.tax, 0),
                'tax by the rule', CASE s.data ->> 'outcome' WHEN 'banker' THEN (s.data ->> 'at_risk')::bigint * 5 / 100 ELSE 0 END)
            ELSE '{}' END AS stored,
            coalesce(p.moves, '{}') AS moves, coalesce(m.players, '{}') AS ledger
        FROM said AS s
        LEFT JOIN games_round AS r ON r.id = s.round
        LEFT JOIN games_tableversion AS v ON v.id = r.table_version_id
        LEFT JOIN played AS p ON p.round_id = s.round LEFT JOIN posted AS m ON m.round_id = s.round
        LEFT JOIN taxed AS t ON t.round_id = s.round
        LEFT JOIN LATERAL (
            SELECT sum((w ->> 'stake')::bigint) AS staked, sum((w ->> 'payout')::bigint) AS paid, sum((w ->> 'commission')::bigint) AS commission
            FROM jsonb_array_elements(s.data -> 'wagers') AS w WHERE s.is_solo
        ) AS own ON true
    )
    SELECT 'cards match the log', format('round:%s', c.round), format(
        'round %s: event %s (leaf %s) has settled it; the row of the round is missing.', c.round, c.id, c.leaf)
    FROM compared AS c WHERE NOT c.is_there
    UNION ALL
    SELECT CASE WHEN due.key IN ('cards', 'outcome', 'seed', 'commitment', 'player''s value', 'shoe', 'first card')
                THEN 'cards match the log' ELSE 'rounds match the log' END,
        format('round:%s', c.round), format(
        'round %s: %s: the stored value is %s; event %s (leaf %s) says %s.', c.round, due.key, coalesce(c.stored ->> due.key, 'nothing'), c.id, c.leaf,
        coalesce(due.value #>> '{}', 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_each(c.due) AS due
    WHERE c.is_there AND c.due <> c.stored AND due.value IS DISTINCT FROM c.stored -> due.key
    UNION ALL
    SELECT 'rounds move the amounts in the log', format('round:%s', c.round), format(
        'round %s: player %s: the ledger has moved %s; event %s (leaf %s) and the player''s part say %s.', c.round, who.player,
        coalesce(c.ledger ->> who.player, 'nothing'), c.id, c.leaf, coalesce(c.moves ->> who.player, 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_object_keys(c.moves || c.ledger) AS who (player)
    WHERE c.moves <> c.ledger AND c.moves -> who.player IS DISTINCT FROM c.ledger -> who.player
        -- A player of a coup who wins nothing and loses nothing may have no line.
        AND NOT (c.stored ? 'coup' AND coalesce((c.moves ->> who.player)::bigint, 0) = coalesce((c.ledger ->> who.player)::bigint, 0));

    RETURN QUERY
    WITH said AS MATERIALIZED (
        SELECT e.id, l.leaf, e.by, substr(e."on", 7)::uuid AS round, convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind = 'round.voided'
        WHERE l.leaf >= first AND l.leaf < beyond
    ), compared AS (
        SELECT s.id, s.leaf, s.round,
            jsonb_build_object('by', s.by, 'reason', s.data -> 'reason', 'returned to players', s.data -> 'sha256') || coalesce(s.data -> 'round', '{}') AS due,
            jsonb_build_object('by', v.by, 'reason', v.reason, 'returned to players', games_void_digest(s.round))
                || coalesce(games_void_facts(s.round), '{}') AS stored
        FROM said AS s LEFT JOIN games_void AS v ON v.round_id = s.round
    )
    SELECT CASE WHEN due.key IN ('cards', 'outcome', 'commitment', 'shoe', 'first_card')
                THEN 'cards match the log' ELSE 'voids match the log' END,
        format('round:%s', c.round), format(
        'round %s: %s: the stored value is %s; event %s (leaf %s), which voided it, says %s.', c.round, due.key, coalesce(c.stored ->> due.key, 'nothing'), c.id,
        c.leaf, coalesce(due.value #>> '{}', 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_each(c.due) AS due
    WHERE c.due <> c.stored AND due.value IS DISTINCT FROM c.stored -> due.key;

    RETURN QUERY
    SELECT 'bets match the log', format('round:%s', s.round), format(
        'round %s: event %s (leaf %s) has sealed %s players'' bets under the root %s; those that are stored have the root %s.', s.round, s.id,
        s.leaf, s.data ->> 'bets', s.data ->> 'root', coalesce(f.root, 'of nothing'))
    FROM (
        SELECT e.id, l.leaf, substr(e."on", 7)::uuid AS round, convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind = 'bets.sealed'
        WHERE l.leaf >= first AND l.leaf < beyond
    ) AS s
    JOIN games_liveround AS r ON r.id = s.round AND r.phase IN ('settled', 'void')
    CROSS JOIN LATERAL (
        SELECT encode(audit_root(string_agg(b.leaf, ''::bytea ORDER BY b.player)), 'hex') AS root FROM games_bet_leaves(s.round) AS b
    ) AS f
    WHERE f.root IS DISTINCT FROM s.data ->> 'root';
END $$;

-- Name rounds, stakes, payouts and voids that have no event. A row and its event are written in one transaction, so
-- a statement that sees one sees the other.
-- `participation`, `journal`: the lowest ids that are verified; rounds and voids without either are verified if both are 0.
CREATE OR REPLACE FUNCTION games_verify_unlogged_rounds(participation bigint, journal bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_custom_plan
SET work_mem = '128MB' SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
#variable_conflict use_column
DECLARE
    is_whole constant boolean := participation = 0 AND journal = 0;
BEGIN
    RETURN QUERY
    SELECT 'cards match the log', format('round:%s', r.id), format('round %s: is stored, but no event has settled or voided it.', r.id)
    FROM (
        SELECT p.round_id AS id FROM games_participation AS p WHERE p.id >= participation
        UNION SELECT g.id FROM games_round AS g WHERE is_whole
    ) AS r
    WHERE NOT EXISTS (
        SELECT FROM audit_event AS e WHERE e."on" = 'round:' || r.id AND e.kind IN ('round.settled', 'round.voided'));
    RETURN QUERY
    SELECT 'rounds have events', format('round:%s', m.round_id), format(
        'round %s: journals %s move %s of player %s, but no event has settled or voided the round.', m.round_id, m.journals, m.amount, m.owner_id)
    FROM (
        SELECT j.round_id, a.owner_id, string_agg(DISTINCT j.id::text, ', ') AS journals, sum(e.amount) AS amount
        FROM wallet_journal AS j JOIN wallet_entry AS e ON e.journal_id = j.id
        JOIN wallet_account AS a ON a.id = e.account_id AND a.owner_id IS NOT NULL
        WHERE j.id >= journal AND e.journal_id >= journal AND j.kind IN ('stake', 'held_stake', 'settle') AND j.round_id IS NOT NULL AND j.reverses_id IS NULL
        GROUP BY j.round_id, a.owner_id
    ) AS m
    WHERE m.amount <> 0
      AND NOT EXISTS (
        SELECT FROM audit_event AS e WHERE e."on" = 'round:' || m.round_id AND e.kind IN ('round.settled', 'round.voided'))
      AND NOT EXISTS (SELECT FROM games_liveround AS l WHERE l.id = m.round_id AND l.phase IN ('betting', 'closed', 'dealt'));
    RETURN QUERY
    SELECT 'voids have events', format('round:%s', j.round_id), format('journal %s: this %s belongs to round %s, which no event has voided.', j.id, j.kind, j.round_id)
    FROM wallet_journal AS j
    WHERE j.id >= journal AND j.kind IN ('void', 'void_transfer', 'void_shortfall') AND j.round_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM audit_event AS e WHERE e."on" = 'round:' || j.round_id AND e.kind = 'round.voided');
    RETURN QUERY
    SELECT 'voids have events', format('round:%s', v.round_id), format('round %s: is stored as void, but no event has voided it.', v.round_id)
    FROM games_void AS v
    WHERE NOT EXISTS (SELECT FROM audit_event AS e WHERE e."on" = 'round:' || v.round_id AND e.kind = 'round.voided');
END $$;

-- Compare the events `shoe.opened`, `shoe.ended` and `shoe.published` of the leaves from `first` to below `beyond` with the shoes.
CREATE OR REPLACE FUNCTION games_verify_logged_shoes(first bigint, beyond bigint)
RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
    WITH said AS MATERIALIZED (
        SELECT e.id, l.leaf, e.kind, substr(e."on", 6)::uuid AS shoe, convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data
        FROM audit_leaf AS l JOIN audit_event AS e ON e.id = l.event_id AND e.kind IN ('shoe.opened', 'shoe.ended', 'shoe.published')
        WHERE l.leaf >= first AND l.leaf < beyond
    ), compared AS (
        SELECT s.id, s.leaf, s.kind, s.shoe,
            CASE s.kind
                WHEN 'shoe.opened' THEN s.data - '{beacon,chances,mode,purpose,table,unopened}'::text[]
                WHEN 'shoe.ended' THEN s.data || '{"is ended": true}'
                ELSE s.data END AS due,
            CASE s.kind
                WHEN 'shoe.opened' THEN jsonb_build_object(
                    'burn_card', h.burn_card, 'burned', h.burned, 'commitment', h.commitment, 'cut', h.cut, 'dealer', h.dealer_key, 'decks', h.decks,
                    'entropy', h.entropy, 'number', h.number, 'root', h.root, 'rules', h.rules_digest, 'signature', encode(h.signature, 'hex'))
                WHEN 'shoe.ended' THEN jsonb_build_object(
                    'commitment', h.commitment, 'ending', h.ending, 'gone', h.gone, 'is ended', h.ended_at IS NOT NULL)
                ELSE jsonb_build_object('seed', encode(h.seed, 'hex')) END AS stored
        FROM said AS s LEFT JOIN games_shoe AS h ON h.id = s.shoe
    )
    SELECT 'cards match the log', format('shoe:%s', c.shoe), format(
        'shoe %s: %s: the stored value is %s; event %s (%s, leaf %s) says %s.', c.shoe, due.key, coalesce(c.stored ->> due.key, 'nothing'), c.id, c.kind, c.leaf,
        coalesce(due.value #>> '{}', 'nothing'))
    FROM compared AS c CROSS JOIN LATERAL jsonb_each(c.due) AS due
    WHERE c.due <> c.stored AND due.value IS DISTINCT FROM c.stored -> due.key
$$;

-- Name shoes that no event has opened or ended, and seeds that no event has published.
CREATE OR REPLACE FUNCTION games_verify_unlogged_shoes() RETURNS TABLE (verified text, subject text, finding text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT 'cards match the log', format('shoe:%s', h.id), format('shoe %s: no event %s is recorded for it.', h.id, due.kind)
    FROM games_shoe AS h
    CROSS JOIN LATERAL (
        VALUES ('shoe.opened', true), ('shoe.ended', h.ended_at IS NOT NULL), ('shoe.published', h.seed IS NOT NULL)) AS due (kind, is_due)
    WHERE due.is_due AND NOT EXISTS (SELECT FROM audit_event AS e WHERE e."on" = 'shoe:' || h.id AND e.kind = due.kind)
$$;
