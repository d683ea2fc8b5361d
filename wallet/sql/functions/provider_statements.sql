-- Statements of payment providers, and the work on differences.

-- What a provider said stays as it said it: nothing is added to a statement after it was confirmed, no moment is any but the database's, and nothing
-- follows the last word on a difference, whoever writes.
CREATE OR REPLACE FUNCTION wallet_begin_statement() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.at := transaction_timestamp();
    RETURN NEW;
END $$;

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

-- A note that settles a doubt ends it until something is said after it: one from the future would end it for good.
CREATE OR REPLACE FUNCTION wallet_begin_deposit_note() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;
