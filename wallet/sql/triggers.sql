-- Triggers on the tables of `wallet`: one list per table, in the order in which PostgreSQL fires
-- them (before a statement, before a row, after a row, after a statement; by name within each).

-- On wallet_account

-- Triggers of writers have no WHEN condition: PostgreSQL parses one again for each statement, which
-- costs more than the function.
CREATE OR REPLACE TRIGGER wallet_account_balance BEFORE UPDATE OF balance, held, version ON wallet_account
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_other_writers();
CREATE OR REPLACE TRIGGER wallet_account_identity BEFORE UPDATE OF id, owner_id, kind, currency, mode, subject_id ON wallet_account
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_account_is_kept BEFORE DELETE OR TRUNCATE ON wallet_account
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_account_opens BEFORE INSERT ON wallet_account
    FOR EACH ROW WHEN ((
        NEW.currency IN ('SEK', 'DKK', 'RON', 'EUR', 'GBP') AND NEW.mode IN ('R', 'F')
        AND (NEW.kind IN ('cash', 'purse') AND NEW.owner_id IS NOT NULL AND NEW.balance = 0 AND NEW.subject_id IS NULL
             OR NEW.kind IN ('pending', 'refund') AND NEW.owner_id IS NOT NULL AND NEW.balance = 0 AND NEW.mode = 'R'
                AND NEW.subject_id IS NULL
             OR NEW.kind = 'bank' AND NEW.balance = 0 AND NEW.subject_id IS NOT NULL
                AND (NEW.owner_id IS NOT NULL OR NEW.mode = 'F')
             OR NEW.kind = 'stakes' AND NEW.owner_id IS NULL AND NEW.balance = 0 AND NEW.subject_id IS NOT NULL
             OR NEW.kind = 'seat' AND NEW.owner_id IS NULL AND NEW.balance = 0 AND NEW.subject_id IS NOT NULL
                AND NEW.mode = 'F'
             OR NEW.kind IN ('escrow', 'house', 'cashier', 'mint', 'adjusted', 'studio') AND NEW.owner_id IS NULL
                AND NEW.balance IS NULL AND NEW.subject_id IS NULL
             OR NEW.kind = 'operator' AND NEW.owner_id IS NULL AND NEW.balance IS NULL AND NEW.mode = 'R'
                AND NEW.subject_id IS NULL)
        AND NEW.held = 0 AND NEW.version = 0) IS NOT TRUE)
    EXECUTE FUNCTION wallet_refuse_account();

-- On wallet_adjustment

CREATE OR REPLACE TRIGGER wallet_adjustment_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_adjustment
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_adjustment_is_approved BEFORE INSERT ON wallet_adjustment
    FOR EACH ROW EXECUTE FUNCTION wallet_check_adjustment();

-- On wallet_day

CREATE OR REPLACE TRIGGER wallet_day_is_counted BEFORE INSERT OR UPDATE ON wallet_day
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_other_writers();
CREATE OR REPLACE TRIGGER wallet_day_is_kept BEFORE DELETE OR TRUNCATE ON wallet_day
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- On wallet_deposit_note

CREATE OR REPLACE TRIGGER wallet_deposit_note_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_deposit_note
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_deposit_note_begins BEFORE INSERT ON wallet_deposit_note
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_deposit_note();

-- On wallet_difference

CREATE OR REPLACE TRIGGER wallet_difference_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_difference
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_difference_comes_with_it AFTER INSERT ON wallet_difference
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION wallet_demand_new_statement();

-- On wallet_difference_step

CREATE OR REPLACE TRIGGER wallet_difference_step_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_difference_step
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_difference_step_begins BEFORE INSERT ON wallet_difference_step
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_difference_step();

-- On wallet_entry

CREATE OR REPLACE TRIGGER wallet_entry_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_entry
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_entry_is_written BEFORE INSERT ON wallet_entry
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_other_writers();

-- On wallet_game_session

CREATE OR REPLACE TRIGGER wallet_game_session_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_game_session
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- On wallet_hold

CREATE OR REPLACE TRIGGER wallet_hold_identity BEFORE UPDATE OF round_id, account_id ON wallet_hold
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_hold_is_moved BEFORE TRUNCATE ON wallet_hold
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
-- New and growing holds are refused while the house is stopped; shrinking ones are not.
CREATE OR REPLACE TRIGGER wallet_hold_may_begin AFTER INSERT ON wallet_hold
    FOR EACH ROW EXECUTE FUNCTION wallet_refuse_stopped();
CREATE OR REPLACE TRIGGER wallet_hold_may_grow AFTER UPDATE ON wallet_hold
    FOR EACH ROW WHEN (NEW.amount > OLD.amount) EXECUTE FUNCTION wallet_refuse_stopped();
CREATE OR REPLACE TRIGGER wallet_hold_moves_held AFTER INSERT OR UPDATE ON wallet_hold
    FOR EACH ROW EXECUTE FUNCTION wallet_move_held();
CREATE OR REPLACE TRIGGER wallet_hold_gives_back AFTER DELETE ON wallet_hold REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_give_back_held();

-- On wallet_housestop

CREATE OR REPLACE TRIGGER wallet_housestop_is_kept BEFORE DELETE OR TRUNCATE ON wallet_housestop
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_housestop_begins BEFORE INSERT ON wallet_housestop
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_stop();
CREATE OR REPLACE TRIGGER wallet_housestop_ends BEFORE UPDATE ON wallet_housestop
    FOR EACH ROW EXECUTE FUNCTION wallet_end_stop();

-- On wallet_journal

CREATE OR REPLACE TRIGGER wallet_journal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_journal
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_journal_is_written BEFORE INSERT ON wallet_journal
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_other_writers();
CREATE CONSTRAINT TRIGGER wallet_journal_reverses_a_void AFTER INSERT ON wallet_journal DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.reverses_id IS NOT NULL OR NEW.kind IN ('void_shortfall', 'void_transfer'))
    EXECUTE FUNCTION games_reversal_is_of_a_void();

-- On wallet_ledgerhourlytotal

CREATE OR REPLACE TRIGGER wallet_ledgerhourlytotal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_ledgerhourlytotal
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE OR REPLACE TRIGGER wallet_ledgerhourlytotal_is_open AFTER INSERT ON wallet_ledgerhourlytotal REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION audit_hour_is_open('wallet.ledger');

-- On wallet_partner

CREATE OR REPLACE TRIGGER wallet_partner_is_kept BEFORE DELETE OR TRUNCATE ON wallet_partner
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_partner_begins BEFORE INSERT ON wallet_partner
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_partner();
CREATE OR REPLACE TRIGGER wallet_partner_ends BEFORE UPDATE ON wallet_partner
    FOR EACH ROW EXECUTE FUNCTION wallet_end_partner();

-- On wallet_partner_key

CREATE OR REPLACE TRIGGER wallet_partner_key_is_kept BEFORE DELETE OR TRUNCATE ON wallet_partner_key
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_partner_key_begins BEFORE INSERT ON wallet_partner_key
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_partner_key();
CREATE OR REPLACE TRIGGER wallet_partner_key_changes BEFORE UPDATE ON wallet_partner_key
    FOR EACH ROW EXECUTE FUNCTION wallet_keep_partner_key();

-- On wallet_payment

-- The request of a payment never changes, money that has arrived stays on record, and a payment that is over
-- cannot begin again.
CREATE OR REPLACE TRIGGER wallet_payment_is_kept BEFORE DELETE OR TRUNCATE ON wallet_payment
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_payment_identity BEFORE UPDATE ON wallet_payment
    FOR EACH ROW WHEN (
        (OLD.id, OLD.player_id, OLD.amount, OLD.currency, OLD.total, OLD.variant, OLD.token, OLD.begun_at)
            IS DISTINCT FROM
        (NEW.id, NEW.player_id, NEW.amount, NEW.currency, NEW.total, NEW.variant, NEW.token, NEW.begun_at)
        OR OLD.state IN ('credited', 'returned') AND (OLD.state, OLD.journal_id, OLD.decided_at)
            IS DISTINCT FROM (NEW.state, NEW.journal_id, NEW.decided_at)
        OR OLD.state IN ('credited', 'held', 'returned')
            AND (OLD.authorisation, OLD.held_because, OLD.held_journal_id, OLD.funding, NEW.state IN ('credited', 'held', 'returned'))
                IS DISTINCT FROM (NEW.authorisation, NEW.held_because, NEW.held_journal_id, NEW.funding, true)
        OR OLD.state <> 'waiting' AND NEW.state = 'waiting')
    EXECUTE FUNCTION wallet_refuse_payment_change();
CREATE OR REPLACE TRIGGER wallet_payment_is_paid BEFORE INSERT OR UPDATE OF state ON wallet_payment
    FOR EACH ROW WHEN (NEW.state IN ('credited', 'held', 'returned')) EXECUTE FUNCTION wallet_payment_is_paid();
-- Refuses new deposits only: the house stop does not stop one that is already with the provider.
CREATE OR REPLACE TRIGGER wallet_payment_may_begin AFTER INSERT ON wallet_payment
    FOR EACH ROW EXECUTE FUNCTION wallet_refuse_stopped();
CREATE OR REPLACE TRIGGER wallet_payment_of_known_player AFTER INSERT ON wallet_payment
    FOR EACH ROW EXECUTE FUNCTION wallet_refuse_unknown();

-- On wallet_payment_notice

CREATE OR REPLACE TRIGGER wallet_payment_notice_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_payment_notice
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- On wallet_payout_account

CREATE OR REPLACE TRIGGER wallet_payout_account_is_kept BEFORE DELETE OR TRUNCATE ON wallet_payout_account
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_payout_account_changes BEFORE UPDATE ON wallet_payout_account
    FOR EACH ROW EXECUTE FUNCTION wallet_keep_payout_account();

-- On wallet_payout_notice

CREATE OR REPLACE TRIGGER wallet_payout_notice_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_payout_notice
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- On wallet_posting_key

CREATE OR REPLACE TRIGGER wallet_posting_key_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_posting_key
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_posting_key_is_written BEFORE INSERT ON wallet_posting_key
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_other_writers();

-- On wallet_provider_statement

-- Statements, their lines and differences never change. Staff add steps. No row here moves money.
CREATE OR REPLACE TRIGGER wallet_provider_statement_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_provider_statement
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_provider_statement_begins BEFORE INSERT ON wallet_provider_statement
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_statement();

-- On wallet_operator_bet

CREATE OR REPLACE TRIGGER wallet_operator_bet_is_kept BEFORE DELETE OR TRUNCATE ON wallet_operator_bet
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_operator_bet_begins BEFORE INSERT ON wallet_operator_bet
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_operator_bet();
CREATE OR REPLACE TRIGGER wallet_operator_bet_is_decided BEFORE UPDATE ON wallet_operator_bet
    FOR EACH ROW EXECUTE FUNCTION wallet_decide_operator_bet();
CREATE CONSTRAINT TRIGGER wallet_operator_bet_is_notified AFTER UPDATE ON wallet_operator_bet
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wallet_check_operator_bet_decided();

-- On wallet_operator_launch

CREATE OR REPLACE TRIGGER wallet_operator_launch_is_kept BEFORE DELETE OR TRUNCATE ON wallet_operator_launch
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_operator_launch_is_used BEFORE UPDATE ON wallet_operator_launch
    FOR EACH ROW EXECUTE FUNCTION wallet_use_operator_launch();

-- On wallet_operator_message

CREATE OR REPLACE TRIGGER wallet_operator_message_is_kept BEFORE DELETE OR TRUNCATE ON wallet_operator_message
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_operator_message_begins BEFORE INSERT ON wallet_operator_message
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_operator_message();
CREATE OR REPLACE TRIGGER wallet_operator_message_moves BEFORE UPDATE ON wallet_operator_message
    FOR EACH ROW EXECUTE FUNCTION wallet_move_operator_message();

-- On wallet_operator_player

CREATE OR REPLACE TRIGGER wallet_operator_player_is_kept BEFORE DELETE OR TRUNCATE ON wallet_operator_player
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_operator_player_begins BEFORE INSERT ON wallet_operator_player
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_operator_player();
CREATE OR REPLACE TRIGGER wallet_operator_player_changes BEFORE UPDATE ON wallet_operator_player
    FOR EACH ROW EXECUTE FUNCTION wallet_keep_operator_player();

-- On wallet_exchange_rate

CREATE OR REPLACE TRIGGER wallet_exchange_rate_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_exchange_rate
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- On wallet_reserved

CREATE OR REPLACE TRIGGER wallet_reserved_identity BEFORE UPDATE OF key, player_id, amount, at ON wallet_reserved
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_reserved_is_kept BEFORE DELETE OR TRUNCATE ON wallet_reserved
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- On wallet_reversal

-- A journal is reversed once. A unique index on wallet_journal covers one month only, so this table
-- keeps the reversed journals: its primary key makes a second reversal wait and fail.
CREATE OR REPLACE TRIGGER wallet_reversal_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_reversal
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_reversal_is_written BEFORE INSERT ON wallet_reversal
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_other_writers();

-- On wallet_pasthold

CREATE OR REPLACE TRIGGER wallet_pasthold_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_pasthold
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- On wallet_statement_line

CREATE OR REPLACE TRIGGER wallet_statement_line_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_statement_line
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_statement_line_comes_with_it AFTER INSERT ON wallet_statement_line
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION wallet_demand_new_statement();

-- On wallet_studio_player

CREATE OR REPLACE TRIGGER wallet_studio_player_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_studio_player
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- On wallet_studio_transaction

CREATE OR REPLACE TRIGGER wallet_studio_transaction_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_studio_transaction
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_studio_transaction_begins BEFORE INSERT ON wallet_studio_transaction
    FOR EACH ROW EXECUTE FUNCTION wallet_begin_studio_transaction();
CREATE CONSTRAINT TRIGGER wallet_studio_transaction_is_booked AFTER INSERT ON wallet_studio_transaction
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wallet_check_studio_booked();

-- On wallet_webhook, wallet_webhook_delivery and wallet_webhook_try

CREATE OR REPLACE TRIGGER wallet_webhook_is_kept BEFORE DELETE OR TRUNCATE ON wallet_webhook
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_webhook_changes BEFORE UPDATE OF name, address, kinds ON wallet_webhook
    FOR EACH ROW EXECUTE FUNCTION wallet_change_webhook();
CREATE OR REPLACE TRIGGER wallet_webhook_delivery_is_kept BEFORE DELETE OR TRUNCATE ON wallet_webhook_delivery
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_webhook_try_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_webhook_try
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();

-- On wallet_withdrawal

CREATE OR REPLACE TRIGGER wallet_withdrawal_is_kept BEFORE DELETE OR TRUNCATE ON wallet_withdrawal
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
CREATE OR REPLACE TRIGGER wallet_withdrawal_begins BEFORE INSERT ON wallet_withdrawal
    FOR EACH ROW EXECUTE FUNCTION wallet_check_withdrawal();
CREATE OR REPLACE TRIGGER wallet_withdrawal_moves BEFORE UPDATE ON wallet_withdrawal
    FOR EACH ROW EXECUTE FUNCTION wallet_move_withdrawal();

-- On wallet_withdrawal_step

CREATE OR REPLACE TRIGGER wallet_withdrawal_step_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_withdrawal_step
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();
