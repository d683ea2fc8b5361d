-- Versions of tables and of the rules of games. Two people approve each version that changes a table
-- after it was opened. The role of web and workers writes neither without a proof.
--
--   SB128 a version without a proof, or with a wrong or used one

-- Check the status and the version of a table. Trigger function, BEFORE INSERT OR UPDATE on
-- games_table. Sets `first_opened_at` when the table is opened first; the statement's value is
-- ignored.
-- Raises check_violation (23514) if a closed or new table would pause, or if the version is not the
-- newest of the table. A table is paused only while open, so that each opening has a reason of its
-- own.
CREATE OR REPLACE FUNCTION games_table_is_kept() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    NEW.first_opened_at := CASE TG_OP WHEN 'UPDATE' THEN OLD.first_opened_at END;
    IF NEW.status <> 'closed' AND NEW.first_opened_at IS NULL THEN
        NEW.first_opened_at := clock_timestamp();
    END IF;
    IF NEW.status = 'paused' AND (TG_OP = 'INSERT' OR OLD.status = 'closed') THEN
        RAISE EXCEPTION 'table % is closed: it cannot pause', NEW.id USING ERRCODE = 'check_violation';
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.version_id IS NOT DISTINCT FROM OLD.version_id THEN
        RETURN NEW;
    END IF;
    IF NEW.version_id IS DISTINCT FROM (
        SELECT version.id FROM games_tableversion AS version WHERE version.table_id = NEW.id ORDER BY version.number DESC LIMIT 1) THEN
        RAISE EXCEPTION 'version % is not the newest of table %', NEW.version_id, NEW.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a scheduled time that no approval has. Trigger function, BEFORE INSERT on
-- games_scheduledversion. The approval has kind table.version or table.make, and `goes_live_at` of
-- its request equals `due_at`.
-- Raises check_violation (23514).
CREATE OR REPLACE FUNCTION games_schedule_is_approved() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM audit_approval AS approval JOIN audit_decision AS decision ON decision.approval_id = approval.id
        WHERE approval.id = NEW.approval_id AND decision.verdict = 'approved' AND approval.kind IN ('table.version', 'table.make')
            AND (approval.request::jsonb ->> 'goes_live_at')::timestamptz = NEW.due_at) THEN
        RAISE EXCEPTION 'nobody approved that %', NEW.due_at USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Refuse a version of a table that two people have not approved. Trigger function, BEFORE INSERT on
-- games_tableversion.
-- Raises check_violation (23514), also for a number that is not the next one, an unknown
-- jurisdiction, or a version before its scheduled time.
--
-- A version with an approval equals its request, which was made for the version that was in force.
-- Older requests do not name jurisdictions and modes and keep those in force. A version without an
-- approval is allowed for a table that was never opened. It is also allowed if only the rules
-- differ and they are the newest of the game, because new rules come with a new version of the
-- software.
CREATE OR REPLACE FUNCTION games_version_takes_two() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    at_table games_table;
    before games_tableversion;
    asked jsonb;
BEGIN
    SELECT * INTO at_table FROM games_table WHERE id = NEW.table_id;
    SELECT * INTO before FROM games_tableversion WHERE table_id = NEW.table_id ORDER BY number DESC LIMIT 1;
    IF NEW.number <> coalesce(before.number, 0) + 1 THEN
        RAISE EXCEPTION 'version % is not the next one of table %', NEW.number, NEW.table_id USING ERRCODE = 'check_violation';
    END IF;
    IF NOT NEW.jurisdictions::text[] <@ ARRAY(SELECT code::text FROM players_jurisdiction) THEN
        RAISE EXCEPTION 'the house has no jurisdictions %', NEW.jurisdictions USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.approval_id IS NULL THEN
        IF at_table.first_opened_at IS NULL OR NEW.limits = before.limits AND NEW.clock IS NOT DISTINCT FROM before.clock
            AND (NEW.jurisdictions, NEW.modes) = (before.jurisdictions, before.modes)
            AND NEW.rules_digest <> before.rules_digest AND NEW.rules_digest = (
                SELECT digest FROM games_rulesversion WHERE variant = at_table.variant ORDER BY id DESC LIMIT 1) THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'table % was opened: another version takes two people', NEW.table_id USING ERRCODE = 'check_violation';
    END IF;
    SELECT approval.request::jsonb INTO asked
    FROM audit_approval AS approval JOIN audit_decision AS decision ON decision.approval_id = approval.id
    WHERE approval.id = NEW.approval_id AND decision.verdict = 'approved'
        AND CASE approval.kind
            WHEN 'table.version' THEN (approval.request::jsonb ->> 'table')::bigint = NEW.table_id
                AND (approval.request::jsonb ->> 'based_on')::integer = before.number
            WHEN 'table.make' THEN before.id IS NULL
                AND approval.request::jsonb @> jsonb_build_object('slug', at_table.slug, 'variant', at_table.variant, 'shape', at_table.shape)
            ELSE false END;
    IF asked IS NULL OR (
            asked -> 'limits', asked -> 'clock', asked ->> 'digest',
            coalesce(asked -> 'jurisdictions', to_jsonb(before.jurisdictions)), coalesce(asked -> 'modes', to_jsonb(before.modes))
        ) IS DISTINCT FROM (NEW.limits, coalesce(NEW.clock, 'null'), NEW.rules_digest::text, to_jsonb(NEW.jurisdictions), to_jsonb(NEW.modes)) THEN
        RAISE EXCEPTION 'approval % is not of this version of table %', NEW.approval_id, NEW.table_id USING ERRCODE = 'check_violation';
    END IF;
    IF asked ->> 'goes_live_at' IS NOT NULL AND NOT EXISTS (
        SELECT FROM games_scheduledversion AS schedule LEFT JOIN games_scheduleending AS ending USING (approval_id)
        WHERE schedule.approval_id = NEW.approval_id AND schedule.due_at <= clock_timestamp() AND coalesce(ending.how, 'live') = 'live') THEN
        RAISE EXCEPTION 'approval % is not due', NEW.approval_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;

-- Add the next version of a table, and return it.
-- `content`: JSON text of {"limits", "clock", "jurisdictions", "modes", "rules_version", "rules_digest",
-- "approval"}. `proof`: HMAC under CREDENTIALS_KEY (credentials.sql) of the table's id, the number of
-- the version and the SHA-256 of `content` in hex, as "table version:1:2:…". The number makes a proof
-- useless once it was used.
-- Raises SB128 for a wrong proof or an unknown table, and the errors of games_version_takes_two.
-- Locks the table.
CREATE OR REPLACE FUNCTION games_add_table_version(game_table bigint, content text, proof bytea) RETURNS games_tableversion
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    number integer;
    added games_tableversion;
BEGIN
    PERFORM FROM games_table AS t WHERE t.id = game_table FOR UPDATE;
    SELECT coalesce(max(v.number), 0) + 1 INTO number FROM games_tableversion AS v WHERE v.table_id = game_table;
    IF players_is_text_proven(concat_ws(':', 'table version', game_table, number), content, proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'nothing proves version % of table %', number, game_table USING ERRCODE = 'SB128';
    END IF;
    INSERT INTO games_tableversion AS v (
        table_id, number, rules_version, rules_digest, limits, clock, jurisdictions, modes, approval_id)
    SELECT game_table, number, said.rules_version, said.rules_digest, said.limits, said.clock, said.jurisdictions, said.modes,
           said.approval
    FROM jsonb_to_record(content::jsonb) AS said (
        rules_version text, rules_digest text, limits jsonb, clock jsonb, jurisdictions text[], modes text[], approval bigint)
    RETURNING v.* INTO added;
    UPDATE games_table AS t SET version_id = added.id WHERE t.id = game_table;
    RETURN added;
END $$;
REVOKE ALL ON FUNCTION games_add_table_version FROM PUBLIC;

-- Store the rules of a game, which replace its newest ones, and return the row.
-- `content`: JSON text of {"version", "digest", "body"}. `proof`: HMAC, as for games_add_table_version,
-- of the game, the number of its stored rules, and the SHA-256 of `content`, as "rules:baccarat:0:…".
-- Raises SB128 for a wrong proof.
CREATE OR REPLACE FUNCTION games_add_rules_version(variant text, content text, proof bytea) RETURNS games_rulesversion
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    stored bigint;
    added games_rulesversion;
BEGIN
    LOCK TABLE games_rulesversion IN SHARE ROW EXCLUSIVE MODE;
    SELECT count(*) INTO stored FROM games_rulesversion AS r WHERE r.variant = games_add_rules_version.variant;
    IF players_is_text_proven(concat_ws(':', 'rules', variant, stored), content, proof) IS NOT TRUE THEN
        RAISE EXCEPTION 'nothing proves these rules of %', variant USING ERRCODE = 'SB128';
    END IF;
    INSERT INTO games_rulesversion AS r (variant, version, digest, body)
    SELECT games_add_rules_version.variant, said.version, said.digest, said.body
    FROM jsonb_to_record(content::jsonb) AS said (version text, digest text, body jsonb)
    RETURNING r.* INTO added;
    RETURN added;
END $$;
REVOKE ALL ON FUNCTION games_add_rules_version FROM PUBLIC;
