-- Triggers on the tables of `games`: one list per table, in the order in which PostgreSQL fires
-- them (before a statement, before a row, after a row, after a statement; by name within each).

-- On games_bethourlytotal

CREATE OR REPLACE TRIGGER games_bethourlytotal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_bethourlytotal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER games_bethourlytotal_is_open AFTER INSERT ON games_bethourlytotal REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.rounds');

-- On games_cardhourlytotal

CREATE OR REPLACE TRIGGER games_cardhourlytotal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_cardhourlytotal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER games_cardhourlytotal_is_open AFTER INSERT ON games_cardhourlytotal REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.cards');

-- On games_chatban

CREATE OR REPLACE TRIGGER games_chatban_is_kept BEFORE INSERT OR UPDATE ON games_chatban
    FOR EACH ROW EXECUTE FUNCTION games_keep_chat_ban();

-- On games_chatmessage

CREATE OR REPLACE TRIGGER games_chatmessage_for_its_time BEFORE DELETE ON games_chatmessage
    FOR EACH ROW EXECUTE FUNCTION games_keep_chat();
CREATE OR REPLACE TRIGGER games_chatmessage_in_turn BEFORE INSERT ON games_chatmessage
    FOR EACH ROW EXECUTE FUNCTION games_say_in_chat();
CREATE OR REPLACE TRIGGER games_chatmessage_is_kept BEFORE UPDATE ON games_chatmessage
    FOR EACH ROW EXECUTE FUNCTION games_keep_chat_message();

-- On games_chatname

CREATE OR REPLACE TRIGGER games_chatname_in_time BEFORE INSERT OR UPDATE ON games_chatname
    FOR EACH ROW EXECUTE FUNCTION games_choose_chat_name();

-- On games_chatnametaken

CREATE OR REPLACE TRIGGER games_chatnametaken_stays BEFORE TRUNCATE ON games_chatnametaken
    FOR EACH STATEMENT EXECUTE FUNCTION games_keep_taken_name();
CREATE OR REPLACE TRIGGER games_chatnametaken_in_turn BEFORE INSERT ON games_chatnametaken
    FOR EACH ROW EXECUTE FUNCTION games_take_chat_name();
CREATE OR REPLACE TRIGGER games_chatnametaken_is_kept BEFORE UPDATE OR DELETE ON games_chatnametaken
    FOR EACH ROW EXECUTE FUNCTION games_keep_taken_name();

-- On games_chatreport

CREATE OR REPLACE TRIGGER games_chatreport_begins BEFORE INSERT ON games_chatreport
    FOR EACH ROW EXECUTE FUNCTION games_report_chat();
CREATE OR REPLACE TRIGGER games_chatreport_for_its_time BEFORE DELETE ON games_chatreport
    FOR EACH ROW EXECUTE FUNCTION games_keep_chat();
CREATE OR REPLACE TRIGGER games_chatreport_is_kept BEFORE UPDATE ON games_chatreport
    FOR EACH ROW EXECUTE FUNCTION games_decide_chat_report();

-- On games_chemincoup

CREATE OR REPLACE TRIGGER games_chemincoup_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_chemincoup
    FOR EACH STATEMENT EXECUTE FUNCTION games_keep_play();

-- On games_cheminmove

CREATE OR REPLACE TRIGGER games_cheminmove_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_cheminmove
    FOR EACH STATEMENT EXECUTE FUNCTION games_keep_play();

-- On games_cheminseat

CREATE OR REPLACE TRIGGER games_cheminseat_is_kept BEFORE INSERT OR UPDATE ON games_cheminseat
    FOR EACH ROW EXECUTE FUNCTION games_keep_player();

-- On games_cheminstake

CREATE OR REPLACE TRIGGER games_cheminstake_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_cheminstake
    FOR EACH STATEMENT EXECUTE FUNCTION games_keep_play();

-- On games_chemintenure

CREATE OR REPLACE TRIGGER games_chemintenure_is_kept BEFORE UPDATE ON games_chemintenure
    FOR EACH ROW EXECUTE FUNCTION games_keep_tenure();
CREATE CONSTRAINT TRIGGER games_chemintenure_has_its_move AFTER INSERT ON games_chemintenure DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION games_tenure_has_its_move();

-- On games_dealtcards

CREATE OR REPLACE TRIGGER games_dealtcards_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_dealtcards
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On games_evidence

CREATE OR REPLACE TRIGGER games_evidence_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_evidence
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER games_evidence_is_open AFTER INSERT ON games_evidence REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.evidence');

-- On games_liveround

CREATE OR REPLACE TRIGGER games_liveround_is_kept BEFORE UPDATE ON games_liveround
    FOR EACH ROW EXECUTE FUNCTION games_keep_live_round();

-- On games_playreport

CREATE OR REPLACE TRIGGER games_playreport_is_decided BEFORE UPDATE ON games_playreport
    FOR EACH ROW EXECUTE FUNCTION games_decide_play_report();

-- On games_returnsalarm

CREATE OR REPLACE TRIGGER games_returnsalarm_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_returnsalarm
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER games_returnsalarm_as_said BEFORE INSERT ON games_returnsalarm
    FOR EACH ROW EXECUTE FUNCTION games_alarm_as_said();

-- On games_rulesversion

CREATE OR REPLACE TRIGGER games_rulesversion_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_rulesversion
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On games_scheduledversion

CREATE OR REPLACE TRIGGER games_scheduledversion_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_scheduledversion
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER games_schedule_is_approved BEFORE INSERT ON games_scheduledversion
    FOR EACH ROW EXECUTE FUNCTION games_schedule_is_approved();

-- On games_scheduleending

CREATE OR REPLACE TRIGGER games_scheduleending_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_scheduleending
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On games_shoe

CREATE OR REPLACE TRIGGER games_shoe_is_kept BEFORE UPDATE ON games_shoe FOR EACH ROW EXECUTE FUNCTION games_keep_shoe();

-- On games_shoeleaves

CREATE OR REPLACE TRIGGER games_shoeleaves_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_shoeleaves
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();

-- On games_shufflehourlytotal

CREATE OR REPLACE TRIGGER games_shufflehourlytotal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_shufflehourlytotal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER games_shufflehourlytotal_is_open AFTER INSERT ON games_shufflehourlytotal REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.shuffles');

-- On games_stoppolicy

CREATE OR REPLACE TRIGGER games_stoppolicy_as_said BEFORE INSERT OR UPDATE ON games_stoppolicy
    FOR EACH ROW EXECUTE FUNCTION games_policy_as_said();

-- On games_table

CREATE OR REPLACE TRIGGER games_table_is_kept BEFORE INSERT OR UPDATE ON games_table
    FOR EACH ROW EXECUTE FUNCTION games_table_is_kept();

-- On games_tableversion

CREATE OR REPLACE TRIGGER games_version_takes_two BEFORE INSERT ON games_tableversion
    FOR EACH ROW EXECUTE FUNCTION games_version_takes_two();

-- On games_gamehourlytotal

CREATE OR REPLACE TRIGGER games_gamehourlytotal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_gamehourlytotal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER games_gamehourlytotal_is_open AFTER INSERT ON games_gamehourlytotal REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.rounds');

-- On games_playerhourlytotal

CREATE OR REPLACE TRIGGER games_playerhourlytotal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_playerhourlytotal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER games_playerhourlytotal_is_open AFTER INSERT ON games_playerhourlytotal REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('games.rounds');

-- On games_void

CREATE OR REPLACE TRIGGER games_void_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON games_void
    FOR EACH STATEMENT EXECUTE FUNCTION games_keep_play();
CREATE OR REPLACE TRIGGER games_void_has_its_reason BEFORE INSERT ON games_void
    FOR EACH ROW EXECUTE FUNCTION games_void_has_its_reason();
CREATE CONSTRAINT TRIGGER games_void_has_its_cause AFTER INSERT ON games_void DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.reason <> 'decided') EXECUTE FUNCTION games_void_has_its_cause();

-- On wallet_game_session

CREATE OR REPLACE TRIGGER games_wallet_game_session_is_open_table AFTER INSERT ON wallet_game_session
    FOR EACH ROW EXECUTE FUNCTION games_open_studio_game();

-- On wallet_studio_transaction

CREATE OR REPLACE TRIGGER wallet_studio_transaction_begins_game BEFORE INSERT ON wallet_studio_transaction
    FOR EACH ROW EXECUTE FUNCTION games_begin_studio_game();
