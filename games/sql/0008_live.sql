-- Shared tables move on and never back, whoever writes: a shoe stays what was committed to, a card stays what was drawn,
-- and a round that has ended stays ended.

CREATE FUNCTION games_keep_shoe() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.live_table_id, NEW.number, NEW.decks, NEW.commitment, NEW.sealed_seed, NEW.burn_card, NEW.burned,
        NEW.cut, NEW.opened_at)
       IS DISTINCT FROM
       (OLD.id, OLD.live_table_id, OLD.number, OLD.decks, OLD.commitment, OLD.sealed_seed, OLD.burn_card, OLD.burned,
        OLD.cut, OLD.opened_at)
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

CREATE TRIGGER games_shoe_is_kept BEFORE UPDATE ON games_shoe FOR EACH ROW EXECUTE FUNCTION games_keep_shoe();

CREATE FUNCTION games_keep_live_round() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.live_table_id, NEW.version_id, NEW.shoe_id, NEW.number, NEW.is_last, NEW.code, NEW.opened_at)
       IS DISTINCT FROM
       (OLD.id, OLD.live_table_id, OLD.version_id, OLD.shoe_id, OLD.number, OLD.is_last, OLD.code, OLD.opened_at)
    THEN
        RAISE EXCEPTION 'round % has begun', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.cards <> '' AND (NEW.cards, NEW.first_card) IS DISTINCT FROM (OLD.cards, OLD.first_card) THEN
        RAISE EXCEPTION 'the cards of round % are drawn', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.phase <> OLD.phase
       AND (OLD.phase, NEW.phase) NOT IN (('betting', 'closed'), ('closed', 'dealt'), ('dealt', 'settled'),
                                          ('betting', 'void'), ('closed', 'void'), ('dealt', 'void'))
    THEN
        RAISE EXCEPTION 'round % does not go from % to %', OLD.id, OLD.phase, NEW.phase
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER games_liveround_is_kept BEFORE UPDATE ON games_liveround
    FOR EACH ROW EXECUTE FUNCTION games_keep_live_round();
