-- Starts of games: a player may start another one at least so many seconds after the last one for real
-- money, at one table at a time, and not by an API client, as the jurisdiction says. Only games_begin_game
-- writes games_lastgame.
--
--   SB103 the player may play at one table at a time, and has opened another; detail: slug of the table that waits
--   SB107 the last game began too recently; detail: milliseconds until the next may begin
--   SB108 API clients may not play here
--   SB109 the player may play at one table at a time, and a round at another one is in progress; detail: its name

-- Return how many seconds a player must wait before another game for real money may begin, in one row.
-- A function in FROM, so that PostgreSQL inlines it.
CREATE OR REPLACE FUNCTION games_wait_of(player bigint, mode text) RETURNS TABLE (seconds double precision)
LANGUAGE sql STABLE AS $$
    SELECT coalesce((
        SELECT greatest(0, extract(epoch FROM
            g.began_at + make_interval(secs => j.seconds_between_games) - clock_timestamp()))::double precision
        FROM public.games_lastgame AS g JOIN public.players_player AS p ON p.id = g.player_id
        JOIN public.players_jurisdiction AS j ON j.code = p.jurisdiction_id
        WHERE g.player_id = player AND mode = 'R'), 0)
$$;

-- Return the name of a table or studio at which a round of a player is in progress, NULL if there is none: a
-- bet of a shared table that has not been settled; at Chemin de Fer a bank or a stake in a coup, or a bid; a bet
-- with a studio without a later win or a rollback, while the game session lasts. A round at a table that an incident has
-- stopped does not count: staff may take days to decide about it.
-- `game`: id of a game that does not count, as of games_begin_game.
CREATE OR REPLACE FUNCTION games_round_elsewhere(player bigint, game uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT found.name FROM (
        SELECT t.name
        FROM games_livetable AS l JOIN games_table AS t ON t.id = l.table_id
        JOIN games_liveround AS r ON r.id = l.round_id AND r.phase IN ('betting', 'closed', 'dealt')
            AND r.id <> games_round_elsewhere.game
        WHERE l.stopped_by_id IS NULL AND (EXISTS (
                SELECT FROM games_liveseat AS s
                WHERE s.live_table_id = l.id AND s.player_id = player AND s.round_id = r.id AND s.stakes <> '{}')
            OR EXISTS (
                SELECT FROM games_cheminseat AS s JOIN games_chemintable AS c ON c.live_table_id = l.id
                LEFT JOIN games_chemintenure AS bank ON bank.id = c.tenure_id AND bank.seat_id = s.id
                WHERE s.live_table_id = l.id AND s.player_id = player AND s.left_at IS NULL
                  AND (bank.id IS NOT NULL OR s.account_id IN (SELECT stake.account FROM games_coup_stakes(r.id) AS stake))))
        UNION ALL
        SELECT t.name
        FROM games_cheminseat AS s JOIN games_chemintable AS c ON c.live_table_id = s.live_table_id 
            AND c.sale_id <> games_round_elsewhere.game
        JOIN wallet_hold AS h ON h.round_id = c.sale_id AND h.account_id = s.account_id
        JOIN games_livetable AS l ON l.id = s.live_table_id AND l.stopped_by_id IS NULL
        JOIN games_table AS t ON t.id = l.table_id
        WHERE s.player_id = player AND s.left_at IS NULL
        UNION ALL
        SELECT p.name
        FROM wallet_studio_player AS s JOIN wallet_partner AS p ON p.id = s.partner_id
        JOIN wallet_game_session AS g ON g.studio_player_id = s.id AND g.ends_at > clock_timestamp()
        JOIN players_session AS own ON own.id = g.session_id AND own.ended_at IS NULL
        JOIN wallet_studio_transaction AS b ON b.game_session_id = g.id AND b.operation = 'bet'
        WHERE s.player_id = player AND games_studio_game(b) <> games_round_elsewhere.game AND NOT EXISTS (
            SELECT FROM wallet_studio_transaction AS w
            WHERE w.studio_player_id = s.id AND (w.game, w.round) = (b.game, b.round)
              AND (w.operation = 'win' AND w.id > b.id OR w.takes_back = b.transaction))
    ) AS found LIMIT 1
$$;
REVOKE ALL ON FUNCTION games_round_elsewhere FROM PUBLIC;

-- Return the id of the game that a studio's transaction belongs to. A win ends it: the next bet under the same
-- name of a round is another game.
CREATE OR REPLACE FUNCTION games_studio_game(asked wallet_studio_transaction) RETURNS uuid
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT md5(concat_ws(' ', asked.studio_player_id, asked.game, asked.round, (
        SELECT max(w.id) FROM wallet_studio_transaction AS w
        WHERE (w.studio_player_id, w.game, w.round) = (asked.studio_player_id, asked.game, asked.round)
          AND w.operation IN ('win', 'bet-and-win') AND w.id < asked.id)))::uuid
$$;

-- Start a game of a player, if it may start now: each deal at a solo table, the first bet in a round of a
-- shared table, at Chemin de Fer a bank taken or kept, a bid, and the first call or stake in a coup;
-- and the first bet in a round of a studio.
-- `mode`: R or F. `game`: id of the round, coup, sale or tenure; a game that has begun does not begin again.
-- `playing`: id of the session, or NULL. `game_table` is NULL for a game of a studio, `studio_session` for all others.
-- Raises SB103, SB107, SB108, SB109.
-- Locks the player's open table for share and last game, so callers have locked the account before.
CREATE OR REPLACE FUNCTION games_begin_game(
    player bigint, game_table bigint, mode text, game uuid, playing uuid, studio_session bigint
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    law players_jurisdiction;
    last games_lastgame;
    elsewhere text;
BEGIN
    SELECT j.* INTO law FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE p.id = player;
    IF NOT law.may_play_in_parallel THEN
        PERFORM FROM games_opentable AS o
        WHERE o.player_id = player AND o.mode = mode AND o.table_id IS NOT DISTINCT FROM game_table
          AND o.game_session_id IS NOT DISTINCT FROM studio_session FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'player % has opened another table', player USING ERRCODE = 'SB103',
                DETAIL = coalesce((SELECT t.slug FROM games_table AS t WHERE t.id = game_table), '');
        END IF;
        elsewhere := games_round_elsewhere(player, game);
        IF elsewhere IS NOT NULL THEN
            RAISE EXCEPTION 'player % has a round in progress', player USING ERRCODE = 'SB109', DETAIL = elsewhere;
        END IF;
    END IF;
    IF mode <> 'R' THEN
        RETURN;
    END IF;
    IF NOT law.api_clients_may_play AND players_is_of_api_client(playing) THEN
        RAISE EXCEPTION 'API clients may not play for player %', player USING ERRCODE = 'SB108';
    END IF;
    IF law.seconds_between_games > 0 THEN
        INSERT INTO games_lastgame AS g (player_id, game, began_at) VALUES (player, game, clock_timestamp())
        ON CONFLICT (player_id) DO UPDATE SET game = EXCLUDED.game, began_at = clock_timestamp()
            WHERE g.game <> EXCLUDED.game
                AND g.began_at <= clock_timestamp() - make_interval(secs => law.seconds_between_games);
        IF NOT FOUND THEN
            SELECT g.* INTO last FROM games_lastgame AS g WHERE g.player_id = player;
            IF last.game IS DISTINCT FROM game THEN
                RAISE EXCEPTION 'player % has just begun another game', player USING ERRCODE = 'SB107',
                    DETAIL = greatest(1, ceil(1000 * extract(epoch FROM
                        last.began_at + make_interval(secs => law.seconds_between_games) - clock_timestamp())));
            END IF;
        END IF;
    END IF;
END $$;
REVOKE ALL ON FUNCTION games_begin_game FROM PUBLIC;

-- Make a studio's game the one that the player plays, where the jurisdiction allows one at a time. Trigger
-- function, AFTER INSERT on wallet_game_session.
CREATE OR REPLACE FUNCTION games_open_studio_game() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO games_opentable (player_id, mode, game_session_id)
    SELECT p.id, NEW.mode, NEW.id
    FROM wallet_studio_player AS s JOIN players_player AS p ON p.id = s.player_id
    JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id AND NOT j.may_play_in_parallel
    WHERE s.id = NEW.studio_player_id
    ON CONFLICT (player_id) DO UPDATE SET table_id = NULL, mode = EXCLUDED.mode, game_session_id = EXCLUDED.game_session_id;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION games_open_studio_game FROM PUBLIC;

-- Start a game of a player with the first bet of a game of a studio. Trigger function, BEFORE INSERT on
-- wallet_studio_transaction, after the account was locked.
-- Raises the errors of games_begin_game.
CREATE OR REPLACE FUNCTION games_begin_studio_game() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.bet > 0 THEN
        PERFORM games_begin_game(s.player_id, NULL, NEW.mode, games_studio_game(NEW), NULL, NEW.game_session_id)
        FROM wallet_studio_player AS s WHERE s.id = NEW.studio_player_id;
    END IF;
    RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION games_begin_studio_game FROM PUBLIC;
