-- When a player may start another game, and where: at least so many seconds after the last one for real
-- money, at one table at a time, and not by an API client, as the jurisdiction says. Only games_begin_game
-- writes games_lastgame.
--
--   SB103 the player may play at one table at a time, and has opened another; detail: slug of the table that waits
--   SB107 the last game began too recently; detail: milliseconds until the next may begin
--   SB108 API clients may not play here

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

-- Start a game of a player, if it may start now: each deal at a solo table, the first bet in a round of a
-- shared table, and at Chemin de Fer a bank taken or kept, a bid, and the first call or stake in a coup.
-- `mode`: R or F. `game`: id of the round, coup, sale or tenure; a game that has begun does not begin again.
-- `playing`: id of the session, or NULL.
-- Raises SB103, SB107, SB108.
-- Locks the player's open table for share and last game, so callers have locked the account before.
CREATE OR REPLACE FUNCTION games_begin_game(player bigint, game_table bigint, mode text, game uuid, playing uuid)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    law players_jurisdiction;
    last games_lastgame;
BEGIN
    SELECT j.* INTO law FROM players_player AS p JOIN players_jurisdiction AS j ON j.code = p.jurisdiction_id
    WHERE p.id = player;
    IF NOT law.may_play_in_parallel THEN
        PERFORM FROM games_opentable AS o WHERE o.player_id = player AND o.table_id = game_table AND o.mode = mode FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'player % has opened another table', player USING ERRCODE = 'SB103',
                DETAIL = (SELECT t.slug FROM games_table AS t WHERE t.id = game_table);
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
            WHERE g.began_at <= clock_timestamp() - make_interval(secs => law.seconds_between_games);
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
