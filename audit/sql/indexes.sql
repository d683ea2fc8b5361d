-- Indexes on functions of sql/functions/. Migrations run before those functions exist and cannot
-- create them.

-- Finds the players that an event of kind `data.accessed` names, for the access log of one player.
CREATE INDEX IF NOT EXISTS audit_event_players ON audit_event USING gin (audit_players(body)) WHERE kind = 'data.accessed';

-- Finds events by words of their data, such as reasons. Only staff write words, so that an event of play or of a view
-- of data costs this index nothing.
CREATE INDEX IF NOT EXISTS audit_event_words ON audit_event USING gin (audit_words(body))
    WHERE by LIKE 'staff:%' AND kind <> 'data.accessed';
