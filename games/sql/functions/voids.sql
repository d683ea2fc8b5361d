-- Voids. A dealt round is voided only if two people approved it, or because its seed does not
-- reproduce it.
--
--   SB033 the void was not approved, or its reason does not fit the round
--   SB034 a reversal without the void of its round

-- Return whether two people approved the void of a shared round.
-- `round`: id of the round. The approval has kind void_live_round, and both people still hold the
-- permission games.supervise_table.
CREATE OR REPLACE FUNCTION games_two_agreed_to_void(round uuid) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM audit_approval AS asked
        JOIN audit_decision AS decided ON decided.approval_id = asked.id AND decided.verdict = 'approved'
        WHERE asked.kind = 'void_live_round' AND asked."on" = 'round:' || games_two_agreed_to_void.round
          AND asked.request::jsonb @> jsonb_build_object('round', games_two_agreed_to_void.round)
          AND players_staff_may(asked."by", asked.person, 'games', 'supervise_table')
          AND players_staff_may(decided."by", decided.person, 'games', 'supervise_table'))
$$;

-- Check the reason of a void. Trigger function, BEFORE INSERT on games_void. Sets `at` to the
-- database's time: games_reversal_is_of_a_void compares it with the transaction.
-- Raises SB033 unless the reason fits. A shared round is voided as cancelled before its deal, when
-- nobody knows a card, as overdue if its deadline has passed, too, and as decided if two people approved. A solo round is voided
-- only by the system, as not_reproduced: its seed does not deal the same cards again.
-- Locks the shared round FOR SHARE, so that it is not dealt until this commits.
CREATE OR REPLACE FUNCTION games_void_has_its_reason() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    at_phase text;
    deadline timestamptz;
BEGIN
    NEW.at := clock_timestamp();
    SELECT live.phase, coalesce(chemin.deadline, live.deadline) INTO at_phase, deadline
    FROM games_liveround AS live LEFT JOIN games_chemintable AS chemin ON chemin.live_table_id = live.live_table_id
    WHERE live.id = NEW.round_id FOR SHARE OF live;
    IF NEW.reason = 'decided' AND at_phase IS NOT NULL THEN
        IF games_two_agreed_to_void(NEW.round_id) THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'voiding round % takes two people', NEW.round_id USING ERRCODE = 'SB033';
    END IF;
    IF at_phase IN ('betting', 'closed') AND (NEW.reason = 'cancelled' OR NEW.reason = 'overdue' AND deadline < NEW.at)
        OR NEW.reason = 'not_reproduced' AND at_phase IS NULL AND NEW."by" = 'system' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'round % is not voided as %', NEW.round_id, NEW.reason USING ERRCODE = 'SB033';
END $$;

-- Check that a void that two people did not decide is on record: one as not_reproduced or overdue has an
-- incident, one as cancelled has an event of this transaction. Constraint trigger function, AFTER INSERT on
-- games_void, at commit, because the incident is opened after the money was returned.
-- Raises SB033.
CREATE OR REPLACE FUNCTION games_void_has_its_cause() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM FROM games_incident AS incident
    WHERE NEW.round_id IN (incident.round_id, incident.live_round_id) AND incident.kind = NEW.reason
    UNION ALL
    SELECT FROM audit_event AS event
    WHERE NEW.reason = 'cancelled' AND event.kind = 'round.cancelled' AND event."on" = 'round:' || NEW.round_id
        AND event."by" = NEW."by" AND event.at >= transaction_timestamp();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no incident or event says why round % is void', NEW.round_id USING ERRCODE = 'SB033';
    END IF;
    RETURN NULL;
END $$;

-- Refuse a reversal unless the round of its journal is voided in the same transaction.
-- Constraint trigger function, AFTER INSERT on wallet_journal, at commit, because the void can be
-- inserted after the journal.
-- Raises SB034, and SB009 if the house adds more to an account than the reversals take from it.
-- An earlier void does not allow more reversals. Journals of a banker's tenure are never reversed,
-- because a tenure is not voided. Of journals without a round, only what a studio takes back is reversed
-- (seamless_wallet.sql). Transfers for a void (void_transfer) need one, too.
CREATE OR REPLACE FUNCTION games_reversal_is_of_a_void() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.kind = 'void_shortfall' THEN
        PERFORM wallet_check_shortfall(NEW);
        RETURN NULL;
    END IF;
    PERFORM FROM games_void AS void WHERE void.round_id = NEW.round_id AND void.at >= transaction_timestamp();
    IF FOUND OR NEW.kind = 'studio_rollback' AND wallet_studio_moves_so(NEW.id) THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'journal % moves back what round % moved, which is not voided', NEW.id, NEW.round_id USING ERRCODE = 'SB034';
END $$;
