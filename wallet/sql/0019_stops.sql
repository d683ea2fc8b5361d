-- The whole house stopped. What would begin reads whether it is, in the transaction that moves the money, and waits where
-- a stop is on its way; a stop waits for what has read that there is none. So what began before it stands, and after it
-- nothing begins.
--   SB040 the house is stopped

-- Whether the house is stopped, which stays so until the transaction ends. Volatile, so that what was committed while it
-- waited is seen; under another isolation it would not be.
CREATE FUNCTION wallet_is_stopped() RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'nothing begins in a transaction that sees only what was before it'
            USING ERRCODE = 'active_sql_transaction';
    END IF;
    PERFORM pg_advisory_xact_lock_shared(1022, 0);
    RETURN EXISTS (SELECT FROM wallet_housestop AS s WHERE s.ended_at IS NULL);
END $$;


-- A stop begins, and ends once, by staff who may; nothing else about it ever changes ---------------------------------

CREATE FUNCTION wallet_may_stop(staff bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT players_staff_may('staff:' || s.id, s.person, 'wallet', 'stop_house') FROM players_staff AS s
    WHERE s.id = staff
$$;

CREATE FUNCTION wallet_begin_stop() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF wallet_may_stop(NEW.by_id) IS NOT TRUE OR NEW.ended_at IS NOT NULL THEN
        RAISE EXCEPTION 'staff % may not stop the house like this', NEW.by_id USING ERRCODE = 'restrict_violation';
    END IF;
    PERFORM pg_advisory_xact_lock(1022, 0);
    NEW.at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE FUNCTION wallet_end_stop() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF OLD.ended_at IS NOT NULL OR NEW.ended_at IS NULL OR wallet_may_stop(NEW.ended_by_id) IS NOT TRUE
        OR (OLD.id, OLD.at, OLD.by_id, OLD.reason) IS DISTINCT FROM (NEW.id, NEW.at, NEW.by_id, NEW.reason) THEN
        RAISE EXCEPTION 'stop % does not change like this', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    NEW.ended_at := clock_timestamp();
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_housestop_begins BEFORE INSERT ON wallet_housestop
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_stop();
CREATE TRIGGER wallet_housestop_ends BEFORE UPDATE ON wallet_housestop
    FOR EACH ROW EXECUTE FUNCTION wallet_end_stop();
CREATE TRIGGER wallet_housestop_is_kept BEFORE DELETE OR TRUNCATE ON wallet_housestop
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();


-- What begins ---------------------------------------------------------------------------------------------------------

CREATE FUNCTION wallet_refuse_stopped() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF wallet_is_stopped() THEN
        RAISE EXCEPTION 'the house is stopped' USING ERRCODE = 'SB040';
    END IF;
    RETURN NULL;
END $$;

-- Stakes, banks and free money. What is held becomes stakes by a journal of another kind: it was accepted when it was
-- held. Reversals are of kinds of their own as well.
CREATE TRIGGER wallet_journal_may_begin AFTER INSERT ON wallet_journal
    FOR EACH ROW WHEN (NEW.kind IN ('stake', 'bank', 'top_up')) EXECUTE FUNCTION wallet_refuse_stopped();

-- What is held for a round, and grows.
CREATE TRIGGER wallet_hold_may_begin AFTER INSERT ON wallet_hold
    FOR EACH ROW EXECUTE FUNCTION wallet_refuse_stopped();
CREATE TRIGGER wallet_hold_may_grow AFTER UPDATE ON wallet_hold
    FOR EACH ROW WHEN (NEW.amount > OLD.amount) EXECUTE FUNCTION wallet_refuse_stopped();

-- Deposits. One that is with its provider is credited when the provider says so.
CREATE TRIGGER wallet_payment_may_begin AFTER INSERT ON wallet_payment
    FOR EACH ROW EXECUTE FUNCTION wallet_refuse_stopped();
