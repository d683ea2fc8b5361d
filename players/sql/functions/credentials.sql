-- Proofs for what the database cannot check by itself: passwords, e-mail addresses of log-ins, second
-- factors, API tokens, the answers of national registers of excluded players, and requests and decisions of
-- staff.
--
-- Triggers refuse every change of them without a proof: HMAC-SHA256 over the change, under a key of
-- the setting CREDENTIALS_KEY. Web and workers have the key. Somebody who only knows the password of
-- their database role has not, and cannot read it here. players/login/credentials.py makes the
-- proofs.
--
-- A change is a JSON array, and a permit is a proven change that was not made yet:
--   ["password", hash]                              of players_user
--   ["email", address]
--   ["add factor", type, data]                      of mfa_authenticator
--   ["change factor", id, data]
--   ["remove factor", id]
--   ["add address", address, verified, primary]     of account_emailaddress
--   ["change address", id, address, verified, primary]
--   ["remove address", id]
--   ["add token", digest in hex, scopes]            of players_api_token
--   ["register answer", register, outcome]          of players_registercheck
--   ["ask", kind, subject, SHA-256 of the request in hex]      of audit_approval
--   ["decide", approval, verdict]                   of audit_decision, unless it only expired
--
-- Functions of the owner, such as players_forget, need no proof.
--
--   SB084 a change of credentials without a proof, or with a wrong or used one

-- Return the HMAC-SHA256 (RFC 2104) of a message.
-- `inner_pad`, `outer_pad`: the key, filled up to 64 bytes with zeros, combined with 0x36 and 0x5c.
CREATE OR REPLACE FUNCTION players_hmac(inner_pad bytea, outer_pad bytea, message bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT sha256(outer_pad || sha256(inner_pad || message))
$$;

-- Return whether a proof is the HMAC of a message under one of the keys.
CREATE OR REPLACE FUNCTION players_is_proven(message text, proof bytea) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM players_credential_key AS k
        WHERE players_hmac(k.inner_pad, k.outer_pad, convert_to(message, 'UTF8')) = proof)
$$;
REVOKE ALL ON FUNCTION players_is_proven FROM PUBLIC;

-- Return whether a proof is of a text, for what `subject` names: HMAC of both, as "subject:" and the
-- SHA-256 of the text in hex. For functions of the owner that a process with the key has to allow.
CREATE OR REPLACE FUNCTION players_is_text_proven(subject text, said text, proof bytea) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT players_is_proven(concat(subject, ':', encode(sha256(convert_to(said, 'UTF8')), 'hex')), proof)
$$;

-- Return whether a proof is of a text, for this transaction alone: players_is_text_proven for the subject
-- and the number of the transaction, separated by a colon.
CREATE OR REPLACE FUNCTION players_is_proven_here(subject text, said text, proof bytea) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT players_is_text_proven(concat_ws(':', subject, pg_current_xact_id()), said, proof)
$$;

-- Return the message that proves a change of a user's credentials: id of the user, number of proven
-- changes until now, and the change as text of jsonb, separated by colons. The number makes a proof
-- useless as soon as it or another one was accepted.
-- Raises foreign_key_violation (23503) for an unknown user.
-- Locks the user's number.
CREATE OR REPLACE FUNCTION players_credential_message(login bigint, change jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    number bigint;
BEGIN
    INSERT INTO players_credential (user_id) VALUES (login) ON CONFLICT DO NOTHING;
    SELECT c.version INTO number FROM players_credential AS c WHERE c.user_id = login FOR UPDATE;
    RETURN concat(login, ':', number, ':', change);
END $$;
REVOKE ALL ON FUNCTION players_credential_message FROM PUBLIC;

-- Permit one change of a user's credentials, on this connection and within a minute.
-- `proof`: HMAC of players_credential_message.
-- Raises SB084 if it is wrong or was used.
CREATE OR REPLACE FUNCTION players_permit_change(login bigint, change jsonb, proof bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF players_is_proven(players_credential_message(login, change), proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'the proof of this change of user % is wrong or was used', login USING ERRCODE = 'SB084';
    END IF;
    UPDATE players_credential SET version = version + 1 WHERE user_id = login;
    DELETE FROM players_credential_permit WHERE user_id = login AND pid <> pg_backend_pid();
    INSERT INTO players_credential_permit (user_id, change) VALUES (login, change::text);
END $$;
REVOKE ALL ON FUNCTION players_permit_change FROM PUBLIC;

-- Use up a permit of this connection. Return whether there was one.
CREATE OR REPLACE FUNCTION players_use_permit(login bigint, change jsonb) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM players_credential_permit WHERE ctid = (
        SELECT p.ctid FROM players_credential_permit AS p
        WHERE p.user_id = login AND p.change = players_use_permit.change::text AND p.pid = pg_backend_pid()
          AND p.at > clock_timestamp() - interval '1 minute'
        LIMIT 1);
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION players_use_permit FROM PUBLIC;

-- Use up the permit of a change. The owner of the tables, and so its functions, need none.
-- Raises SB084 without a permit.
CREATE OR REPLACE FUNCTION players_demand_permit(login bigint, change jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'players_credential_permit'::regclass) THEN
        RETURN;
    END IF;
    IF NOT players_use_permit(login, change) THEN
        RAISE EXCEPTION 'nothing proves this change of user %', login USING ERRCODE = 'SB084';
    END IF;
END $$;

-- Refuse a change of a user's password or e-mail address without a proof. Trigger function, BEFORE
-- UPDATE OF password, email ON players_user.
-- Raises SB084.
CREATE OR REPLACE FUNCTION players_prove_user() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NEW.password IS DISTINCT FROM OLD.password THEN
        PERFORM players_demand_permit(OLD.id, jsonb_build_array('password', NEW.password));
    END IF;
    IF NEW.email IS DISTINCT FROM OLD.email THEN
        PERFORM players_demand_permit(OLD.id, jsonb_build_array('email', NEW.email));
    END IF;
    RETURN NEW;
END $$;

-- Refuse a new, other or removed second factor without a proof. Trigger function, BEFORE INSERT OR
-- UPDATE OF data OR DELETE ON mfa_authenticator. The time of the last use needs none.
-- Raises SB084.
CREATE OR REPLACE FUNCTION players_prove_factor() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM players_demand_permit(NEW.user_id, jsonb_build_array('add factor', NEW.type, NEW.data));
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM players_demand_permit(OLD.user_id, jsonb_build_array('remove factor', OLD.id));
        RETURN OLD;
    ELSIF NEW.data IS DISTINCT FROM OLD.data THEN
        PERFORM players_demand_permit(OLD.user_id, jsonb_build_array('change factor', OLD.id, NEW.data));
    END IF;
    RETURN NEW;
END $$;

-- Refuse a new, other or removed e-mail address without a proof. Trigger function, BEFORE INSERT OR
-- UPDATE OR DELETE ON account_emailaddress.
-- Raises SB084.
CREATE OR REPLACE FUNCTION players_prove_address() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM players_demand_permit(
            NEW.user_id, jsonb_build_array('add address', NEW.email, NEW.verified, NEW."primary"));
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM players_demand_permit(OLD.user_id, jsonb_build_array('remove address', OLD.id));
        RETURN OLD;
    ELSE
        PERFORM players_demand_permit(
            OLD.user_id, jsonb_build_array('change address', OLD.id, NEW.email, NEW.verified, NEW."primary"));
    END IF;
    RETURN NEW;
END $$;

-- Refuse a new API token without a proof. Trigger function, BEFORE INSERT ON players_api_token.
-- Raises SB084.
CREATE OR REPLACE FUNCTION players_prove_token() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    PERFORM players_demand_permit(
        NEW.user_id, jsonb_build_array('add token', encode(NEW.digest, 'hex'), to_jsonb(NEW.scopes)));
    RETURN NEW;
END $$;

-- Refuse a request or a decision in the name of staff without a proof. Trigger function, AFTER INSERT
-- on audit_approval and audit_decision. players_check_person has checked that the account exists.
-- Raises SB084.
CREATE OR REPLACE FUNCTION players_prove_approval() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    change jsonb;
BEGIN
    IF TG_TABLE_NAME = 'audit_approval' THEN
        change := jsonb_build_array('ask', NEW.kind, NEW."on", encode(sha256(convert_to(NEW.request, 'UTF8')), 'hex'));
    ELSE
        change := jsonb_build_array('decide', NEW.approval_id, NEW.verdict);
    END IF;
    PERFORM players_demand_permit((SELECT s.user_id FROM players_staff AS s WHERE 'staff:' || s.id = NEW."by"), change);
    RETURN NULL;
END $$;
