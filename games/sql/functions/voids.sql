-- Voids: a dealt round is cancelled only if two people agreed or an incident says so.

-- A round of a live table is annulled after its deal only as two people agreed who supervise tables, whoever writes it; before it by whoever may
-- cancel, since nobody knows a card. A round of a solo table is annulled only for what was found when it was dealt again. And what a round moved is
-- moved back together with its annulment alone. Rounds that were annulled before stay as they are.
CREATE OR REPLACE FUNCTION games_two_agreed_to_annul(round uuid) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM audit_approval AS asked
        JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
        WHERE asked.kind = 'void_live_round' AND asked."on" = 'round:' || games_two_agreed_to_annul.round
          AND asked.request::jsonb @> jsonb_build_object('round', games_two_agreed_to_annul.round)
          AND players_staff_may(asked."by", asked.person, 'games', 'supervise_table')
          AND players_staff_may(decided."by", decided.person, 'games', 'supervise_table'))
$$;

-- The moment is the database's: what is moved back is held to the transaction of its annulment by it. The row of a live round is shared, so that it
-- is not dealt meanwhile.
CREATE OR REPLACE FUNCTION games_void_has_its_reason() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    at_phase text;
BEGIN
    NEW.at := clock_timestamp();
    SELECT live.phase INTO at_phase FROM games_liveround AS live WHERE live.id = NEW.round_id FOR SHARE;
    IF NEW.reason = 'decided' AND at_phase IS NOT NULL THEN
        IF games_two_agreed_to_annul(NEW.round_id) THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'annulling round % takes two people', NEW.round_id USING ERRCODE = 'SB033';
    END IF;
    IF NEW.reason IN ('cancelled', 'overdue') AND at_phase IN ('betting', 'closed')
        OR NEW.reason = 'not_reproduced' AND at_phase IS NULL AND NEW."by" = 'system' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'round % is not annulled as %', NEW.round_id, NEW.reason USING ERRCODE = 'SB033';
END $$;

-- What was found stands in an incident, which is opened once the money is back: looked for when the transaction ends.
CREATE OR REPLACE FUNCTION games_void_has_its_incident() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_incident AS incident WHERE incident.round_id = NEW.round_id AND incident.kind = 'not_reproduced';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'nothing was found in round %', NEW.round_id USING ERRCODE = 'SB033';
    END IF;
    RETURN NULL;
END $$;

-- A round that is dealt goes unpaid only as two people agreed: without a bet none is dealt.
CREATE OR REPLACE FUNCTION games_dealt_round_is_void() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT games_two_agreed_to_annul(NEW.id) THEN
        RAISE EXCEPTION 'annulling round % takes two people', NEW.id USING ERRCODE = 'SB033';
    END IF;
    RETURN NEW;
END $$;

-- The annulment is of this transaction: one on record is no leave to move more. A bank is a tenure's, which nobody annuls. The row may come after the
-- money, so this waits for the end of the transaction. What is of no game is the ledger's own affair.
CREATE OR REPLACE FUNCTION games_reversal_is_of_a_void() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_void AS void WHERE void.round_id = NEW.round_id AND void.at >= transaction_timestamp();
    IF FOUND OR NOT EXISTS (
        SELECT FROM games_round WHERE id = NEW.round_id UNION ALL SELECT FROM games_liveround WHERE id = NEW.round_id
        UNION ALL SELECT FROM games_chemintenure WHERE id = NEW.round_id) THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'journal % moves back what round % moved, which is not annulled', NEW.id, NEW.round_id USING ERRCODE = 'SB034';
END $$;
