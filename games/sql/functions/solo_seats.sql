-- Seats at solo tables. A seat is committed to its next round before anything is staked on it.

-- Create a player's seat at a solo table and commit it to its first round. An existing seat keeps
-- its commitment.
-- `mode`: R or F. `round`: id of the round. `commitment`: hex SHA-256 of its seed. `sealed_seed`:
-- the seed, encrypted.
-- Raises SB062 for a table of another shape.
CREATE OR REPLACE FUNCTION games_take_solo_seat(
    player bigint, game_table bigint, mode text, round uuid, commitment text, sealed_seed bytea
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_table AS t WHERE t.id = game_table AND t.shape = 'solo';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'table % has no solo seats', game_table USING ERRCODE = 'SB062';
    END IF;
    INSERT INTO games_soloseat (
        player_id, table_id, mode, round_id, commitment, sealed_seed, slip, slip_version, undo, last_stakes
    ) VALUES (
        player, game_table, games_take_solo_seat.mode, round, games_take_solo_seat.commitment,
        games_take_solo_seat.sealed_seed, '{}', 0, '[]', '{}'
    ) ON CONFLICT DO NOTHING;
END $$;
REVOKE ALL ON FUNCTION games_take_solo_seat FROM PUBLIC;
