"""Database privileges of the login role of web and workers: only what they need.

``manage.py migrate`` applies them as the owner, after the migrations. The embedded server's setup
or ``manage.py create_roles`` creates the roles.
"""

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

APP_ROLE = "sabot_app"

ORDINARY = "SELECT, INSERT, UPDATE, DELETE"

# Tables with restricted privileges. Only functions write money and events. Roles and jurisdictions
# are read-only, and staff have permissions only by role. Identities and history are inserted and
# never changed. Logins, tables and seats are never deleted.
RIGHTS = {
    "audit_event": "SELECT",
    "audit_pending": "SELECT",
    "audit_personal": "SELECT",
    "audit_leaf": "SELECT",
    "audit_tile": "SELECT, INSERT, UPDATE (hashes)",
    "audit_checkpoint": "SELECT, INSERT",
    "audit_delivery": "SELECT, INSERT",
    "audit_approval": "SELECT, INSERT",
    "audit_decision": "SELECT, INSERT",
    "audit_retention": "SELECT",
    "audit_watermark": "SELECT, INSERT, DELETE",
    "audit_rolled": "SELECT, INSERT",
    "audit_report": "SELECT, INSERT, UPDATE (state, tries, done, of, changed_at, made_at, head, failure, digests)",
    "audit_report_page": "SELECT, INSERT, DELETE",
    "audit_report_part": "SELECT, INSERT, DELETE",
    "audit_significant": "SELECT, INSERT, UPDATE (state, assigned_to, mailed_at)",
    "audit_significant_step": "SELECT, INSERT",
    "audit_significant_muted": "SELECT, INSERT, DELETE",
    "audit_threshold": "SELECT, INSERT, UPDATE (single, summed, days)",
    "audit_pulse": "SELECT, INSERT, UPDATE (at)",
    "audit_cursor": "SELECT, INSERT, UPDATE (leaves)",
    "django_migrations": "SELECT",
    "sql_object": "SELECT",
    "django_content_type": "SELECT",
    "auth_permission": "SELECT",
    "auth_group": "SELECT",
    "auth_group_permissions": "SELECT",
    "ledger_verification": "",
    "ledger_checkpoint": "",
    "wallet_account": "SELECT, UPDATE (lock_only)",
    "wallet_journal": "SELECT",
    "wallet_entry": "SELECT",
    "wallet_posting_key": "SELECT",
    "wallet_reversal": "SELECT",
    "wallet_payment": "SELECT, INSERT, UPDATE",
    "wallet_payment_notice": "SELECT, INSERT",
    "wallet_bank_order": "SELECT, INSERT, UPDATE",
    "wallet_bank_notice": "SELECT, INSERT, UPDATE",
    "wallet_bank_payout": "SELECT, INSERT, UPDATE",
    "wallet_bank_payout_notice": "SELECT, INSERT, UPDATE",
    "wallet_adjustment": "SELECT",
    "wallet_day": "SELECT",
    "wallet_hold": "SELECT",
    "wallet_housestop": "SELECT, INSERT, UPDATE (ended_at, ended_by_id, ended_reason)",
    "wallet_ledgerhourlytotal": "SELECT, INSERT",
    "wallet_operator_player": "SELECT, INSERT, UPDATE (balance, said_at)",
    "wallet_operator_launch": "SELECT, INSERT, UPDATE (used_at, session)",
    "wallet_operator_bet": "SELECT, INSERT, UPDATE (state, why, ended_at, reference)",
    "wallet_operator_message": "SELECT, INSERT, UPDATE (state, due_at, tries, said, reference, alarmed_at, ended_at, "
    "settled_by_id, note)",
    "wallet_partner": "SELECT, INSERT, UPDATE (off_at, off_by_id)",
    "wallet_partner_key": "SELECT, INSERT, UPDATE (shown_at, used_at, ended_at)",
    "wallet_studio_player": "SELECT, INSERT",
    "wallet_game_session": "SELECT, INSERT",
    "wallet_studio_transaction": "SELECT, INSERT",
    "wallet_accountsnapshot": "SELECT, INSERT",
    "wallet_reserved": "SELECT",
    "wallet_statement_draft": "SELECT, INSERT, DELETE",
    "wallet_provider_statement": "SELECT, INSERT",
    "wallet_statement_line": "SELECT, INSERT",
    "wallet_difference": "SELECT, INSERT",
    "wallet_difference_step": "SELECT, INSERT",
    "wallet_deposit_note": "SELECT, INSERT",
    "wallet_withdrawal": "SELECT, INSERT, UPDATE (status)",
    "wallet_withdrawal_step": "SELECT, INSERT",
    "wallet_payout_account": "SELECT, INSERT",
    "wallet_payout_notice": "SELECT, INSERT",
    "players_jurisdiction": "SELECT",
    "players_limitchange": "SELECT",
    "players_limitoffer": "SELECT",
    "players_user": "SELECT, INSERT, UPDATE (password, email, last_login, language)",
    "players_credential": "",
    "players_credential_key": "",
    "players_credential_permit": "",
    "players_user_user_permissions": "SELECT",
    "account_emailconfirmation": "SELECT, DELETE",
    "players_mail": "SELECT, INSERT, UPDATE",
    "players_log_in_lock": "SELECT, INSERT, UPDATE, DELETE",
    "players_conversation": "SELECT, INSERT, UPDATE (state, verdict, is_unread, changed_at, assigned_to_id, due_at, "
    "ended_at, reopen_until), DELETE",
    "players_complaint_step": "SELECT, INSERT, DELETE",
    "players_servicemessage": "SELECT, INSERT, DELETE",
    "players_player": "SELECT, INSERT",
    "players_staff": "SELECT",
    "players_staff_change": "SELECT",
    "players_user_groups": "SELECT",
    "players_agreement": "SELECT, INSERT",
    "players_closure": "SELECT",
    "players_session": "SELECT, INSERT, UPDATE (ip, browser, acted_at, ended_at, why)",
    "players_api_token": "SELECT, INSERT, UPDATE (name, used_at, used_from, revoked_at, session_id)",
    "players_submission": "SELECT, INSERT, UPDATE",
    "players_document": "SELECT, INSERT",
    "players_documentcontent": "SELECT, INSERT, DELETE",
    "players_trait": "SELECT, INSERT, DELETE",
    "players_duplicate": "SELECT, INSERT, UPDATE (resolution, resolved_by_id, resolved_at, note)",
    "players_accountlock": "SELECT, INSERT",
    "players_approval_notification": "SELECT, INSERT, DELETE",
    "players_exclusion": "SELECT, INSERT",
    "players_exclusionlift": "SELECT, INSERT",
    "players_registercheck": "SELECT, INSERT",
    "players_realitycheck": "SELECT",
    "players_playsession": "SELECT",
    "players_playtime": "SELECT",
    "players_flag": "SELECT, INSERT, UPDATE (closed_at, closed_by_id, outcome, note)",
    "players_sighting": "SELECT, INSERT",
    "players_contact": "SELECT, INSERT",
    "players_marker_scan": "SELECT, INSERT",
    "players_note": "SELECT, INSERT",
    "players_searchword": "SELECT, INSERT, DELETE",
    "players_reply_template": "SELECT, INSERT",
    "players_reply_withdrawal": "SELECT, INSERT",
    "players_api_call": "SELECT, INSERT, UPDATE (status, body), DELETE",
    "players_notice": "SELECT, INSERT, UPDATE (withdrawn_at, withdrawn_by_id, reason)",
    "games_table": "SELECT, INSERT, UPDATE",
    "games_tableversion": "SELECT",
    "games_rulesversion": "SELECT",
    "games_scheduledversion": "SELECT, INSERT",
    "games_scheduleending": "SELECT, INSERT",
    "games_betcombinations": "SELECT",
    "games_highestodds": "SELECT",
    "games_soloseat": (
        "SELECT, UPDATE (slip, slip_version, undo, unseen, last_chip, player_value, idempotency_keys, used_at)"
    ),
    "games_opentable": "SELECT, INSERT, UPDATE",
    "games_replaydue": "SELECT",
    "games_round": "SELECT",
    "games_participation": "SELECT",
    "games_wager": "SELECT",
    "games_void": "SELECT, INSERT",
    "games_voidpart": "SELECT, INSERT",
    "games_voidnotice": "SELECT, INSERT",
    "games_incident": "SELECT, INSERT",
    "games_incidentruling": "SELECT, INSERT",
    "games_incidentnote": "SELECT, INSERT",
    "games_incidentletter": "SELECT, INSERT",
    "games_lettercopy": "SELECT, INSERT",
    "games_letterend": "SELECT, INSERT",
    "games_livetable": "SELECT, UPDATE (lock_only)",
    "games_shoe": "SELECT, UPDATE (lock_only)",
    "games_liveround": "SELECT, UPDATE (lock_only)",
    "games_liveseat": "SELECT",
    "games_livetotal": "SELECT",
    "games_chatname": "SELECT, INSERT, UPDATE (name, chosen_at)",
    "games_chatnametaken": "SELECT, INSERT",
    "games_chatmessage": "SELECT, INSERT, UPDATE (removed_at, removed_by, removed_for, removed_note), DELETE",
    "games_chatblock": "SELECT, INSERT, DELETE",
    "games_chatreport": "SELECT, INSERT, UPDATE (decision, decided_by, decided_at), DELETE",
    "games_chatban": "SELECT, INSERT, UPDATE (lifted_at, lifted_by)",
    "games_chemintable": "SELECT",
    "games_cheminseat": "SELECT",
    "games_chemintenure": "SELECT",
    "games_chemincoup": "SELECT",
    "games_cheminstake": "SELECT",
    "games_cheminmove": "SELECT",
    "games_gamehourlytotal": "SELECT, INSERT",
    "games_bethourlytotal": "SELECT, INSERT",
    "games_evidence": "SELECT, INSERT",
    "games_returnsalarm": "SELECT, INSERT",
    "games_stoppolicy": "SELECT, INSERT, UPDATE (stops, by, reason, at)",
    "games_cardhourlytotal": "SELECT, INSERT",
    "games_shufflehourlytotal": "SELECT, INSERT",
    "games_playreport": "SELECT, INSERT, UPDATE (finding, note, decided_by, decided_at)",
}

# Functions that the role may call. They check their arguments and run as the owner.
FUNCTIONS = (
    "audit_record",
    "audit_seal",
    "audit_keep_months",
    "audit_count_months",
    "audit_keep_for",
    "audit_expire",
    "games_lock_solo_seat",
    "games_take_solo_seat",
    "games_finish_solo_round",
    "games_take_seat",
    "games_place_bets",
    "games_is_click_done",
    "games_settle_live_round",
    "games_store_void_round",
    "games_record_settled",
    "games_store_move",
    "games_finish_coup",
    "games_note_home",
    "games_clear_table",
    "games_add_chemin_table",
    "games_keep_away_seats",
    "games_next_replays",
    "games_is_replay_due",
    "games_request_replay",
    "games_end_replays",
    "wallet_post",
    "wallet_reverse",
    "wallet_adjust",
    "wallet_begin_verification",
    "wallet_verify_next",
    "wallet_verify_totals",
    "wallet_credit_deposit",
    "wallet_top_up",
    "wallet_open_account",
    "wallet_open_table_account",
    "players_staff_execute",
    "players_is_proven",
    "players_credential_message",
    "players_permit_change",
    "players_use_permit",
    "players_begin_closure",
    "players_finish_closure",
    "players_reopen_log_in",
    "players_forget",
    "players_forget_flags",
    "players_forget_notes",
    "games_forget_chat",
    "games_forget_reports",
    "wallet_reserve",
    "wallet_release",
    "wallet_forget_accounts",
    "wallet_forget_operator_player",
    "wallet_hold",
    "wallet_release_holds",
    "players_change_limit",
    "games_open_shoe",
    "games_draw_cards",
    "games_end_shoe",
    "games_open_round",
    "games_take_bets_again",
    "games_close_bets",
    "games_deal_round",
    "games_finish_round",
    "games_end_void",
    "games_move_coup",
    "games_ask_again",
    "games_stop_table",
    "games_reopen_table",
    "games_add_live_table",
    "games_add_table_version",
    "games_add_rules_version",
    "players_answer_limit_offer",
    "players_begin_play_session",
    "players_answer_check",
    "players_choose_check_interval",
)


def apply_privileges(database: BaseDatabaseWrapper) -> None:
    """Grant exactly the declared privileges on every existing table and revoke all others;
    *database* is the owner's connection.
    """
    with database.cursor() as cursor:
        tables = database.introspection.table_names(cursor)
        cursor.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {APP_ROLE}")
        cursor.execute(f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM {APP_ROLE}")
        cursor.execute(f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM {APP_ROLE}")
        cursor.execute(f"GRANT USAGE ON SCHEMA public TO {APP_ROLE}")
        for table in sorted(tables):
            rights = RIGHTS.get(table, ORDINARY)
            if rights:
                cursor.execute(f'GRANT {rights} ON TABLE "{table}" TO {APP_ROLE}')
            if "INSERT" in rights:
                _grant_sequences(cursor, table)
        for name in FUNCTIONS:
            cursor.execute(
                "SELECT oid::regprocedure::text FROM pg_proc"
                " WHERE proname = %s AND pronamespace = 'public'::regnamespace",
                [name],
            )
            for (signature,) in cursor.fetchall():
                cursor.execute(f"GRANT EXECUTE ON FUNCTION {signature} TO {APP_ROLE}")


def _grant_sequences(cursor: CursorWrapper, table: str) -> None:
    """Grant the use of a table's sequences: identity columns need it."""
    cursor.execute(
        """SELECT pg_get_serial_sequence(quote_ident(table_name), column_name) FROM information_schema.columns
           WHERE table_schema = 'public' AND table_name = %s AND pg_get_serial_sequence(quote_ident(table_name),
           column_name) IS NOT NULL""",
        [table],
    )
    for (sequence,) in cursor.fetchall():
        cursor.execute(f"GRANT USAGE ON SEQUENCE {sequence} TO {APP_ROLE}")
