-- Proofs of the dealer. The database cannot deal cards itself, so it takes them only with the dealer's proof: HMAC-SHA256 over the statement of the deal, under a key that the dealer and
-- the owner's table games_dealer_key have. games/engine/commitments.py writes the same texts.

-- Return the HMAC of a text under the key of the dealer: the database's word to it.
CREATE OR REPLACE FUNCTION games_dealer_hmac(said text) RETURNS bytea
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT players_hmac(k.inner_pad, k.outer_pad, convert_to(said, 'UTF8')) FROM games_dealer_key AS k
$$;
REVOKE ALL ON FUNCTION games_dealer_hmac FROM PUBLIC;

-- Return whether a proof of the dealer is of this text.
CREATE OR REPLACE FUNCTION games_is_of_dealer(said text, proof bytea) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM games_dealer_key AS k
        WHERE players_hmac(k.inner_pad, k.outer_pad, convert_to(said, 'UTF8')) = proof)
$$;
REVOKE ALL ON FUNCTION games_is_of_dealer FROM PUBLIC;

-- Record that a run of the dealer, with this public key, has dealt its first stored round: event
-- `dealer.started`. Later calls change nothing.
CREATE OR REPLACE FUNCTION games_note_dealer(epoch text, key text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    done text;
BEGIN
    INSERT INTO games_dealerepoch (epoch, key)
    VALUES (games_note_dealer.epoch, games_note_dealer.key) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        done := audit_append('dealer.started', 'system', 'dealer:' || epoch, concat(
            '{"by":"system","data":{"epoch":"', epoch, '","key":"', key, '"},"kind":"dealer.started","on":"dealer:',
            epoch, '"}'));
    END IF;
END $$;
REVOKE ALL ON FUNCTION games_note_dealer FROM PUBLIC;
