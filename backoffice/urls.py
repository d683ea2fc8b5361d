"""URLs of the back office for games, players and money."""

from django.urls import path

from backoffice import chat, collusion, fairness, house_stop, incidents, notices, rounds
from backoffice.fairness import staff_randomness
from backoffice.money import deposits, exchange_rates, ledger, partners, provider_statements, withdrawals
from backoffice.players import identity
from backoffice.staff import api_access
from backoffice.support import conversations, letters
from backoffice.tables import actions, views
from backoffice.tables import change_request_views as asking
from backoffice.tables import versions as games

GAMES = [
    path("floor/", views.staff_floor, name="staff_floor"),
    path("floor/now/", views.staff_floor_now, name="staff_floor_now"),
    path("floor/<slug:key>/", views.staff_floor_table, name="staff_floor_table"),
    path("games/", games.staff_games, name="staff_games"),
    path("games/tables/<int:table_id>/", games.staff_game_table, name="staff_game_table"),
    path("games/schedule/<int:approval_id>/withdraw/", games.staff_schedule_withdraw, name="staff_schedule_withdraw"),
    path("games/<slug:variant>/", games.staff_game, name="staff_game"),
    path("incidents/", incidents.staff_incidents, name="staff_incidents"),
    path("incidents/<int:incident_id>/", incidents.staff_incident, name="staff_incident"),
    path("incidents/<int:incident_id>/note/", incidents.staff_incident_note, name="staff_incident_note"),
    path("incidents/<int:incident_id>/letter/", incidents.staff_incident_letter, name="staff_incident_letter"),
    path("incidents/<int:incident_id>/letters/", incidents.staff_incident_letters, name="staff_incident_letters"),
    path("incidents/<int:incident_id>/export/", incidents.staff_incident_export, name="staff_incident_export"),
    path("incidents/<int:incident_id>/ruling/", actions.staff_incident_rule, name="staff_incident_rule"),
    path("chat/", chat.staff_chat, name="staff_chat"),
    path("chat/log/", chat.staff_chat_log, name="staff_chat_log"),
    path("chat/<int:message_id>/", chat.staff_chat_message, name="staff_chat_message"),
    path("chat/<int:message_id>/decision/", chat.staff_chat_decide, name="staff_chat_decide"),
    path("chat/ban/<int:player_id>/", chat.staff_chat_ban, name="staff_chat_ban"),
    path("chat/name/<int:player_id>/", chat.staff_chat_name, name="staff_chat_name"),
    path("chat/lift/<int:ban_id>/", chat.staff_chat_lift, name="staff_chat_lift"),
    path("play/", collusion.staff_play, name="staff_play"),
    path("play/<int:first_id>/<int:second_id>/", collusion.staff_play_pair, name="staff_play_pair"),
    path("play/reports/", collusion.staff_play_reports, name="staff_play_reports"),
    path("play/reports/<int:report_id>/decision/", collusion.staff_play_decide, name="staff_play_decide"),
    path("randomness/", staff_randomness, name="staff_randomness"),
    path("returns/", fairness.staff_returns, name="staff_returns"),
    path("returns/<slug:variant>/", fairness.staff_returns_game, name="staff_returns_game"),
    path("returns/<slug:variant>/stop/", fairness.staff_returns_stop, name="staff_returns_stop"),
    path("rounds/", rounds.staff_rounds, name="staff_rounds"),
    path("rounds/<uuid:round_id>/", rounds.staff_round, name="staff_round"),
    path("rounds/<uuid:round_id>/report/", actions.staff_round_report, name="staff_round_report"),
    path("rounds/<uuid:round_id>/cancel/", actions.staff_round_cancel, name="staff_round_cancel"),
    path("stop/", house_stop.staff_stop, name="staff_stop"),
    path("stop/now/", house_stop.staff_stop_house, name="staff_stop_house"),
    path("stop/end/", house_stop.staff_stop_end, name="staff_stop_end"),
    path("tables/", views.staff_tables, name="staff_tables"),
    path("tables/new/", asking.staff_table_new, name="staff_table_new"),
    path("tables/close/", views.staff_tables_close, name="staff_tables_close"),
    path("tables/<int:table_id>/change/", asking.staff_table_change, name="staff_table_change"),
    path("tables/<int:table_id>/status/", views.staff_table_status, name="staff_table_status"),
    path("tables/<int:table_id>/chat/", views.staff_table_chat, name="staff_table_chat"),
    path("tables/live/<int:live_table_id>/reopen/", actions.staff_live_reopen, name="staff_live_reopen"),
    path("tables/live/<int:live_table_id>/break-up/", actions.staff_live_break_up, name="staff_live_break_up"),
]


PLAYERS = [
    path("duplicates/", identity.staff_duplicates, name="staff_duplicates"),
    path(
        "duplicates/<int:first_id>/<int:second_id>/",
        identity.staff_duplicate,
        name="staff_duplicate",
    ),
    path("identity/", identity.staff_identity, name="staff_identity"),
    path("identity/<int:submission_id>/", identity.staff_identity_case, name="staff_identity_case"),
    path("identity/<int:submission_id>/refuse/", identity.staff_identity_refuse, name="staff_identity_refuse"),
    path("identity/<int:submission_id>/verify/", identity.staff_identity_verify, name="staff_identity_verify"),
    path("documents/<uuid:document_id>/", identity.staff_document, name="staff_document"),
    path("notices/", notices.staff_notices, name="staff_notices"),
    path("notices/new/", notices.staff_notice_new, name="staff_notice_new"),
    path("notices/<int:notice_id>/withdraw/", notices.staff_notice_withdraw, name="staff_notice_withdraw"),
    path("api-tokens/", api_access.staff_api_tokens, name="staff_api_tokens"),
    path("api-tokens/new/", api_access.staff_api_token_new, name="staff_api_token_new"),
    path("api-tokens/<int:token_id>/revoke/", api_access.staff_api_token_revoke, name="staff_api_token_revoke"),
    path("replies/", letters.staff_replies, name="staff_replies"),
    path("replies/new/", letters.staff_reply_new, name="staff_reply_new"),
    path("replies/<slug:name>/", letters.staff_reply, name="staff_reply"),
    path("replies/<slug:name>/withdraw/", letters.staff_reply_withdraw, name="staff_reply_withdraw"),
    path("service/", conversations.staff_service, name="staff_service"),
    path("service/new/<int:player_id>/", conversations.staff_service_new, name="staff_service_new"),
    path("service/<int:conversation_id>/", conversations.staff_service_thread, name="staff_service_thread"),
    path("service/<int:conversation_id>/close/", conversations.staff_service_close, name="staff_service_close"),
    path("service/<int:conversation_id>/decide/", conversations.staff_complaint_decide, name="staff_complaint_decide"),
]


MONEY = [
    path("ledger/journals/<int:journal_id>/", ledger.staff_ledger_journal, name="staff_ledger_journal"),
    path("ledger/accounts/<int:account_id>/", ledger.staff_ledger_account, name="staff_ledger_account"),
    path("withdrawals/", withdrawals.staff_withdrawals, name="staff_withdrawals"),
    path("withdrawals/<int:withdrawal_id>/", withdrawals.staff_withdrawal, name="staff_withdrawal"),
    path(
        "withdrawals/<int:withdrawal_id>/decide/",
        withdrawals.staff_withdrawal_decide,
        name="staff_withdrawal_decide",
    ),
    path(
        "withdrawals/<int:withdrawal_id>/release/",
        withdrawals.staff_withdrawal_release,
        name="staff_withdrawal_release",
    ),
    path("deposits/", deposits.staff_deposits, name="staff_deposits"),
    path("deposits/<uuid:payment_id>/", deposits.staff_deposit, name="staff_deposit"),
    path("deposits/<uuid:payment_id>/ask/", deposits.staff_deposit_ask, name="staff_deposit_ask"),
    path("deposits/<uuid:payment_id>/note/", deposits.staff_deposit_note, name="staff_deposit_note"),
    path("deposits/<uuid:payment_id>/decide/", deposits.staff_deposit_decide, name="staff_deposit_decide"),
    path("operators/", partners.staff_operators, name="staff_operators"),
    path("operators/<int:message_id>/", partners.staff_operator_message, name="staff_operator_message"),
    path("operators/<int:message_id>/resend/", partners.staff_operator_resend, name="staff_operator_resend"),
    path("operators/<int:message_id>/settle/", partners.staff_operator_settle, name="staff_operator_settle"),
    path("webhooks/", api_access.staff_webhooks, name="staff_webhooks"),
    path("webhooks/new/", api_access.staff_webhook_new, name="staff_webhook_new"),
    path("webhooks/<int:webhook_id>/", api_access.staff_webhook, name="staff_webhook"),
    path("webhooks/<int:webhook_id>/change/", api_access.staff_webhook_change, name="staff_webhook_change"),
    path("webhooks/<int:webhook_id>/secret/", api_access.staff_webhook_secret, name="staff_webhook_secret"),
    path("webhooks/<int:webhook_id>/switch/", api_access.staff_webhook_switch, name="staff_webhook_switch"),
    path("webhooks/deliveries/<int:delivery_id>/resend/", api_access.staff_webhook_resend, name="staff_webhook_resend"),
    path("partners/", partners.staff_partners, name="staff_partners"),
    path("partners/new/", partners.staff_partner_new, name="staff_partner_new"),
    path("partners/<int:partner_id>/key/", partners.staff_partner_key, name="staff_partner_key"),
    path("partners/<int:partner_id>/off/", partners.staff_partner_off, name="staff_partner_off"),
    path("partners/keys/<int:key_id>/show/", partners.staff_partner_key_show, name="staff_partner_key_show"),
    path("partners/keys/<int:key_id>/end/", partners.staff_partner_key_end, name="staff_partner_key_end"),
    path("exchange-rates/", exchange_rates.staff_exchange_rates, name="staff_exchange_rates"),
    path("statements/", provider_statements.staff_statements, name="staff_statements"),
    path("statements/upload/", provider_statements.staff_statement_upload, name="staff_statement_upload"),
    path("statements/draft/<uuid:draft_id>/", provider_statements.staff_statement_draft, name="staff_statement_draft"),
    path(
        "statements/draft/<uuid:draft_id>/confirm/",
        provider_statements.staff_statement_confirm,
        name="staff_statement_confirm",
    ),
    path(
        "statements/draft/<uuid:draft_id>/discard/",
        provider_statements.staff_statement_discard,
        name="staff_statement_discard",
    ),
    path("statements/<int:statement_id>/", provider_statements.staff_statement, name="staff_statement"),
    path(
        "statements/<int:statement_id>/statement.<slug:name>",
        provider_statements.staff_statement_file,
        name="staff_statement_file",
    ),
    path(
        "statements/<int:statement_id>/differences/<int:difference_id>/",
        provider_statements.staff_difference_note,
        name="staff_difference_note",
    ),
]

urlpatterns = [*GAMES, *PLAYERS, *MONEY]
