-- GLI-19 v3.0, A.4.7. What was reported waits for its decision, but not longer than its author is known.
CREATE OR REPLACE FUNCTION games_chat_is_due(message bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM games_chatmessage AS said
        WHERE said.id = message AND said.at < clock_timestamp() - audit_kept('chat')
            AND (NOT EXISTS (SELECT FROM games_chatreport AS report WHERE report.message_id = said.id AND report.decision = '')
                 OR EXISTS (SELECT FROM players_closure AS gone WHERE gone.player_id = said.player_id AND gone.state = 'erased')))
$$;

CREATE OR REPLACE FUNCTION games_keep_chat() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT games_chat_is_due(CASE TG_TABLE_NAME WHEN 'games_chatmessage' THEN (to_jsonb(OLD) ->> 'id')::bigint
                             ELSE (to_jsonb(OLD) ->> 'message_id')::bigint END)
    THEN
        RAISE EXCEPTION 'what was said in the chat is kept for longer' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;
