-- Shoes of shared tables. A shoe keeps its commitment, and its cards are drawn once and in order.
--
-- The role of web and workers cannot write to games_shoe; it calls the functions below and those of
-- live_rounds.sql. games/shared/moves.py has a Python error for each SQLSTATE.
--   SB070 the table takes no new shoe or round now
--   SB071 the id or the commitment was used before
--   SB072 this does not fit the shoe
--   SB073 the shoe has ended, or the round is in another phase
--   SB074 the deadline has not passed
--   SB075 the bets of the round are not settled in this way
--   SB076 the table is not stopped in this way

-- Put a new shoe on a live table, and return it.
-- `shoe`: its id, new everywhere: neither a round nor a solo seat has or had it. A sealed seed can
-- be opened only under the id that it was sealed for, so no seed that was used before can be dealt.
-- `burned`: cards that have left the shoe before the first round, of which `burn_card` is shown.
-- Raises SB070 if there is no such table, or its shoe or its round has not ended, SB071 if the id or
-- the commitment was used before, SB072 if burned cards or the cut lie outside the decks.
-- Locks the live table.
CREATE OR REPLACE FUNCTION games_open_shoe(
    live_table bigint, shoe uuid, commitment text, sealed_seed bytea, decks integer, burn_card text, burned integer, cut integer)
RETURNS games_shoe
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    at_table games_livetable;
    opened games_shoe;
BEGIN
    SELECT t.* INTO at_table FROM games_livetable AS t WHERE t.id = live_table FOR NO KEY UPDATE;
    IF NOT FOUND OR EXISTS (SELECT FROM games_shoe AS s WHERE s.id = at_table.shoe_id AND s.ended_at IS NULL)
       OR EXISTS (SELECT FROM games_liveround AS r
                  WHERE r.live_table_id = games_open_shoe.live_table AND r.phase IN ('betting', 'closed', 'dealt'))
    THEN
        RAISE EXCEPTION 'table % takes no new shoe now', live_table USING ERRCODE = 'SB070';
    END IF;
    IF EXISTS (SELECT FROM games_soloseat AS s WHERE s.round_id = shoe) OR EXISTS (SELECT FROM games_round AS r WHERE r.id = shoe)
       OR EXISTS (SELECT FROM games_liveround AS r WHERE r.id = shoe)
       OR EXISTS (SELECT FROM games_shoe AS s WHERE s.id = shoe OR s.commitment = games_open_shoe.commitment)
    THEN
        RAISE EXCEPTION 'shoe % has an id or a commitment that was used before', shoe USING ERRCODE = 'SB071';
    END IF;
    IF commitment !~ '^[0-9a-f]{64}$' OR NOT decks BETWEEN 1 AND 8 OR burned >= cut OR cut >= 52 * decks
       OR (burn_card = '') <> (burned = 0) OR NOT burned BETWEEN 0 AND 11
    THEN
        RAISE EXCEPTION 'shoe % does not begin like this', shoe USING ERRCODE = 'SB072';
    END IF;
    INSERT INTO games_shoe AS s (
        id, live_table_id, number, decks, commitment, sealed_seed, burn_card, burned, cut, gone, opened_at, ending)
    SELECT shoe, live_table, coalesce(max(before.number), 0) + 1, games_open_shoe.decks, games_open_shoe.commitment,
        games_open_shoe.sealed_seed, games_open_shoe.burn_card, games_open_shoe.burned, games_open_shoe.cut,
        games_open_shoe.burned, clock_timestamp(), ''
    FROM games_shoe AS before WHERE before.live_table_id = games_open_shoe.live_table
    RETURNING s.* INTO opened;
    UPDATE games_livetable AS t SET shoe_id = shoe WHERE t.id = live_table;
    RETURN opened;
END $$;
REVOKE ALL ON FUNCTION games_open_shoe FROM PUBLIC;

-- Count the cards that have left the shoe of a coup of Chemin de Fer, where players decide whether
-- to draw. `gone`: all cards that have left it.
-- Raises SB073 if the shoe has ended or no coup of it is dealt, SB072 if a card would return or the
-- cards run out.
-- Locks the shoe.
CREATE OR REPLACE FUNCTION games_draw_cards(shoe uuid, gone integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    drawn games_shoe;
BEGIN
    SELECT s.* INTO drawn FROM games_shoe AS s WHERE s.id = shoe AND s.ended_at IS NULL FOR UPDATE;
    IF NOT FOUND OR NOT EXISTS (
        SELECT FROM games_liveround AS r JOIN games_livetable AS t ON t.id = r.live_table_id
        JOIN games_table AS g ON g.id = t.table_id AND g.shape = 'guests'
        WHERE r.shoe_id = shoe AND r.phase = 'dealt')
    THEN
        RAISE EXCEPTION 'no coup of shoe % is dealt now', shoe USING ERRCODE = 'SB073';
    END IF;
    IF gone < drawn.gone OR gone > 52 * drawn.decks THEN
        RAISE EXCEPTION 'shoe % does not give these cards', shoe USING ERRCODE = 'SB072';
    END IF;
    UPDATE games_shoe AS s SET gone = games_draw_cards.gone WHERE s.id = shoe;
END $$;
REVOKE ALL ON FUNCTION games_draw_cards FROM PUBLIC;

-- End a shoe and publish its seed, and return the time.
-- `seed`: NULL only for a retired shoe, whose seed cannot be unsealed.
-- Raises SB073 if the shoe has ended already or a round of it has not, so that nobody bets on known
-- cards. Raises SB072 if the commitment is not the SHA-256 of the seed.
-- Locks the shoe.
CREATE OR REPLACE FUNCTION games_end_shoe(shoe uuid, seed bytea, ending text) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    ended games_shoe;
BEGIN
    SELECT s.* INTO ended FROM games_shoe AS s WHERE s.id = shoe AND s.ended_at IS NULL FOR UPDATE;
    IF NOT FOUND OR EXISTS (
        SELECT FROM games_liveround AS r WHERE r.shoe_id = shoe AND r.phase IN ('betting', 'closed', 'dealt'))
    THEN
        RAISE EXCEPTION 'shoe % has ended, or its round has not', shoe USING ERRCODE = 'SB073';
    END IF;
    IF (encode(sha256(seed), 'hex') = ended.commitment AND ending IN ('cut_card', 'retired')
        OR seed IS NULL AND ending = 'retired') IS NOT TRUE
    THEN
        RAISE EXCEPTION 'this is not the seed of shoe %', shoe USING ERRCODE = 'SB072';
    END IF;
    UPDATE games_shoe AS s SET seed = games_end_shoe.seed, ending = games_end_shoe.ending, ended_at = clock_timestamp()
    WHERE s.id = shoe RETURNING s.* INTO ended;
    RETURN ended.ended_at;
END $$;
REVOKE ALL ON FUNCTION games_end_shoe FROM PUBLIC;

-- Allow only forward changes of a shoe. Trigger function, BEFORE UPDATE on games_shoe.
-- The commitment and the cut never change, drawn cards never return, and nothing changes after the
-- shoe ended. A published seed must have the SHA-256 of the commitment.
-- Raises restrict_violation (23001).
--
-- The sealed seed may be encrypted again with another key (`manage.py reseal`), if nothing else
-- changes and the length is the same. The database cannot see whether it is the same seed:
-- decryption checks that against the shoe's id and the commitment. The role of web and workers has
-- no right to update the column.
CREATE OR REPLACE FUNCTION games_keep_shoe() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.live_table_id, NEW.number, NEW.decks, NEW.commitment, NEW.burn_card, NEW.burned, NEW.cut, NEW.opened_at)
       IS DISTINCT FROM
       (OLD.id, OLD.live_table_id, OLD.number, OLD.decks, OLD.commitment, OLD.burn_card, OLD.burned, OLD.cut, OLD.opened_at)
       OR NEW.sealed_seed IS DISTINCT FROM OLD.sealed_seed
       AND (octet_length(NEW.sealed_seed), NEW.gone, NEW.seed, NEW.ended_at, NEW.ending)
           IS DISTINCT FROM (octet_length(OLD.sealed_seed), OLD.gone, OLD.seed, OLD.ended_at, OLD.ending)
    THEN
        RAISE EXCEPTION 'shoe % is committed to', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.gone < OLD.gone OR OLD.ended_at IS NOT NULL THEN
        RAISE EXCEPTION 'shoe % does not go back', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.seed IS NOT NULL AND encode(sha256(NEW.seed), 'hex') <> NEW.commitment THEN
        RAISE EXCEPTION 'this is not the seed of shoe %', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
