-- Receipts of players: what the house has taken, and where the log will have it. The dealer signs them.
--
-- A receipt is a text of lines, each ended by a line feed; docs/audit.md names them. The database writes it from
-- committed rows alone and proves it to the dealer, which signs nothing else. So no receipt speaks of a round that was
-- rolled back.

-- Return the salt of a player's bets on a round of a shared table, 16 bytes. Nobody can guess stakes from a leaf without
-- it, and it says nothing of who the player is. Without SET, so that PostgreSQL inlines it.
CREATE OR REPLACE FUNCTION games_bet_salt(salt bytea, player bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
    SELECT substr(sha256(salt || convert_to('player:' || player::text, 'UTF8')), 1, 16)
$$;
REVOKE ALL ON FUNCTION games_bet_salt FROM PUBLIC;

-- Return stakes as receipts and leaves have them: "bet=amount" in the order of the bets' codes, in minor units,
-- separated by spaces.
CREATE OR REPLACE FUNCTION games_stakes_text(bets text[], stakes bigint[]) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(string_agg(concat(w.bet, '=', w.stake), ' ' ORDER BY w.bet COLLATE "C"), '')
    FROM unnest(bets, stakes) AS w (bet, stake)
$$;

-- Return the bets of each player on a round of several players, their stakes as receipts have them: those that are stored
-- once the round is, else those at their seats. At Chemin de Fer the banker's is what the others have staked.
CREATE OR REPLACE FUNCTION games_bets(round uuid) RETURNS TABLE (player bigint, currency text, stakes text)
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT p.player_id, p.currency, bet.stakes
    FROM games_participation AS p CROSS JOIN LATERAL (
        SELECT coalesce(string_agg(concat(b.code, '=', b.stake), ' ' ORDER BY b.code COLLATE "C"), '') AS stakes
        FROM unnest(p.bets, p.stakes) AS b (code, stake)
    ) AS bet
    WHERE p.round_id = round
    UNION ALL
    SELECT s.player_id, s.currency, bet.stakes
    FROM games_liveseat AS s CROSS JOIN LATERAL (
        SELECT string_agg(concat(b.code, '=', b.stake), ' ' ORDER BY b.code COLLATE "C") AS stakes
        FROM jsonb_each_text(s.stakes) AS b (code, stake)
    ) AS bet
    WHERE s.round_id = round AND s.stakes <> '{}' AND NOT EXISTS (SELECT FROM games_round AS g WHERE g.id = round)
    UNION ALL
    SELECT s.player_id, a.currency, bet.stakes
    FROM games_liveround AS r
    JOIN games_chemintenure AS bank ON bank.live_table_id = r.live_table_id AND bank.ended_at IS NULL
    JOIN games_cheminseat AS s ON s.live_table_id = r.live_table_id AND s.left_at IS NULL AND s.player_id IS NOT NULL
    JOIN wallet_account AS a ON a.id = s.account_id
    CROSS JOIN LATERAL (
        SELECT concat('punter=', stake.amount) AS stakes FROM games_coup_stakes(round) AS stake WHERE stake.account = s.account_id
        UNION ALL
        SELECT concat('bank=', sum(stake.amount)) FROM games_coup_stakes(round) AS stake WHERE s.id = bank.seat_id
        HAVING count(*) > 0
    ) AS bet
    WHERE r.id = round AND NOT EXISTS (SELECT FROM games_round AS g WHERE g.id = round)
$$;
REVOKE ALL ON FUNCTION games_bets FROM PUBLIC;

-- Return the leaf of each player with bets on a round of several players.
-- A leaf is the SHA-256 of a zero byte and the lines "sabot bet v1", "round=", "salt=", "currency=" and "stakes=", each
-- ended by a line feed; the salt is in hex.
CREATE OR REPLACE FUNCTION games_bet_leaves(round uuid) RETURNS TABLE (player bigint, leaf bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT laid.player, sha256('\x00'::bytea || convert_to(concat(
        E'sabot bet v1\nround=', round, E'\nsalt=', encode(games_bet_salt(r.salt, laid.player), 'hex'),
        E'\ncurrency=', laid.currency, E'\nstakes=', laid.stakes, E'\n'), 'UTF8'))
    FROM games_liveround AS r CROSS JOIN games_bets(round) AS laid
    WHERE r.id = round AND r.salt IS NOT NULL
    ORDER BY laid.player
$$;
REVOKE ALL ON FUNCTION games_bet_leaves FROM PUBLIC;

-- Record the root over the closed bets on a round of several players (`bets.sealed`), as RFC 6962 makes it,
-- its leaves in the order of the players. Nothing without bets.
-- Nobody knows the cards then, so the house cannot choose by them which bets it had.
CREATE OR REPLACE FUNCTION games_seal_bets(round uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    hashes bytea;
    done text;
BEGIN
    SELECT string_agg(l.leaf, ''::bytea ORDER BY l.player) INTO hashes FROM games_bet_leaves(round) AS l;
    IF hashes IS NOT NULL THEN
        done := audit_append('bets.sealed', 'system', 'round:' || round, concat(
            '{"by":"system","data":{"bets":', octet_length(hashes) / 32, ',"root":"', encode(audit_root(hashes), 'hex'),
            '"},"kind":"bets.sealed","on":"round:', round, '"}'));
    END IF;
END $$;
REVOKE ALL ON FUNCTION games_seal_bets FROM PUBLIC;

-- Return the receipt of what a player has in a round, and the proof of it for the dealer: of the stored round ("of=round",
-- or "of=void" where it was cancelled), else of the bets at a shared table, or of those on a coup of Chemin de Fer once it
-- is closed ("of=bet"). No row for anything else, and none before the transaction that wrote it is committed.
-- "entry" is the hash in the public log's entry of the event that settled or voided the round. Web chooses the code of a
-- round, so it could be meant to be a line of its own.
CREATE OR REPLACE FUNCTION games_receipt(round uuid, player bigint) RETURNS TABLE (said text, ticket bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    has_written_nothing boolean := pg_current_xact_id_if_assigned() IS NULL;  -- so what it sees is committed
    part record;
    event record;
BEGIN
    SELECT p.table_id, p.mode, p.currency, p.paid, games_stakes_text(p.bets, p.stakes) AS stakes,
           regexp_replace(r.code, '[^0-9A-Z-]', '', 'g') AS code, r.event_id
    INTO part
    FROM games_participation AS p JOIN games_round AS r ON r.id = p.round_id
    WHERE p.round_id = games_receipt.round AND p.player_id = games_receipt.player
        AND (has_written_nothing OR games_is_committed(p.xmin));
    IF FOUND AND part.event_id IS NOT NULL THEN  -- by its id one month of the log is read
        SELECT e.kind, e.at, e.salt, e.body INTO event FROM audit_event AS e WHERE e.id = part.event_id;
    ELSIF FOUND THEN
        SELECT e.kind, e.at, e.salt, e.body INTO event FROM audit_event AS e
        WHERE e."on" = 'round:' || round AND e.kind IN ('round.settled', 'round.voided')
        ORDER BY e.kind, e.id LIMIT 1;
    END IF;
    IF FOUND THEN
        said := concat(
            E'sabot receipt v1\nof=', CASE event.kind WHEN 'round.settled' THEN 'round' ELSE 'void' END, E'\nround=', round,
            E'\ncode=', part.code, E'\ntable=', part.table_id, E'\nmode=', part.mode, E'\ncurrency=', part.currency,
            E'\nstakes=', part.stakes, E'\npaid=', part.paid,
            E'\nat=', to_char(event.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            E'\nentry=', encode(sha256(event.salt || event.body), 'hex'), E'\nwithin=86400\n');
    END IF;
    IF said IS NULL THEN
        SELECT concat(
            E'sabot receipt v1\nof=bet\nround=', l.id, E'\ncode=', regexp_replace(l.code, '[^0-9A-Z-]', '', 'g'), E'\ntable=', t.table_id, E'\nmode=', t.mode,
            E'\ncurrency=', s.currency, E'\nstakes=', bet.stakes, E'\nversion=', s.version,
            E'\nat=', to_char(statement_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            E'\ncloses=', to_char(coalesce(l.closed_at, l.deadline) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            E'\nsalt=', encode(games_bet_salt(l.salt, s.player_id), 'hex'), E'\nwithin=86400\n')
        INTO said
        FROM games_liveround AS l JOIN games_livetable AS t ON t.id = l.live_table_id
        JOIN games_liveseat AS s ON s.live_table_id = t.id AND s.round_id = l.id
        CROSS JOIN LATERAL (
            SELECT games_stakes_text(array_agg(b.code), array_agg(b.stake::bigint)) AS stakes
            FROM jsonb_each_text(s.stakes) AS b (code, stake)
        ) AS bet
        WHERE l.id = games_receipt.round AND s.player_id = games_receipt.player AND l.phase IN ('betting', 'closed', 'dealt')
            AND (has_written_nothing OR games_is_committed(s.xmin)) AND NOT EXISTS (SELECT FROM games_round AS g WHERE g.id = l.id);
    END IF;
    IF said IS NULL THEN
        SELECT concat(
            E'sabot receipt v1\nof=bet\nround=', l.id, E'\ncode=', regexp_replace(l.code, '[^0-9A-Z-]', '', 'g'), E'\ntable=', t.table_id, E'\nmode=', t.mode,
            E'\ncurrency=', laid.currency, E'\nstakes=', laid.stakes, E'\nversion=1',
            E'\nat=', to_char(statement_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            E'\ncloses=', to_char(l.closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            E'\nsalt=', encode(games_bet_salt(l.salt, laid.player), 'hex'), E'\nwithin=86400\n')
        INTO said
        FROM games_liveround AS l JOIN games_livetable AS t ON t.id = l.live_table_id
        JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'chemin'
        CROSS JOIN games_bets(l.id) AS laid
        WHERE l.id = games_receipt.round AND laid.player = games_receipt.player AND l.phase IN ('closed', 'dealt')
            AND (has_written_nothing OR games_is_committed(l.xmin)) AND NOT EXISTS (SELECT FROM games_round AS g WHERE g.id = l.id);
    END IF;
    IF said IS NOT NULL THEN
        ticket := games_dealer_hmac(said);
        RETURN NEXT;
    END IF;
END $$;
REVOKE ALL ON FUNCTION games_receipt FROM PUBLIC;
