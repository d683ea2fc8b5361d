-- Triggers on the tables of `audit`: one list per table, in the order in which PostgreSQL fires
-- them (before a statement, before a row, after a row, after a statement; by name within each).

-- On audit_approval

CREATE OR REPLACE TRIGGER audit_approval_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_approval
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_approval_by_staff BEFORE INSERT ON audit_approval
    FOR EACH ROW EXECUTE FUNCTION players_check_person();
CREATE OR REPLACE TRIGGER audit_approval_is_proven AFTER INSERT ON audit_approval
    FOR EACH ROW EXECUTE FUNCTION players_prove_approval();

-- On audit_checkpoint

CREATE OR REPLACE TRIGGER audit_checkpoint_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_checkpoint
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_checkpoint_is_next BEFORE INSERT ON audit_checkpoint
    FOR EACH ROW EXECUTE FUNCTION audit_checkpoint_follows();

-- On audit_cursor

CREATE OR REPLACE TRIGGER audit_cursor_is_sealed BEFORE INSERT OR UPDATE ON audit_cursor
    FOR EACH ROW EXECUTE FUNCTION audit_cursor_is_sealed();

-- On audit_decision

CREATE OR REPLACE TRIGGER audit_decision_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_decision
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_decision_by_staff BEFORE INSERT ON audit_decision
    FOR EACH ROW WHEN (NEW.verdict <> 'expired') EXECUTE FUNCTION players_check_person();
CREATE OR REPLACE TRIGGER audit_decision_in_time BEFORE INSERT ON audit_decision
    FOR EACH ROW EXECUTE FUNCTION audit_decide_in_time();
CREATE OR REPLACE TRIGGER audit_decision_is_proven AFTER INSERT ON audit_decision
    FOR EACH ROW WHEN (NEW.verdict <> 'expired') EXECUTE FUNCTION players_prove_approval();

-- On audit_event

CREATE OR REPLACE TRIGGER audit_event_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On audit_leaf

CREATE OR REPLACE TRIGGER audit_leaf_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_leaf
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_leaf_is_of_an_event AFTER INSERT ON audit_leaf REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_is_there();

-- On audit_watermark

CREATE OR REPLACE TRIGGER audit_watermark_is_past BEFORE INSERT ON audit_watermark FOR EACH ROW EXECUTE FUNCTION audit_watermark_is_past();

-- On audit_pending

CREATE OR REPLACE TRIGGER audit_pending_stays BEFORE UPDATE ON audit_pending
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On audit_personal

CREATE OR REPLACE TRIGGER audit_personal_is_kept BEFORE UPDATE OR TRUNCATE ON audit_personal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_personal_is_of_an_event AFTER INSERT ON audit_personal REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_is_there();

-- On audit_report

CREATE OR REPLACE TRIGGER audit_report_identity BEFORE UPDATE OF id, kind, since, until, choices, by, asked_at ON audit_report
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_report_stays BEFORE DELETE OR TRUNCATE ON audit_report
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_report_as_said BEFORE INSERT OR UPDATE ON audit_report
    FOR EACH ROW WHEN (NEW.state = 'ready') EXECUTE FUNCTION audit_report_is_as_said();
CREATE OR REPLACE TRIGGER audit_report_is_kept BEFORE UPDATE ON audit_report
    FOR EACH ROW WHEN (OLD.state IN ('ready', 'failed')) EXECUTE FUNCTION audit_keep_report();
CREATE OR REPLACE TRIGGER audit_report_waits BEFORE INSERT OR UPDATE OF state ON audit_report
    FOR EACH ROW EXECUTE FUNCTION audit_report_waits();

-- On audit_report_page

CREATE OR REPLACE TRIGGER audit_report_page_is_kept BEFORE UPDATE OR TRUNCATE ON audit_report_page
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_report_page_in_the_making BEFORE INSERT OR DELETE ON audit_report_page
    FOR EACH ROW EXECUTE FUNCTION audit_report_in_the_making();

-- On audit_report_part

CREATE OR REPLACE TRIGGER audit_report_part_is_kept BEFORE UPDATE OR TRUNCATE ON audit_report_part
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_report_part_in_the_making BEFORE INSERT OR DELETE ON audit_report_part
    FOR EACH ROW EXECUTE FUNCTION audit_report_in_the_making();

-- On audit_retention

CREATE OR REPLACE TRIGGER audit_retention_identity BEFORE UPDATE OF what, minimum, fields, source ON audit_retention
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_retention_is_kept BEFORE DELETE OR TRUNCATE ON audit_retention
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On audit_rolled

CREATE OR REPLACE TRIGGER audit_rolled_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_rolled
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_rolled_is_next AFTER INSERT ON audit_rolled REFERENCING NEW TABLE AS new_hours
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hours_are_next();

-- On audit_significant

CREATE OR REPLACE TRIGGER audit_significant_identity
    BEFORE UPDATE OF key, category, weight, event_id, "on", currency, amount, title, because, rows, happened_at, at
    ON audit_significant FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_significant_is_kept BEFORE DELETE OR TRUNCATE ON audit_significant
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_significant_as_said BEFORE UPDATE OF state, assigned_to ON audit_significant FOR EACH ROW
    WHEN ((OLD.state, OLD.assigned_to) IS DISTINCT FROM (NEW.state, NEW.assigned_to))
    EXECUTE FUNCTION audit_significant_as_said();
CREATE OR REPLACE TRIGGER audit_significant_is_mailed BEFORE UPDATE OF mailed_at ON audit_significant
    FOR EACH ROW EXECUTE FUNCTION audit_significant_is_mailed();
CREATE OR REPLACE TRIGGER audit_significant_is_new BEFORE INSERT ON audit_significant
    FOR EACH ROW EXECUTE FUNCTION audit_significant_is_new();
CREATE OR REPLACE TRIGGER audit_significant_is_of_an_event AFTER INSERT ON audit_significant REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_event_is_there();

-- On audit_significant_step

CREATE OR REPLACE TRIGGER audit_significant_step_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_significant_step
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On audit_threshold

CREATE OR REPLACE TRIGGER audit_threshold_is_kept BEFORE TRUNCATE ON audit_threshold
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_threshold_as_said BEFORE UPDATE ON audit_threshold
    FOR EACH ROW EXECUTE FUNCTION audit_threshold_as_said();

-- On audit_tile

CREATE OR REPLACE TRIGGER audit_tile_is_kept BEFORE DELETE OR TRUNCATE ON audit_tile
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER audit_tile_only_grows BEFORE UPDATE ON audit_tile
    FOR EACH ROW EXECUTE FUNCTION audit_tile_grows();
CREATE CONSTRAINT TRIGGER audit_tile_has_its_hash_above AFTER INSERT OR UPDATE ON audit_tile DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION audit_tile_rises();
CREATE OR REPLACE TRIGGER audit_tile_is_of_its_leaves AFTER INSERT OR UPDATE ON audit_tile
    FOR EACH ROW EXECUTE FUNCTION audit_tile_agrees();
