"""API URLs of tables and games."""

from django.urls import path

from games import urls as urls_of_pages  # noqa: F401  (it registers the converter "mode")
from games.api import history, live_table_access, live_tables, rules, solo, stream, tables
from games.operators import operator_launch

urlpatterns = [
    path("games/", rules.Games.as_view(), name="games"),
    path("games/<slug:variant>/rules/", rules.Rules.as_view(), name="game_rules"),
    path("games/<slug:variant>/odds/", rules.Odds.as_view(), name="game_odds"),
    path("tables/", tables.Tables.as_view(), name="tables"),
    path("tables/<slug:slug>/<mode:mode>/", tables.OneTable.as_view(), name="table"),
    path("tables/<slug:slug>/<mode:mode>/solo-seat/", solo.SoloTable.as_view(), name="solo_seat"),
    path("tables/<slug:slug>/<mode:mode>/solo-seat/chips/", solo.SoloChip.as_view(), name="solo_seat_chip"),
    path("tables/<slug:slug>/<mode:mode>/solo-seat/changes/", solo.SoloChange.as_view(), name="solo_seat_change"),
    path("tables/<slug:slug>/<mode:mode>/solo-seat/deal/", solo.SoloDeal.as_view(), name="solo_seat_deal"),
    path("tables/<slug:slug>/<mode:mode>/purse/re-buy/", solo.Rebuy.as_view(), name="purse_rebuy"),
    path("tables/<slug:slug>/<mode:mode>/purse/leave/", solo.Leave.as_view(), name="purse_leave"),
    path("tables/<slug:slug>/<mode:mode>/rounds/", solo.Rounds.as_view(), name="round_play"),
    path("tables/<slug:slug>/<mode:mode>/state/", live_table_access.TableState.as_view(), name="table_state"),
    path("tables/<slug:slug>/<mode:mode>/stream/", stream.Stream.as_view(), name="table_stream"),
    path("tables/<slug:slug>/<mode:mode>/seat/", live_tables.Seat.as_view(), name="seat"),
    path("tables/<slug:slug>/<mode:mode>/bets/", live_tables.Bets.as_view(), name="bet"),
    path("tables/<slug:slug>/<mode:mode>/bets/changes/", live_tables.BetChanges.as_view(), name="bet_change"),
    path("tables/<slug:slug>/<mode:mode>/bets/slip/", live_tables.BetSlip.as_view(), name="bet_slip"),
    path("tables/<slug:slug>/<mode:mode>/cut/digest/", live_tables.Digest.as_view(), name="cut_digest"),
    path("tables/<slug:slug>/<mode:mode>/cut/value/", live_tables.Value.as_view(), name="cut_value"),
    path("operators/launch/", operator_launch, name="operator_launch"),
    path("rounds/", history.RoundsPlayed.as_view(), name="rounds"),
    path("rounds/playing/", history.RoundsPlaying.as_view(), name="rounds_playing"),
    path("rounds/<uuid:round_id>/receipt/", history.RoundReceipt.as_view(), name="round_receipt"),
    path("rounds/<uuid:round_id>/log-proof/", history.RoundLogProof.as_view(), name="round_log_proof"),
    path("rounds/<uuid:round_id>/", history.OneRound.as_view(), name="round"),
]
