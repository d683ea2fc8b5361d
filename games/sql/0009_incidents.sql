-- Nobody bets on a shoe whose cards can be known, whoever writes: a seed is published only where no round of its shoe
-- waits to be dealt, and no round begins on a shoe that has ended.

CREATE FUNCTION games_keep_seed_from_bettors() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_liveround AS round WHERE round.shoe_id = NEW.id AND round.phase IN ('betting', 'closed');
    IF FOUND THEN
        RAISE EXCEPTION 'a round waits to be dealt from shoe %', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER games_shoe_is_secret BEFORE UPDATE ON games_shoe
    FOR EACH ROW WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL OR OLD.seed IS NULL AND NEW.seed IS NOT NULL)
    EXECUTE FUNCTION games_keep_seed_from_bettors();

-- The shoe's row is shared until the round is there, so that of the two that come together one waits and sees the other.
CREATE FUNCTION games_refuse_ended_shoe() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_shoe AS shoe WHERE shoe.id = NEW.shoe_id AND shoe.ended_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'shoe % has ended', NEW.shoe_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER games_liveround_begins BEFORE INSERT ON games_liveround
    FOR EACH ROW EXECUTE FUNCTION games_refuse_ended_shoe();
