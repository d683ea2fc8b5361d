-- Erasure of personal data after an account was closed.

-- Delete the personal values of all events on or by a person, and record the event personal.erased.
-- Only functions of the owner may call it.
-- `who`: 'player:<id>' or 'staff:<id>'.
-- Returns the number of values.
-- Raises check_violation (23514) for another form of `who`.
-- The events stay: they hold only salted hashes of the values.
CREATE OR REPLACE FUNCTION audit_erase(who text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    erased bigint;
    named text;
BEGIN
    IF who !~ '^(player|staff):[0-9]+$' THEN
        RAISE EXCEPTION '% is nobody', who USING ERRCODE = 'check_violation';
    END IF;
    WITH gone AS (
        DELETE FROM audit_personal WHERE event_id IN (
            SELECT event.id FROM audit_event AS event WHERE event."on" = who OR event.by = who)
        RETURNING field
    ), fields AS (
        SELECT field, count(*) AS number FROM gone GROUP BY field
    )
    SELECT coalesce(sum(number), 0), coalesce(string_agg(to_json(field)::text, ',' ORDER BY field COLLATE "C"), '')
    INTO erased, named FROM fields;
    PERFORM audit_write('personal.erased', 'system', who, format(
        '{"by":"system","data":{"fields":[%s],"values":%s},"kind":"personal.erased","on":"%s"}', named, erased, who), NULL);
    RETURN erased;
END $$;
REVOKE ALL ON FUNCTION audit_erase FROM PUBLIC;

-- Erase the personal data of a closed account: e-mail address, password, birthday (the year stays),
-- the hashes by which the person was found again, tags, and the personal values of all events. Rounds and payments stay.
-- Returns the number of erased values of events.
-- Raises no_data_found (P0002) for an unknown player, check_violation (23514) unless the account
-- has been closed as long as retention demands and its player cannot log in, unique_violation (23505, players_closure_once) if
-- it was erased before.
-- Locks the player.
CREATE OR REPLACE FUNCTION players_forget(player bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    who players_player%ROWTYPE;
BEGIN
    SELECT * INTO STRICT who FROM players_player WHERE id = player FOR UPDATE;
    IF NOT EXISTS (SELECT FROM players_closure
                   WHERE player_id = player AND state = 'closed' AND at <= clock_timestamp() - audit_retention_period('account'))
       OR EXISTS (SELECT FROM players_user WHERE id = who.user_id AND is_active)
    THEN
        RAISE EXCEPTION 'player % is not closed for long enough', player USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO players_closure (player_id, state, by, at) VALUES (player, 'erased', 'system', clock_timestamp());
    UPDATE players_user SET email = format('erased-%s@erased.invalid', player), password = '!', last_login = NULL, is_active = false
    WHERE id = who.user_id;
    DELETE FROM players_trait WHERE player_id = player;
    DELETE FROM players_player_tag WHERE player_id = player;
    UPDATE players_player SET birth_date = date_trunc('year', birth_date)::date WHERE id = player;
    RETURN audit_erase('player:' || player);
END $$;
REVOKE ALL ON FUNCTION players_forget FROM PUBLIC;
