-- The cut of a shoe: players add chance to the shuffle of the next one, after the dealer has committed
-- to its seed. Each binds itself to a value first, by its SHA-256; then all are opened, and the
-- shoe is shuffled with the seed and all opened values. So neither the dealer nor a player knows what
-- comes out. shoes.sql lists the SQLSTATEs.

-- Let the players of a table cut its next shoe, and return until when. The dealer has committed to it.
-- `shoe`: its id, new everywhere. `lasts`: the first half is for binding, the second for opening.
-- `chain`, `beacon`: a round of a public beacon that goes into the shuffle, too, which comes after the cut; NULL for
-- none. `waits`: for how long after the cut it is awaited.
-- A cut that ended a minute ago without a shoe, because the house did not run, is forgotten.
-- Raises SB070 if the table takes no new shoe now or one is being cut, SB071 if the id or the commitment was
-- used before.
-- Locks the live table.
CREATE OR REPLACE FUNCTION games_begin_cut(
    live_table bigint, shoe uuid, commitment text, lasts interval, chain text, beacon bigint, waits interval)
RETURNS games_shoecut
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    begun games_shoecut;
    moment timestamptz := clock_timestamp();
BEGIN
    PERFORM FROM games_livetable AS t
    WHERE t.id = live_table AND t.stopped_by_id IS NULL
        AND NOT EXISTS (SELECT FROM games_shoe AS s WHERE s.id = t.shoe_id AND s.ended_at IS NULL)
        AND NOT EXISTS (SELECT FROM games_liveround AS r
                        WHERE r.live_table_id = t.id AND r.phase IN ('betting', 'closed', 'dealt'))
        AND NOT EXISTS (SELECT FROM games_shoecut AS c
                        WHERE c.live_table_id = t.id AND c.open_until >= moment - interval '1 minute')
    FOR NO KEY UPDATE;
    IF NOT FOUND OR lasts NOT BETWEEN interval '1 second' AND interval '1 minute'
       OR waits > interval '30 seconds' OR (chain IS NULL) <> (beacon IS NULL)
    THEN
        RAISE EXCEPTION 'no shoe of table % is cut now', live_table USING ERRCODE = 'SB070';
    END IF;
    IF EXISTS (SELECT FROM games_shoe AS s WHERE s.id = shoe OR s.commitment = games_begin_cut.commitment)
       OR EXISTS (SELECT FROM games_shoechance AS c WHERE c.shoe_id = shoe)
       OR EXISTS (SELECT FROM games_shoebeacon AS b WHERE b.shoe_id = shoe)
    THEN
        RAISE EXCEPTION 'shoe % has an id or a commitment that was used before', shoe USING ERRCODE = 'SB071';
    END IF;
    DELETE FROM games_shoecut AS c WHERE c.live_table_id = live_table;
    INSERT INTO games_shoecut AS c (live_table_id, shoe_id, commitment, begun_at, bound_until, open_until)
    VALUES (live_table, shoe, commitment, moment, moment + lasts / 2, moment + lasts) RETURNING c.* INTO begun;
    INSERT INTO games_shoebeacon (shoe_id, chain, round, wait_until, signature)
    SELECT shoe, chain, beacon, begun.open_until + waits, '' WHERE chain IS NOT NULL;
    RETURN begun;
END $$;
REVOKE ALL ON FUNCTION games_begin_cut FROM PUBLIC;

-- Bind a player to a value for the shoe that is being cut, once, and return whether that was in time.
-- `digest`: SHA-256 of the value in hex. The player has opened the shared table before, or sits at the table of Chemin
-- de Fer now. Up to 200 players are bound.
CREATE OR REPLACE FUNCTION games_bind_chance(live_table bigint, shoe uuid, player bigint, digest text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    INSERT INTO games_shoechance (shoe_id, player_id, digest, value)
    SELECT shoe, player, digest, ''
    FROM games_shoecut AS c
    WHERE c.live_table_id = live_table AND c.shoe_id = shoe AND clock_timestamp() < c.bound_until
        AND digest ~ '^[0-9a-f]{64}$'
        AND (EXISTS (SELECT FROM games_liveseat AS s WHERE s.live_table_id = live_table AND s.player_id = player)
             OR EXISTS (SELECT FROM games_cheminseat AS s
                        WHERE s.live_table_id = live_table AND s.player_id = player AND s.left_at IS NULL))
        AND (SELECT count(*) FROM games_shoechance AS others WHERE others.shoe_id = shoe) < 200
    ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION games_bind_chance FROM PUBLIC;

-- Open the value of a player for the shoe that is being cut, and return whether that was in time.
-- `value`: 32 hex digits, whose SHA-256 the player is bound to. Nobody opens before all are bound.
CREATE OR REPLACE FUNCTION games_open_chance(live_table bigint, shoe uuid, player bigint, value text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    UPDATE games_shoechance AS mine SET value = games_open_chance.value
    FROM games_shoecut AS c
    WHERE c.live_table_id = live_table AND c.shoe_id = shoe AND mine.shoe_id = shoe AND mine.player_id = player
        AND clock_timestamp() >= c.bound_until AND clock_timestamp() < c.open_until
        AND games_open_chance.value ~ '^[0-9a-f]{32}$'
        AND encode(sha256(convert_to(games_open_chance.value, 'UTF8')), 'hex') = mine.digest;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION games_open_chance FROM PUBLIC;

-- Take the signature of the round of a beacon for a shoe that was cut, once, and return whether it was awaited. The
-- caller has verified it: PostgreSQL cannot. A wrong one is a finding of `manage.py verify_house`, and of every verifier.
-- `signature`: 96 hex digits. The round comes after all players have opened their values.
CREATE OR REPLACE FUNCTION games_take_beacon(shoe uuid, signature text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
BEGIN
    UPDATE games_shoebeacon AS b SET signature = games_take_beacon.signature
    FROM games_shoecut AS c
    WHERE b.shoe_id = shoe AND c.shoe_id = shoe AND b.signature = '' AND clock_timestamp() >= c.open_until
        AND games_take_beacon.signature ~ '^[0-9a-f]{96}$';
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION games_take_beacon FROM PUBLIC;

-- Return what goes into the shuffle of a shoe in addition to its seed: the opened values, each as "digest value", in the
-- order of the digests, then "beacon chain round signature" if a round of a beacon has come.
CREATE OR REPLACE FUNCTION games_chances(shoe uuid) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT array_agg(added.line ORDER BY added.is_beacon, added.line COLLATE "C")
    FROM (
        SELECT false AS is_beacon, concat_ws(' ', c.digest, c.value) AS line
        FROM games_shoechance AS c WHERE c.shoe_id = shoe AND c.value <> ''
        UNION ALL
        SELECT true, concat_ws(' ', 'beacon', b.chain, b.round, b.signature)
        FROM games_shoebeacon AS b WHERE b.shoe_id = shoe AND b.signature <> ''
    ) AS added
$$;

-- Return what goes into the shuffle of a shoe in addition to its seed: SHA-256 in hex of the line "sabot cut v1" and
-- the lines of games_chances; empty without any. games.engine.commitments has the same.
CREATE OR REPLACE FUNCTION games_entropy(shoe uuid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(encode(sha256(convert_to(
        concat(E'sabot cut v1\n', array_to_string(games_chances(shoe), E'\n'), E'\n'), 'UTF8')), 'hex'), '')
    WHERE games_chances(shoe) IS NOT NULL
    UNION ALL SELECT '' WHERE games_chances(shoe) IS NULL
$$;
