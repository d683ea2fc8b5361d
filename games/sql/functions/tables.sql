-- Tables: they are added closed, and open, pause and close on record. The version in force is the one that
-- games_add_table_version has added last.
--
--   SB142 the table does not change to this status

-- Add a closed table without a version, and return it.
-- `shape`: as the model has it.
CREATE OR REPLACE FUNCTION games_add_table(slug text, name text, variant text, shape text) RETURNS games_table
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    added games_table;
BEGIN
    INSERT INTO games_table AS t (slug, name, variant, shape, status, chat_language)
    VALUES (games_add_table.slug, games_add_table.name, games_add_table.variant, games_add_table.shape, 'closed', '')
    RETURNING t.* INTO added;
    RETURN added;
END $$;
REVOKE ALL ON FUNCTION games_add_table FROM PUBLIC;

-- Change the status of a table and record it.
-- `by`, `rest`: of the event, as audit_write takes them. Its kind is table.opened, table.went_on (after a
-- pause), table.paused or table.closed.
-- Raises SB142 if the status is the same or a closed table would pause, check_violation (23514) if `rest` is
-- of another event.
-- Locks the table.
CREATE OR REPLACE FUNCTION games_set_table_status(game_table bigint, status text, by text, rest text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    before text;
    kind text;
BEGIN
    SELECT t.status INTO before FROM games_table AS t WHERE t.id = game_table FOR NO KEY UPDATE;
    kind := CASE before || ' ' || games_set_table_status.status
        WHEN 'closed open' THEN 'table.opened' WHEN 'paused open' THEN 'table.went_on' WHEN 'open paused' THEN 'table.paused'
        WHEN 'open closed' THEN 'table.closed' WHEN 'paused closed' THEN 'table.closed' END;
    IF kind IS NULL THEN
        RAISE EXCEPTION 'table % is %', game_table, before USING ERRCODE = 'SB142';
    END IF;
    UPDATE games_table AS t SET status = games_set_table_status.status WHERE t.id = game_table;
    PERFORM audit_write(kind, by, 'table:' || game_table, rest, NULL);
END $$;
REVOKE ALL ON FUNCTION games_set_table_status FROM PUBLIC;

-- Wait until rounds in progress have ended, and let new ones wait until the transaction ends.
-- Rounds share the lock on a table's row, one after another, and could keep a change waiting while play
-- goes on. This lock is granted in the order of requests.
CREATE OR REPLACE FUNCTION games_hold_off_rounds() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    LOCK TABLE games_table IN EXCLUSIVE MODE;
END $$;
REVOKE ALL ON FUNCTION games_hold_off_rounds FROM PUBLIC;
