-- Erasure of personal data after an account was closed.

-- Who is forgotten is forgotten in archived months, too: whose the events were, `audit_archived_event` says as long as personal values of them
-- are here. Otherwise as in 0012.
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
            SELECT event.id FROM audit_event AS event WHERE event."on" = who OR event.by = who
            UNION ALL
            SELECT archived.event_id FROM audit_archived_event AS archived WHERE archived."on" = who OR archived.by = who)
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

-- Forgets whose account this was: e-mail address, password, birthday (the year stays), and the personal values of all events. What was played and
-- paid stays. Only of an account that was closed for as long as it is kept; once. Returns how many personal values of events were erased.
CREATE OR REPLACE FUNCTION players_forget(player bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    who players_player%ROWTYPE;
BEGIN
    SELECT * INTO STRICT who FROM players_player WHERE id = player FOR UPDATE;
    IF NOT EXISTS (SELECT FROM players_closure
                   WHERE player_id = player AND state = 'closed' AND at <= clock_timestamp() - audit_kept('account')) THEN
        RAISE EXCEPTION 'player % is not closed for long enough', player USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO players_closure (player_id, state, by) VALUES (player, 'erased', 'system');
    UPDATE players_user SET email = format('erased-%s@erased.invalid', player), password = '!', last_login = NULL, is_active = false
    WHERE id = who.user_id;
    UPDATE players_player SET birth_date = date_trunc('year', birth_date)::date WHERE id = player;
    RETURN audit_erase('player:' || player);
END $$;
REVOKE ALL ON FUNCTION players_forget FROM PUBLIC;
