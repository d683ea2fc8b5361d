-- Nothing comes into an hour that has been summed up, and nothing is put between what was seen of accounts before.

CREATE TRIGGER wallet_moved_is_open AFTER INSERT ON wallet_moved REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('wallet.moved');

CREATE FUNCTION wallet_standing_is_last() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.at > clock_timestamp() OR EXISTS (SELECT FROM wallet_standing WHERE at > NEW.at) THEN
        RAISE EXCEPTION 'nobody looks at accounts as they stand at %', NEW.at USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER wallet_standing_is_last BEFORE INSERT ON wallet_standing
    FOR EACH ROW EXECUTE FUNCTION wallet_standing_is_last();
