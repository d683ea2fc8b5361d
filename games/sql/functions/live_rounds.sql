-- Phases of shared rounds, and the bets on them.

-- Allow only forward changes of a shared round. Trigger function, BEFORE UPDATE on games_liveround.
-- The phases are betting, closed, dealt, settled, in this order; void can follow the first three.
-- The cards are set once, when the phase changes from closed to dealt. The times of a settled or
-- void round never change, nor do its table, version, shoe and number.
-- Raises restrict_violation (23001).
CREATE OR REPLACE FUNCTION games_keep_live_round() RETURNS trigger
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
    IF (NEW.cards, NEW.first_card) IS DISTINCT FROM (OLD.cards, OLD.first_card)
       AND (OLD.phase, NEW.phase) <> ('closed', 'dealt')
    THEN
        RAISE EXCEPTION 'no card of round % is drawn now', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    IF OLD.phase IN ('settled', 'void')
       AND (NEW.closed_at, NEW.dealt_at, NEW.ended_at) IS DISTINCT FROM (OLD.closed_at, OLD.dealt_at, OLD.ended_at)
    THEN
        RAISE EXCEPTION 'round % has ended', OLD.id USING ERRCODE = 'restrict_violation';
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

-- Refuse a change of the bets on a round that is closed or dealt. Trigger function, BEFORE INSERT
-- OR UPDATE on games_liveseat.
-- Raises restrict_violation (23001).
-- Locks the rounds FOR SHARE, so that bets do not close during the change. A change that comes
-- after bets closed is refused.
CREATE OR REPLACE FUNCTION games_keep_bets() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    played record;
BEGIN
    FOR played IN
        SELECT round.id, round.phase FROM games_liveround AS round
        WHERE round.id IN (OLD.round_id, NEW.round_id) AND round.phase IN ('betting', 'closed', 'dealt') FOR SHARE
    LOOP
        IF played.phase <> 'betting' THEN
            RAISE EXCEPTION 'bets on round % are closed', played.id USING ERRCODE = 'restrict_violation';
        END IF;
    END LOOP;
    RETURN NEW;
END $$;

-- Refuse to replace a shoe or a round that has not ended. Trigger function, BEFORE UPDATE OF
-- shoe_id, round_id on games_livetable.
-- Raises restrict_violation (23001).
-- Players bet on the shoe's commitment, so its seed must be published, or recorded as lost, before
-- the next shoe.
CREATE OR REPLACE FUNCTION games_keep_live_table() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_shoe AS shoe
    WHERE shoe.id = OLD.shoe_id AND OLD.shoe_id IS DISTINCT FROM NEW.shoe_id AND shoe.ended_at IS NULL;
    IF FOUND THEN
        RAISE EXCEPTION 'shoe % has not ended', OLD.shoe_id USING ERRCODE = 'restrict_violation';
    END IF;
    PERFORM FROM games_liveround AS round
    WHERE round.id = OLD.round_id AND OLD.round_id IS DISTINCT FROM NEW.round_id
        AND round.phase IN ('betting', 'closed', 'dealt');
    IF FOUND THEN
        RAISE EXCEPTION 'round % has not ended', OLD.round_id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
