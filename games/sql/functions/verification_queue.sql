-- The end of a verification. rounds.sql has the other functions of the queue.
--
--   SB129 rounds that nobody has verified would leave the queue

-- Take verified rounds out of the queue.
-- `proof`: that of players_is_proven_here for "verified" and the ids, separated by commas. The database
-- cannot deal the rounds again; only a process that has the key, which is in no table, says that it did.
-- Raises SB129 for a wrong proof.
CREATE OR REPLACE FUNCTION games_end_verifications(rounds uuid[], proof bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF players_is_proven_here('verified', array_to_string(rounds, ','), proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'nothing proves that % rounds were verified', cardinality(rounds) USING ERRCODE = 'SB129';
    END IF;
    DELETE FROM games_verificationdue AS d WHERE d.round_id = ANY (rounds);
END $$;
REVOKE ALL ON FUNCTION games_end_verifications FROM PUBLIC;
