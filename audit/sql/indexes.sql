-- Indexes over functions of sql/functions/: a migration runs before these, and could not create them.

-- Which players an event of kind `data.seen` names, for the access log of one player.
CREATE INDEX IF NOT EXISTS audit_event_players ON audit_event USING gin (audit_players(body)) WHERE kind = 'data.seen';
