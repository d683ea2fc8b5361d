-- Shoes of shared tables: a shoe keeps its commitment, and its cards are drawn once and in order.

-- The seed of an open shoe may be sealed under another key (`manage.py reseal`). Whether it is the same seed the database
-- cannot see: that is held when it is opened, to the shoe's id and to what was committed to. The role of web and workers
-- has no right to the column.
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

-- Nobody bets on a shoe whose cards can be known, whoever writes: a seed is published only where no round of its shoe
-- waits to be dealt, and no round begins on a shoe that has ended.
CREATE OR REPLACE FUNCTION games_keep_seed_from_bettors() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_liveround AS round WHERE round.shoe_id = NEW.id AND round.phase IN ('betting', 'closed');
    IF FOUND THEN
        RAISE EXCEPTION 'a round waits to be dealt from shoe %', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

-- The shoe's row is shared until the round is there, so that of the two that come together one waits and sees the other.
CREATE OR REPLACE FUNCTION games_refuse_ended_shoe() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_shoe AS shoe WHERE shoe.id = NEW.shoe_id AND shoe.ended_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'shoe % has ended', NEW.shoe_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
