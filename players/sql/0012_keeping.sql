-- How long what is kept stands in audit_retention, and nowhere else.

-- Deletes the personal values of all events on or by `who` ("player:12"), records that with the names of their fields, and returns how many there
-- were. The events stay as they are: they hold the values' salted hashes only. Nobody but the owner's own functions may call it.
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
        DELETE FROM audit_personal USING audit_event AS event
        WHERE event.id = audit_personal.event_id AND (event."on" = who OR event.by = who)
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

DROP FUNCTION players_forget;

-- Forgets whose account this was: e-mail address, password, birthday (the year stays), and the personal values of all events. What was played and
-- paid stays. Only of an account that was closed for as long as it is kept; once. Returns how many personal values of events were erased.
CREATE FUNCTION players_forget(player bigint) RETURNS bigint
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

-- What players and the house wrote to each other is never changed, and kept for as long as it is to be after the last message.
CREATE OR REPLACE FUNCTION players_keep_conversation() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    conversation bigint := (to_jsonb(OLD) ->> CASE TG_TABLE_NAME WHEN 'players_conversation' THEN 'id' ELSE 'conversation_id' END)::bigint;
    kept_since timestamptz := clock_timestamp() - audit_kept('conversation');
BEGIN
    IF EXISTS (SELECT FROM players_conversation AS c WHERE c.id = conversation AND c.moved_at > kept_since)
       OR EXISTS (SELECT FROM players_servicemessage AS m WHERE m.conversation_id = conversation AND m.at > kept_since) THEN
        RAISE EXCEPTION 'conversation % is kept for longer', conversation USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;

REVOKE ALL ON FUNCTION players_forget FROM PUBLIC;
