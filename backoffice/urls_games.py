"""URLs of the back office for tables, rounds, incidents and chat, under ``/staff/``."""

from django.urls import path

from backoffice import chat, collusion, fairness, house_stop, incidents, rounds
from backoffice.fairness import staff_randomness
from backoffice.tables import actions, views
from backoffice.tables import change_request_views as asking
from backoffice.tables import versions as games

urlpatterns = [
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
