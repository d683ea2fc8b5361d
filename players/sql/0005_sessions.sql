-- The end of an account is inserted and never changed; and what the law lets a house forget can be forgotten, by these functions alone.

CREATE TRIGGER players_closure_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_closure
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- Deletes the personal values of all events on or by `who` ("player:12"), records that, and returns how many there were. The events stay as they are:
-- they hold the values' salted hashes only. Nobody but the owner's own functions may call it.
CREATE FUNCTION audit_erase(who text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    erased bigint;
BEGIN
    IF who !~ '^(player|staff):[0-9]+$' THEN
        RAISE EXCEPTION '% is nobody', who USING ERRCODE = 'check_violation';
    END IF;
    DELETE FROM audit_personal USING audit_event AS event
    WHERE event.id = audit_personal.event_id AND (event."on" = who OR event.by = who);
    GET DIAGNOSTICS erased = ROW_COUNT;
    PERFORM audit_record('personal.erased', 'system', who,
        format('{"by":"system","data":{"values":%s},"kind":"personal.erased","on":"%s"}', erased, who), NULL);
    RETURN erased;
END $$;

-- Forgets whose account this was: e-mail address, password, birthday (the year stays), and the personal values of all events. What was played and
-- paid stays. Only of an account that was closed at least `kept` ago; once. Returns how many personal values of events were erased.
CREATE FUNCTION players_forget(player bigint, kept interval) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    who players_player%ROWTYPE;
BEGIN
    SELECT * INTO STRICT who FROM players_player WHERE id = player FOR UPDATE;
    IF NOT EXISTS (SELECT FROM players_closure WHERE player_id = player AND state = 'closed' AND at <= clock_timestamp() - kept) THEN
        RAISE EXCEPTION 'player % is not closed for long enough', player USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO players_closure (player_id, state, by) VALUES (player, 'erased', 'system');
    UPDATE players_user SET email = format('erased-%s@erased.invalid', player), password = '!', last_login = NULL, is_active = false
    WHERE id = who.user_id;
    UPDATE players_player SET birth_date = date_trunc('year', birth_date)::date WHERE id = player;
    RETURN audit_erase('player:' || player);
END $$;

REVOKE ALL ON FUNCTION audit_erase, players_forget FROM PUBLIC;
