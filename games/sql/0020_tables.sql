-- Whom a table serves and for which money is compared with what two people agreed on, as its limits are.

-- Nobody plays against the house's own places for real money.
ALTER TABLE games_tableversion ADD CONSTRAINT games_tableversion_practice_is_free
    CHECK (NOT ('R' = ANY (modes) AND jsonb_path_exists(limits, '$.*.house_players ? (@ > 0)')));

-- A version is the next one of its table. With an approval it says what was asked for, of the version that was in force then, and not before its
-- time. Without one it is furniture of a table that was never opened; or, where the program has other rules now, what was in force under them.
-- It serves players of jurisdictions that there are. A request of before tables said whom they serve keeps what was in force.
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
