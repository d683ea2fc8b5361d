-- Triggers on the tables of `players`: one list per table, in the order in which PostgreSQL fires
-- them (before a statement, before a row, after a row, after a statement; by name within each).

-- On account_emailaddress

CREATE OR REPLACE TRIGGER players_address_identity BEFORE UPDATE ON account_emailaddress
    FOR EACH ROW WHEN ((OLD.id, OLD.user_id) IS DISTINCT FROM (NEW.id, NEW.user_id)) EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_address_is_proven BEFORE INSERT OR UPDATE OR DELETE ON account_emailaddress
    FOR EACH ROW EXECUTE FUNCTION players_prove_address();

-- On mfa_authenticator

CREATE OR REPLACE TRIGGER players_factor_identity BEFORE UPDATE ON mfa_authenticator
    FOR EACH ROW WHEN ((OLD.id, OLD.user_id, OLD.type) IS DISTINCT FROM (NEW.id, NEW.user_id, NEW.type)) EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_factor_is_proven BEFORE INSERT OR UPDATE OF data OR DELETE ON mfa_authenticator
    FOR EACH ROW EXECUTE FUNCTION players_prove_factor();
CREATE OR REPLACE TRIGGER players_factors_reset_is_approved AFTER DELETE ON mfa_authenticator
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION players_staff_demand_reset();

-- On players_accountlock

CREATE OR REPLACE TRIGGER players_accountlock_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_accountlock
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_accountlock_begins BEFORE INSERT ON players_accountlock
    FOR EACH ROW EXECUTE FUNCTION players_begin_accountlock();

-- On players_borrowed_money

CREATE OR REPLACE TRIGGER players_borrowed_money_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_borrowed_money
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_borrowed_money_begins BEFORE INSERT ON players_borrowed_money
    FOR EACH ROW EXECUTE FUNCTION players_begin_borrowed_money();

-- On players_api_call

CREATE OR REPLACE TRIGGER players_api_call_stays BEFORE TRUNCATE ON players_api_call
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_api_call_begins BEFORE INSERT ON players_api_call
    FOR EACH ROW EXECUTE FUNCTION players_begin_call();
CREATE OR REPLACE TRIGGER players_api_call_is_answered BEFORE UPDATE ON players_api_call
    FOR EACH ROW EXECUTE FUNCTION players_answer_call();
CREATE OR REPLACE TRIGGER players_api_call_is_kept BEFORE DELETE ON players_api_call
    FOR EACH ROW EXECUTE FUNCTION players_keep_call();

-- On players_api_token

CREATE OR REPLACE TRIGGER players_api_token_is_kept BEFORE DELETE OR TRUNCATE ON players_api_token
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_api_token_begins BEFORE INSERT ON players_api_token
    FOR EACH ROW EXECUTE FUNCTION players_begin_token();
CREATE OR REPLACE TRIGGER players_api_token_is_proven BEFORE INSERT ON players_api_token
    FOR EACH ROW EXECUTE FUNCTION players_prove_token();
CREATE OR REPLACE TRIGGER players_api_token_stays BEFORE UPDATE ON players_api_token
    FOR EACH ROW EXECUTE FUNCTION players_keep_token();

-- On players_case

CREATE OR REPLACE TRIGGER players_case_identity BEFORE UPDATE OF id, player_id, kind, subject, opened_at, opened_by ON players_case
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_case_is_kept BEFORE DELETE OR TRUNCATE ON players_case
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_case_entry

CREATE OR REPLACE TRIGGER players_case_entry_is_kept BEFORE DELETE OR TRUNCATE ON players_case_entry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_case_entry_stays BEFORE UPDATE ON players_case_entry
    FOR EACH ROW EXECUTE FUNCTION players_keep_case_entry();

-- On audit_significant

CREATE OR REPLACE TRIGGER players_aml_case_opens AFTER INSERT ON audit_significant
    FOR EACH ROW WHEN (NEW.category = 'laundering') EXECUTE FUNCTION players_open_aml_case();

-- On players_screening_entry

CREATE OR REPLACE TRIGGER players_screening_entry_is_kept BEFORE DELETE OR TRUNCATE ON players_screening_entry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_screening_entry_stays
    BEFORE UPDATE OF id, list, key, topic, name, names, born, published, listed_at ON players_screening_entry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_screening_reading

CREATE OR REPLACE TRIGGER players_screening_reading_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_screening_reading
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_closure

CREATE OR REPLACE TRIGGER players_closure_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_closure
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_contact

CREATE OR REPLACE TRIGGER players_contact_is_kept BEFORE DELETE OR TRUNCATE ON players_contact
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_contact_stays BEFORE UPDATE ON players_contact
    FOR EACH ROW EXECUTE FUNCTION players_keep_contact();

-- On players_conversation

CREATE OR REPLACE TRIGGER players_conversation_identity
    BEFORE UPDATE OF id, player_id, topic, round_id, round_code, began_at ON players_conversation
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_conversation_is_kept BEFORE TRUNCATE ON players_conversation
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_conversation_goes_on BEFORE UPDATE ON players_conversation
    FOR EACH ROW EXECUTE FUNCTION players_conversation_goes_on();
CREATE OR REPLACE TRIGGER players_conversation_is_kept_long BEFORE DELETE ON players_conversation
    FOR EACH ROW EXECUTE FUNCTION players_keep_conversation();
CREATE OR REPLACE TRIGGER players_complaint_opens AFTER INSERT ON players_conversation
    FOR EACH ROW WHEN (NEW.topic = 'complaint') EXECUTE FUNCTION players_open_complaint();
CREATE OR REPLACE TRIGGER players_complaint_is_forgotten AFTER DELETE ON players_conversation
    FOR EACH ROW WHEN (OLD.topic = 'complaint') EXECUTE FUNCTION players_forget_complaint();

-- On players_document

CREATE OR REPLACE TRIGGER players_document_begins BEFORE INSERT ON players_document
    FOR EACH ROW EXECUTE FUNCTION players_begin_document();

-- On players_documentcontent

CREATE OR REPLACE TRIGGER players_documentcontent_is_kept BEFORE INSERT OR DELETE ON players_documentcontent
    FOR EACH ROW EXECUTE FUNCTION players_keep_document();

-- On players_duplicate

CREATE OR REPLACE TRIGGER players_duplicate_is_resolved BEFORE INSERT OR UPDATE ON players_duplicate
    FOR EACH ROW EXECUTE FUNCTION players_resolve_duplicate();
CREATE OR REPLACE TRIGGER players_duplicate_opens AFTER INSERT ON players_duplicate
    FOR EACH ROW WHEN (NEW.resolution = '') EXECUTE FUNCTION players_open_duplicate_case();
CREATE OR REPLACE TRIGGER players_duplicate_closes AFTER UPDATE OF resolution ON players_duplicate
    FOR EACH ROW WHEN (NEW.resolution <> '') EXECUTE FUNCTION players_close_duplicate_case();

-- On players_exclusion

CREATE OR REPLACE TRIGGER players_exclusion_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_exclusion
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_pause_change();
CREATE OR REPLACE TRIGGER players_exclusion_begins_now BEFORE INSERT ON players_exclusion
    FOR EACH ROW EXECUTE FUNCTION players_begin_exclusion();

-- On players_exclusionlift

CREATE OR REPLACE TRIGGER players_exclusionlift_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_exclusionlift
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_pause_change();
CREATE OR REPLACE TRIGGER players_exclusionlift_in_time BEFORE INSERT ON players_exclusionlift
    FOR EACH ROW EXECUTE FUNCTION players_check_lift();

-- On players_identity

CREATE OR REPLACE TRIGGER players_identity_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_identity
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_limitchange

CREATE OR REPLACE TRIGGER players_limitchange_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_limitchange
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_limit_change();

-- On players_limitoffer

CREATE OR REPLACE TRIGGER players_limitoffer_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_limitoffer
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_limit_change();

-- On players_mail

CREATE OR REPLACE TRIGGER players_mail_is_kept BEFORE UPDATE ON players_mail
    FOR EACH ROW EXECUTE FUNCTION players_keep_mail();

-- On players_marker_scan

CREATE OR REPLACE TRIGGER players_marker_scan_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_marker_scan
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_limitreminder

CREATE OR REPLACE TRIGGER players_limitreminder_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_limitreminder
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_national_rule_change

CREATE OR REPLACE TRIGGER players_national_rule_change_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_national_rule_change
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_note

CREATE OR REPLACE TRIGGER players_note_is_kept BEFORE DELETE OR TRUNCATE ON players_note
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_note_begins BEFORE INSERT ON players_note
    FOR EACH ROW EXECUTE FUNCTION players_begin_note();
CREATE OR REPLACE TRIGGER players_note_stays BEFORE UPDATE ON players_note
    FOR EACH ROW EXECUTE FUNCTION players_keep_note();

-- On players_notice

CREATE OR REPLACE TRIGGER players_notice_is_kept BEFORE DELETE OR TRUNCATE ON players_notice
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_notice_begins BEFORE INSERT ON players_notice
    FOR EACH ROW EXECUTE FUNCTION players_begin_notice();
CREATE OR REPLACE TRIGGER players_notice_is_withdrawn BEFORE UPDATE ON players_notice
    FOR EACH ROW EXECUTE FUNCTION players_withdraw_notice();

-- On players_realitycheck

CREATE OR REPLACE TRIGGER players_realitycheck_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_realitycheck
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_pause_change();

-- On players_registercheck

CREATE OR REPLACE TRIGGER players_registercheck_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_registercheck
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_pause_change();
CREATE OR REPLACE TRIGGER players_registercheck_begins BEFORE INSERT ON players_registercheck
    FOR EACH ROW EXECUTE FUNCTION players_begin_registercheck();

-- On players_reply_template

CREATE OR REPLACE TRIGGER players_reply_template_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_reply_template
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_reply_template_begins BEFORE INSERT ON players_reply_template
    FOR EACH ROW EXECUTE FUNCTION players_begin_reply_template();

-- On players_reply_withdrawal

CREATE OR REPLACE TRIGGER players_reply_withdrawal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_reply_withdrawal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_servicemessage

CREATE OR REPLACE TRIGGER players_servicemessage_is_kept BEFORE UPDATE OR TRUNCATE ON players_servicemessage
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_servicemessage_is_kept_long BEFORE DELETE ON players_servicemessage
    FOR EACH ROW EXECUTE FUNCTION players_keep_conversation();

-- On players_session

CREATE OR REPLACE TRIGGER players_session_is_kept BEFORE UPDATE OF ip, browser, ended_at, why ON players_session
    FOR EACH ROW EXECUTE FUNCTION players_keep_session();

-- On players_sighting

CREATE OR REPLACE TRIGGER players_sighting_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_sighting
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_staff

CREATE OR REPLACE TRIGGER players_staff_identity BEFORE UPDATE OF id, user_id ON players_staff
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_staff_is_kept BEFORE DELETE OR TRUNCATE ON players_staff
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_staff_is_approved BEFORE INSERT ON players_staff
    FOR EACH ROW EXECUTE FUNCTION players_staff_demand_making();
CREATE OR REPLACE TRIGGER players_staff_one_person BEFORE UPDATE OF person ON players_staff
    FOR EACH ROW WHEN (NEW.person IS DISTINCT FROM OLD.person) EXECUTE FUNCTION players_refuse_other_person();

-- On players_staff_change

CREATE OR REPLACE TRIGGER players_staff_change_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON players_staff_change
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On players_submission

CREATE OR REPLACE TRIGGER players_submission_is_kept BEFORE INSERT OR UPDATE ON players_submission
    FOR EACH ROW EXECUTE FUNCTION players_keep_submission();

-- On players_trait

CREATE OR REPLACE TRIGGER players_trait_number_is_proven BEFORE INSERT ON players_trait
    FOR EACH ROW WHEN (NEW.ground = 'person') EXECUTE FUNCTION players_refuse_number();

-- On players_user

CREATE OR REPLACE TRIGGER players_user_is_proven BEFORE UPDATE OF password, email ON players_user
    FOR EACH ROW EXECUTE FUNCTION players_prove_user();
CREATE OR REPLACE TRIGGER players_user_status_is_approved BEFORE UPDATE OF is_active ON players_user
    FOR EACH ROW WHEN (OLD.is_active IS DISTINCT FROM NEW.is_active) EXECUTE FUNCTION players_staff_demand_status();

-- On players_user_groups

CREATE OR REPLACE TRIGGER players_user_groups_identity BEFORE UPDATE OR TRUNCATE ON players_user_groups
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER players_user_groups_is_approved BEFORE INSERT OR DELETE ON players_user_groups
    FOR EACH ROW EXECUTE FUNCTION players_staff_demand_roles();
