"""URLs of the compliance API.

The addresses below ``log/`` follow C2SP tlog-tiles and do not end in a slash.
"""

from django.urls import path

from backoffice.api.events import EventProof, Events, OneEvent, SignificantEvents
from backoffice.api.log import Checkpoints, Consistency, Keys, LastCheckpoint, LogEntries, LogTile
from backoffice.api.reports import Kinds, OneReport, ReportFile, ReportRows, Reports
from backoffice.api.rounds import OneRound, Rounds, RoundsGoing

urlpatterns = [
    path("events/", Events.as_view(), name="events"),
    path("events/<int:event_id>/", OneEvent.as_view(), name="event"),
    path("events/<int:event_id>/proof/", EventProof.as_view(), name="event_proof"),
    path("log/checkpoint", LastCheckpoint.as_view(), name="log_checkpoint"),
    path("log/checkpoints/", Checkpoints.as_view(), name="log_checkpoints"),
    path("log/consistency/", Consistency.as_view(), name="log_consistency"),
    path("log/keys/", Keys.as_view(), name="log_keys"),
    path("log/tile/entries/<path:tile>", LogEntries.as_view(), name="log_entries"),
    path("log/tile/<int:level>/<path:tile>", LogTile.as_view(), name="log_tile"),
    path("compliance/rounds/", Rounds.as_view(), name="compliance_rounds"),
    path("compliance/rounds/going/", RoundsGoing.as_view(), name="compliance_rounds_going"),
    path("compliance/rounds/<uuid:round_id>/", OneRound.as_view(), name="compliance_round"),
    path("reports/", Reports.as_view(), name="reports"),
    path("reports/kinds/", Kinds.as_view(), name="report_kinds"),
    path("reports/<int:report_id>/", OneReport.as_view(), name="report"),
    path("reports/<int:report_id>/rows/", ReportRows.as_view(), name="report_rows"),
    path("reports/<int:report_id>/file.<slug:name>", ReportFile.as_view(), name="report_file"),
    path("significant/", SignificantEvents.as_view(), name="significant_events"),
]
