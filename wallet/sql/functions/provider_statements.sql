-- Statements of payment providers, and the work on differences.

-- Set the time of a new provider statement to the start of the transaction. Trigger function,
-- BEFORE INSERT on wallet_provider_statement. wallet_demand_new_statement compares rows with this
-- time.
CREATE OR REPLACE FUNCTION wallet_begin_statement() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.at := transaction_timestamp();
    RETURN NEW;
END $$;

-- Refuse lines and differences of a statement that an earlier transaction stored. Trigger function,
-- AFTER INSERT on wallet_statement_line and wallet_difference, per statement.
-- Raises restrict_violation (23001). So nothing is added to a statement after it was confirmed.
CREATE OR REPLACE FUNCTION wallet_demand_new_statement() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM new_rows AS n JOIN wallet_provider_statement AS s ON s.id = n.statement_id WHERE s.at <> transaction_timestamp())
    THEN
        RAISE EXCEPTION 'rows of % belong to a statement that is being confirmed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;

-- Refuse a step on a difference that is settled. Trigger function, BEFORE INSERT on
-- wallet_difference_step. Sets `at` to the database's time.
-- Raises unique_violation (23505, wallet_difference_settled_once).
-- Locks an advisory lock of the difference, so that concurrent steps see each other.
CREATE OR REPLACE FUNCTION wallet_begin_difference_step() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('difference:' || NEW.difference_id, 0));
    IF EXISTS (SELECT FROM wallet_difference_step AS s WHERE s.difference_id = NEW.difference_id AND s.settles) THEN
        RAISE EXCEPTION 'difference % is settled', NEW.difference_id
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'wallet_difference_settled_once';
    END IF;
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

-- Set the time of a new deposit note to the database's time. Trigger function, BEFORE INSERT on
-- wallet_deposit_note.
-- A note that settles a doubt holds until a newer notice arrives. A note dated in the future would
-- hold for ever.
CREATE OR REPLACE FUNCTION wallet_begin_deposit_note() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
