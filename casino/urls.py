"""URL configuration: pages for players with a language prefix; back office, API and machine endpoints without."""

from django.conf.urls.i18n import i18n_patterns
from django.urls import include, path

from accounts import protection_views
from accounts.views import Register, account_close, account_data, account_data_export
from backoffice import navigation
from backoffice.audit import access_log, approvals, event_log, national_rules, reports, significant
from backoffice.audit.event_log import log_state
from backoffice.dashboard import queues
from backoffice.dashboard import views as staff_dashboard
from backoffice.lists import saved
from backoffice.money.ledger import ledger
from backoffice.players import actions, case_page, cases, profile, protection, search, timeline
from backoffice.rounds import id_for_code
from backoffice.staff import handbook, staff_accounts
from casino import api, public_log, views
from casino.styleguide import styleguide
from games.tables.felt_sheet import felt_sheet
from ops.metrics import metrics
from players.access import staff_required
from players.demo import outbox
from players.staff.access_log import listed
from wallet.payments import views as payments
from wallet.payments.views import payout_callback
from wallet.sandbox_bank.views import bank_statement

urlpatterns = [
    # Django tries one pattern after another, so the addresses of clicks come first.
    *i18n_patterns(
        path("", include("games.urls")),
        path("offline/", views.offline, name="offline"),
        path("log/", public_log.public_log, name="public_log"),
        path("account/register/", Register.as_view(), name="account_signup"),
        path("account/close/", account_close, name="account_close"),
        path("account/data/", account_data, name="account_data"),
        path("account/data/sabot.zip", account_data_export, name="account_data_export"),
        path("protection/", protection_views.protection, name="protection"),
        path("protection/pause/", protection_views.pause, name="pause"),
        path("protection/time-out/", protection_views.time_out, name="time_out"),
        path("protection/exclusion/", protection_views.exclude_self, name="exclude_self"),
        path("protection/interval/", protection_views.reality_interval, name="reality_interval"),
        path("protection/check/", protection_views.reality_check, name="reality_check"),
        path("", include("players.urls")),
        path("", include("wallet.urls")),
    ),
    path("", views.home, name="home"),
    path("healthz", views.health, name="health"),
    path("readyz", views.ready, name="ready"),
    path("metrics", metrics, name="metrics"),
    path("log/checkpoint", public_log.log_checkpoint, name="log_checkpoint"),  # as C2SP tlog-tiles names them
    path("log/tile/<str:level>/<path:tile>", public_log.log_tile, name="log_tile"),
    path("service-worker.js", views.service_worker, name="service_worker"),
    path("felt/<slug:digest>.css", felt_sheet, name="felt_sheet"),
    path("api/schema/", api.api_schema, name="api_schema"),
    path("api/docs/", api.api_docs, name="api_docs"),
    path("api/problems/", api.api_problems, name="api_problems"),
    path("api/problems/<slug:code>/", api.api_problem, name="api_problem"),
    path("api/v1/", include("casino.api")),
    path("pay/payouts/", payout_callback, name="payout_callback"),
    path("pay/callback/<slug:provider>/", payments.pay_callback, name="pay_callback"),
    path("pay/return/<uuid:token>/", payments.pay_return, name="pay_return"),
    path("demo/outbox/", outbox, name="demo_outbox"),
    path("demo/bank/statement.csv", bank_statement, name="demo_bank_statement"),
    path("styleguide/", styleguide, name="styleguide"),
    path("staff/", queues.staff_home, name="staff_home"),
    path("staff/search/", search.staff_search, name="staff_search"),
    path("staff/roles/", navigation.staff_roles, name="staff_roles"),
    path("staff/dashboard/", staff_dashboard.staff_dashboard, name="staff_dashboard"),
    path("staff/dashboard/now/", staff_dashboard.staff_dashboard_now, name="staff_dashboard_now"),
    path("staff/handbook/", handbook.staff_handbook, name="staff_handbook"),
    path("staff/lists/", include("backoffice.lists.index")),
    path("staff/filters/save/", saved.staff_filter_save, name="staff_filter_save"),
    path("staff/filters/<int:filter_id>/delete/", saved.staff_filter_delete, name="staff_filter_delete"),
    path("staff/columns/", saved.staff_columns, name="staff_columns"),
    # Permissions for the event log are set here because the audit app knows no users. Neither it
    # nor the ledger knows the codes of rounds.
    path("staff/events/", event_log.staff_events, name="staff_events"),
    path(
        "staff/ledger/",
        staff_required("wallet.view_ledger")(listed("ledger")(id_for_code("round")(ledger))),
        name="staff_ledger",
    ),
    path("staff/events/<int:event_id>/proof/", event_log.staff_event_proof, name="staff_event_proof"),
    path("staff/log/", staff_required("audit.view_event")(log_state), name="staff_log"),
    path("staff/log/export/", event_log.staff_log_export, name="staff_log_export"),
    path("staff/access-log/", access_log.staff_access_log, name="staff_access_log"),
    path("staff/access-log/access-log.csv", access_log.staff_access_log_file, name="staff_access_log_file"),
    path("staff/retention/", event_log.staff_retention, name="staff_retention"),
    path("staff/rules/", national_rules.staff_rules, name="staff_rules"),
    path("staff/rules/<slug:code>/<slug:rule>/", national_rules.staff_rule_change, name="staff_rule_change"),
    path("staff/reports/", reports.staff_reports, name="staff_reports"),
    path("staff/reports/schedules/", reports.staff_report_schedules, name="staff_report_schedules"),
    path("staff/reports/<slug:kind>/schedule/", reports.staff_report_plan, name="staff_report_plan"),
    path("staff/reports/<int:report_id>/", reports.staff_report, name="staff_report"),
    path("staff/reports/<int:report_id>/state/", reports.staff_report_state, name="staff_report_state"),
    path("staff/reports/<int:report_id>/retry/", reports.staff_report_retry, name="staff_report_retry"),
    path("staff/reports/<int:report_id>/report.<slug:name>", reports.staff_report_file, name="staff_report_file"),
    path("staff/reports/<slug:kind>/", reports.staff_report_ask, name="staff_report_ask"),
    path("staff/significant/", significant.staff_significant, name="staff_significant"),
    path("staff/significant/mail/", significant.staff_significant_mail, name="staff_significant_mail"),
    path("staff/significant/thresholds/", significant.staff_thresholds, name="staff_thresholds"),
    path(
        "staff/significant/<int:significant_id>/",
        significant.staff_significant_event,
        name="staff_significant_event",
    ),
    path(
        "staff/significant/<int:significant_id>/step/",
        significant.staff_significant_step,
        name="staff_significant_step",
    ),
    path("staff/limits/", search.staff_limits, name="staff_limits"),
    path("staff/cases/", cases.staff_cases, name="staff_cases"),
    path("staff/cases/<int:case_id>/", case_page.staff_case, name="staff_case"),
    path("staff/cases/<int:case_id>/act/", case_page.staff_case_act, name="staff_case_act"),
    path("staff/cases/<int:case_id>/document/", case_page.staff_case_document, name="staff_case_document"),
    path("staff/cases/<int:case_id>/contact/", case_page.staff_case_contact, name="staff_case_contact"),
    path("staff/players/<int:player_id>/funds/", case_page.staff_player_funds, name="staff_player_funds"),
    path("staff/people/", staff_accounts.staff_people, name="staff_people"),
    path("staff/people/new/", staff_accounts.staff_person_new, name="staff_person_new"),
    path("staff/people/<int:staff_id>/", staff_accounts.staff_person, name="staff_person"),
    path("staff/people/<int:staff_id>/ask/<slug:action>/", staff_accounts.staff_person_ask, name="staff_person_ask"),
    path("staff/players/", search.staff_players, name="staff_players"),
    path("staff/players/<int:player_id>/", profile.staff_player, name="staff_player"),
    path("staff/players/<int:player_id>/money/", profile.staff_player_money, name="staff_player_money"),
    path(
        "staff/players/<int:player_id>/payments/",
        profile.staff_player_payments,
        name="staff_player_payments",
    ),
    path(
        "staff/players/<int:player_id>/sessions/",
        profile.staff_player_sessions,
        name="staff_player_sessions",
    ),
    path("staff/players/<int:player_id>/export/", actions.staff_player_export, name="staff_player_export"),
    path("staff/players/<int:player_id>/erase/", actions.staff_player_erase, name="staff_player_erase"),
    path("staff/players/<int:player_id>/timeline/", timeline.staff_player_timeline, name="staff_player_timeline"),
    path("staff/players/<int:player_id>/tags/", timeline.staff_player_tag, name="staff_player_tag"),
    path("staff/tags/", timeline.staff_tags, name="staff_tags"),
    path("staff/players/<int:player_id>/notes/", profile.staff_player_notes, name="staff_player_notes"),
    path("staff/players/<int:player_id>/borrowed/", actions.staff_player_borrowed, name="staff_player_borrowed"),
    path("staff/players/<int:player_id>/lock/", actions.staff_player_lock, name="staff_player_lock"),
    path("staff/players/<int:player_id>/unlock/", actions.staff_player_unlock, name="staff_player_unlock"),
    path("staff/players/<int:player_id>/pause/", actions.staff_player_pause, name="staff_player_pause"),
    path("staff/players/<int:player_id>/adjust/", actions.staff_player_adjust, name="staff_player_adjust"),
    path("staff/players/<int:player_id>/limits/", protection.staff_player_limits, name="staff_player_limits"),
    path("staff/approvals/", approvals.staff_approvals, name="staff_approvals"),
    path("staff/approvals/<int:approval_id>/", approvals.staff_approval, name="staff_approval"),
    path("staff/approvals/<int:approval_id>/decide/", approvals.staff_approval_decide, name="staff_approval_decide"),
    path(
        "staff/approvals/<int:approval_id>/withdraw/",
        approvals.staff_approval_withdraw,
        name="staff_approval_withdraw",
    ),
    path("staff/exclusions/", protection.staff_exclusions, name="staff_exclusions"),
    path("staff/exclusions/<int:exclusion_id>/lift/", protection.staff_exclusion_lift, name="staff_exclusion_lift"),
    path("staff/", include("backoffice.urls")),
]

handler400 = "casino.views.bad_request"
handler429 = "casino.views.too_often"  # allauth's name for its rate limit response
handler404 = "casino.views.not_found"
handler500 = "casino.views.fault"
