-- Indexes on functions of sql/functions/. Migrations run before those functions exist and cannot
-- create them.

-- Finds the players that an event of kind `data.accessed` names, for the access log of one player.
CREATE INDEX IF NOT EXISTS audit_event_players ON audit_event USING gin (audit_players(body)) WHERE kind = 'data.accessed';
