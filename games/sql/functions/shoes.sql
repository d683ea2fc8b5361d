-- Shoes of shared tables. A shoe keeps its commitment, and its cards are drawn once and in order.

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

-- Refuse to end a shoe, or publish its seed, while a round of it waits to be dealt. Trigger
-- function, BEFORE UPDATE on games_shoe.
-- Raises restrict_violation (23001).
-- Otherwise players could bet on cards that they know.
CREATE OR REPLACE FUNCTION games_keep_seed_from_bettors() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_liveround AS round WHERE round.shoe_id = NEW.id AND round.phase IN ('betting', 'closed');
    IF FOUND THEN
        RAISE EXCEPTION 'a round waits to be dealt from shoe %', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a new round on a shoe that has ended. Trigger function, BEFORE INSERT on games_liveround.
-- Raises restrict_violation (23001).
-- Locks the shoe FOR SHARE, so that a round that begins and a shoe that ends wait for each other.
CREATE OR REPLACE FUNCTION games_refuse_ended_shoe() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_shoe AS shoe WHERE shoe.id = NEW.shoe_id AND shoe.ended_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'shoe % has ended', NEW.shoe_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
