"""URL patterns of the players' pages of games; the page of a table by its shape."""

from django.http import HttpResponse
from django.urls import include, path, register_converter
from django.views.decorators.http import require_safe

from games import operators
from games.chemin.collusion import player_reports
from games.chemin.pages import views as chemin
from games.chemin.pages.views import chemin_page
from games.demo import views as demo
from games.history import fairness_views, panels
from games.history import fairness_views as fair_views
from games.history import views as history_views
from games.history.statement import views as statement
from games.lobby import multi_table, views
from games.models import Shape, Table
from games.shared.favourites import views as favourite_views
from games.shared.pages import statistics, stream_tokens
from games.shared.pages import views as live
from games.shared.pages.views import live_page
from games.solo import views as solo_views
from games.solo.views import solo_page
from games.tables.access import at_a_playable_table
from players.access import PlayerRequest, player_required
from wallet.models import Mode


class ModeConverter:
    """Path converter between the word in the URL and the mode of the ledger."""

    regex = "real|free"

    def to_python(self, value: str) -> Mode:
        """Return the mode of a word."""
        return Mode[value.upper()]

    def to_url(self, value: Mode) -> str:
        """Return the word of a mode."""
        return Mode(value).name.lower()


register_converter(ModeConverter, "mode")
register_converter(multi_table.PositionsConverter, "positions")


PAGES = {Shape.SOLO: solo_page, Shape.SHARED: live_page, Shape.CHEMIN: chemin_page}


@player_required
@require_safe
@at_a_playable_table
def table(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Show the page of a table, or the reason why the player may not play."""
    return PAGES[Shape(found.shape)](request, found, mode)


urlpatterns = [
    path("table/<slug:slug>/<mode:mode>/play/", solo_views.table_play, name="table_play"),
    path("table/<slug:slug>/<mode:mode>/play/now/", solo_views.table_now, name="table_now"),
    path("table/<slug:slug>/<mode:mode>/bet/", live.live_bet, name="live_bet"),
    path("", views.lobby, name="lobby"),
    path("lobby/now/", views.lobby_now, name="lobby_now"),
    path("lobby/favourite/<slug:slug>/", views.favourite_table, name="favourite_table"),
    path("house/now/", stream_tokens.house_now, name="house_now"),
    path("table/<slug:slug>/<mode:mode>/", table, name="table"),
    path("table/<slug:slug>/<mode:mode>/balance/", operators.operator_balance, name="operator_balance"),
    path("table/<slug:slug>/<mode:mode>/cut/", live.live_cut, name="live_cut"),
    path("table/<slug:slug>/<mode:mode>/squeeze/", live.live_squeeze, name="live_squeeze"),
    path("table/<slug:slug>/<mode:mode>/now/", live.live_now, name="live_now"),
    path("table/<slug:slug>/<mode:mode>/watch/", live.live_watch, name="live_watch"),
    path("table/<slug:slug>/<mode:mode>/act/", chemin.chemin_act, name="chemin_act"),
    path("table/<slug:slug>/<mode:mode>/seat/", chemin.chemin_seat, name="chemin_seat"),
    path("table/<slug:slug>/<mode:mode>/chemin/now/", chemin.chemin_now, name="chemin_now"),
    path("table/<slug:slug>/<mode:mode>/report/", player_reports.chemin_report, name="chemin_report"),
    path("table/<slug:slug>/<mode:mode>/statistics/", statistics.live_statistics, name="live_statistics"),
    path("table/<slug:slug>/<mode:mode>/chips/", live.live_chips, name="live_chips"),
    path("table/<slug:slug>/<mode:mode>/favourites/", favourite_views.live_favourites, name="live_favourites"),
    path("table/<slug:slug>/<mode:mode>/panel/cashier/top-up/", panels.live_top_up, name="live_top_up"),
    path(
        "table/<slug:slug>/<mode:mode>/panel/history/<uuid:round_id>/", panels.live_panel_round, name="live_panel_round"
    ),
    path("table/<slug:slug>/<mode:mode>/panel/<slug:name>/", panels.live_panel, name="live_panel"),
    path("table/<slug:slug>/<mode:mode>/panel/<slug:name>/now/", panels.live_panel_now, name="live_panel_now"),
    path("table/<slug:slug>/<mode:mode>/chat/", include("games.chat.views")),
    path("table/<slug:slug>/<mode:mode>/framed/", multi_table.live_framed, name="live_framed"),
    path("multi-table/<positions:positions>/", multi_table.multi_table, name="multi_table"),
    path("multi-table/<positions:positions>/add/", multi_table.add_table, name="multi_table_add"),
    path("table/<slug:slug>/<mode:mode>/re-buy/", solo_views.table_rebuy, name="table_rebuy"),
    path("table/<slug:slug>/<mode:mode>/leave/", solo_views.table_leave, name="table_leave"),
    path("demo/<slug:slug>/", demo.demo_table, name="demo_table"),
    path("demo/<slug:slug>/start/", demo.demo_start, name="demo_start"),
    path("demo/<slug:slug>/play/", demo.demo_play, name="demo_play"),
    path("demo/<slug:slug>/watch/", demo.demo_watch, name="demo_watch"),
    path("enter/<slug:code>/", operators.operator_enter, name="operator_enter"),
    path("history/", history_views.history, name="history"),
    path("history/rounds.csv", history_views.history_csv, name="history_csv"),
    path("history/<uuid:round_id>/", history_views.round_replay, name="round"),
    path("history/<uuid:round_id>/proof.json", history_views.round_proof, name="round_proof"),
    path("history/<uuid:round_id>/proof.html", history_views.round_checker, name="round_checker"),
    path("history/<uuid:round_id>/receipt.json", fairness_views.round_receipt, name="round_receipt"),
    path("history/<uuid:round_id>/round.tlog-proof", fairness_views.round_log_proof, name="round_log_proof"),
    path("history/receipts.json", fairness_views.round_receipts, name="round_receipts"),
    path("cashier/statement/", statement.statement, name="statement"),
    path("cashier/statement/statement.csv", statement.statement_csv, name="statement_csv"),
    path("cashier/statement/statement.pdf", statement.statement_pdf, name="statement_pdf"),
    path("service/new/", history_views.service_new, name="service_new"),
    path("fair/", fair_views.fair, name="fair"),
    path("fair/shoe/<uuid:shoe_id>/", fair_views.shoe, name="shoe"),
    path("fair/shoe/<uuid:shoe_id>/proof.json", fair_views.shoe_proof, name="shoe_proof"),
    path("fair/shoe/<uuid:shoe_id>/proof.html", fair_views.shoe_checker, name="shoe_checker"),
    path("fair/checker/", fair_views.checker_page, name="checker"),
    path("help/", views.help_index, name="help"),
    path("help/<slug:slug>/", views.rules, name="rules"),
]
