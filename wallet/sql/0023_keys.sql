-- Secrets may be sealed under another key (`manage.py reseal`), and nothing else of the row becomes another: no length, and
-- no other column. Whether it is the same secret the database cannot see: that is held when it is opened, to the id of the
-- account or the name of the key. The role of web and workers has no right to these columns.
CREATE OR REPLACE FUNCTION wallet_keep_payout_account() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.player_id, NEW.country, NEW.at, NEW.last_four, octet_length(NEW.sealed), octet_length(NEW.fingerprint))
        IS NOT DISTINCT FROM
        (OLD.id, OLD.player_id, OLD.country, OLD.at, OLD.last_four, octet_length(OLD.sealed), octet_length(OLD.fingerprint))
        AND NEW.sealed <> OLD.sealed THEN
        RETURN NEW;
    END IF;
    IF (NEW.id, NEW.player_id, NEW.country, NEW.at, NEW.last_four, NEW.sealed, NEW.fingerprint)
        IS DISTINCT FROM (OLD.id, OLD.player_id, OLD.country, OLD.at, '', ''::bytea, uuid_send(OLD.id))
        OR NOT EXISTS (SELECT FROM players_closure AS c WHERE c.player_id = OLD.player_id AND c.state = 'erased') THEN
        RAISE EXCEPTION 'bank account % stays as it is', OLD.id USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION wallet_keep_partner_key() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (OLD.id, OLD.partner_id, OLD.name, OLD.approval_id, OLD.made_at)
        IS DISTINCT FROM (NEW.id, NEW.partner_id, NEW.name, NEW.approval_id, NEW.made_at)
        OR NEW.sealed <> OLD.sealed
           AND (octet_length(NEW.sealed), NEW.shown_at, NEW.used_at, NEW.ended_at)
               IS DISTINCT FROM (octet_length(OLD.sealed), OLD.shown_at, OLD.used_at, OLD.ended_at)
        OR OLD.shown_at IS NOT NULL AND OLD.shown_at IS DISTINCT FROM NEW.shown_at
        OR OLD.ended_at IS NOT NULL AND OLD.ended_at IS DISTINCT FROM NEW.ended_at THEN
        RAISE EXCEPTION 'key % does not change like this', OLD.name USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
