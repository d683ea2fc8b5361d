-- Webhooks: the operator's own systems that are notified of events.

-- Refuse a change of name, address or kinds of events that the newest event webhook.changed about the webhook does not
-- state, or that was made by nobody who may manage webhooks. Trigger function, BEFORE UPDATE OF name, address, kinds on
-- wallet_webhook.
-- Raises restrict_violation (23001).
-- So nobody can send the events elsewhere without a trace in the log.
CREATE OR REPLACE FUNCTION wallet_change_webhook() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.name, NEW.address, NEW.kinds) IS NOT DISTINCT FROM (OLD.name, OLD.address, OLD.kinds) THEN
        RETURN NEW;
    END IF;
    IF NOT EXISTS (
        SELECT FROM (
            SELECT e.by, convert_from(e.body, 'UTF8')::jsonb -> 'data' AS data FROM audit_event AS e
            WHERE e."on" = 'webhook:' || NEW.id AND e.kind = 'webhook.changed' ORDER BY e.id DESC LIMIT 1
        ) AS said JOIN players_staff AS s ON 'staff:' || s.id = said.by
        WHERE players_staff_may(said.by, s.person, 'wallet', 'manage_webhooks')
          AND said.data -> 'before' = jsonb_build_object('name', OLD.name, 'address', OLD.address, 'kinds', OLD.kinds)
          AND said.data -> 'after' = jsonb_build_object('name', NEW.name, 'address', NEW.address, 'kinds', NEW.kinds))
    THEN
        RAISE EXCEPTION 'the log does not say that webhook % changed so', NEW.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
