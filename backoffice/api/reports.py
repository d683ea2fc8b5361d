"""Reports and the log in the compliance API: the kinds of reports, those that were made, their rows and
files; of the log what C2SP tlog-tiles does not define (earlier checkpoints, consistency proofs, keys).

Reports are requested on their page. This API writes only to the access log.
"""

from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit import tree
from audit.models import Checkpoint, Report, ReportPage, ReportState
from audit.reports import verification
from audit.reports.files import in_english
from audit.reports.heading import Head
from audit.reports.kinds import Kind, all_kinds, kind_of
from audit.sealing import checkpoints
from audit.staff_text import english
from audit.verification.checking import StoredTiles, origin
from audit.verification.verify import Unproven
from backoffice.api.events import END, SEE_LOG, AccessLoggedView
from backoffice.audit.reports import SEE, file_of, may_read, named
from backoffice.lists.files import TYPES
from players.api.problems import NOT_FOUND, NOT_SEALED, Problem
from players.api.reading import NumberCursor, Numbered, Strict, numbered, page, query_of, written
from players.api.schema import Link, Linked, page_of, refusals
from players.api.views import StaffApiView
from players.models import Scope, User
from players.staff import access_log

FIRST: Final = {"report_id": "$response.body#/items/0/id"}


class ColumnSchema(serializers.Serializer[Any]):
    """A column of a report."""

    name = serializers.CharField()
    heading = serializers.CharField()
    form = serializers.CharField(
        help_text="text; word: English words of ours; number; money: minor units of the row’s column currency; "
        "share: of one; time: UTC"
    )


class KindSchema(serializers.Serializer[Any]):
    """A kind of report."""

    name = serializers.CharField()
    title = serializers.CharField()
    purpose = serializers.CharField()
    clause = serializers.CharField(allow_blank=True, help_text="clause of GLI-19; empty for internal reports")
    is_daily = serializers.BooleanField(help_text="made every day for the day before")
    names_players = serializers.BooleanField()
    columns = ColumnSchema(many=True)


class ReportsAsked(Numbered):
    """Query for reports."""

    kind = serializers.CharField(required=False, max_length=100)


class ReportSchema(serializers.Serializer[Any]):
    """A report that was requested."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(help_text="the first moment that does not belong to it")
    choices = serializers.DictField(child=serializers.CharField(), help_text="time zone, period, what else was chosen")
    by = serializers.CharField(help_text="who asked for it")
    asked_at = serializers.DateTimeField()
    state = serializers.ChoiceField(ReportState.values)
    made_at = serializers.DateTimeField(allow_null=True, help_text="the figures are those of this moment")
    rows = serializers.IntegerField(source="done", help_text="rows so far")
    failure = serializers.CharField(allow_blank=True)


class LineSchema(serializers.Serializer[Any]):
    """A line above the rows of a report."""

    heading = serializers.CharField()
    text = serializers.CharField()


class WholeReportSchema(ReportSchema):
    """A report with everything except its rows."""

    lines = LineSchema(many=True, help_text="title, operator and interval")
    columns = ColumnSchema(many=True)
    totals = serializers.ListField(child=serializers.ListField(), help_text="of the same columns")
    notes = serializers.ListField(child=serializers.CharField())
    files = serializers.ListField(child=serializers.CharField(), help_text="which files there are")
    event = serializers.IntegerField(allow_null=True, help_text="the event that has its hashes")
    digests = serializers.DictField(
        child=serializers.CharField(), help_text="hex SHA-256 of its files, and of what the screen shows, by that event"
    )


class RowsAsked(Strict):
    """Query for rows of a report."""

    cursor = NumberCursor(required=False)


class RowsSchema(serializers.Serializer[Any]):
    """Some rows of a report."""

    items = serializers.ListField(child=serializers.ListField(), help_text="rows: a cell for each column")
    next = serializers.CharField(allow_null=True)


class OfReports(AccessLoggedView):
    """Base view of reports. It hides reports of a kind that the caller may not read."""

    scopes = {"GET": Scope.REPORTS}
    permissions = (SEE,)
    what = "a report"

    def mine(self) -> Sequence[Kind]:
        """Return the kinds that the caller may read."""
        user = self.request.user
        return [kind for kind in all_kinds() if isinstance(user, User) and may_read(user, kind)]

    def found(self, report_id: int) -> Report:
        """Return a report. Raises Problem if it does not exist or the caller may not read it."""
        report = Report.objects.filter(pk=report_id).first()
        kind = report and kind_of(report.kind)
        if report is None or kind not in self.mine():
            raise Problem(NOT_FOUND)
        return report


class Kinds(OfReports):
    """Kinds of reports."""

    @extend_schema(operation_id="report_kinds", responses=page_of(KindSchema))
    def get(self, request: Request) -> Response:
        """List the kinds of reports."""
        return Response(page(list(KindSchema(self.mine(), many=True).data), None))


class Reports(OfReports):
    """Reports that were requested."""

    @extend_schema(
        operation_id="reports",
        parameters=[ReportsAsked],
        responses={200: Linked(page_of(ReportSchema), report=Link("report", FIRST), rows=Link("report_rows", FIRST))},
    )
    def get(self, request: Request) -> Response:
        """List reports, newest first."""
        asked = query_of(request, ReportsAsked)
        names = [kind.name for kind in self.mine() if asked.get("kind", kind.name) == kind.name]
        found = Report.objects.filter(kind__in=names).order_by("-pk").defer("head")
        if "cursor" in asked:
            found = found.filter(pk__lt=asked["cursor"])
        shown, following = numbered(list(found[: asked["limit"] + 1]), asked["limit"], lambda row: row.pk)
        return Response(page(list(ReportSchema(shown, many=True).data), following))


class OneReport(OfReports):
    """One report."""

    @extend_schema(
        operation_id="report",
        responses={200: Linked(WholeReportSchema, rows=Link("report_rows", {"report_id": "$response.body#/id"}))},
    )
    def get(self, request: Request, report_id: int) -> Response:
        """Read the lines above and below the rows of a report, and the hashes of its files."""
        report = self.found(report_id)
        head = Head.read(report.head) if report.state == ReportState.READY and report.head else Head((), "UTC", ())
        said = verification.said(report)
        self.show(report.head)
        return Response(
            ReportSchema(report).data
            | {
                "lines": [{"heading": heading, "text": text} for heading, text in head.lines],
                "columns": ColumnSchema(head.columns, many=True).data,
                "totals": [in_english(row) for row in head.totals],
                "notes": [english(note) for note in head.notes],
                "files": list(TYPES) if report.state == ReportState.READY else [],
                "event": said.event_id if said else None,
                "digests": said.digests if said else {},
            }
        )


class ReportRows(OfReports):
    """The rows of a report."""

    @extend_schema(operation_id="report_rows", parameters=[RowsAsked], responses=RowsSchema)
    def get(self, request: Request, report_id: int) -> Response:
        """Read one page of rows of a report, with as many rows as a page on the screen."""
        report, number = self.found(report_id), query_of(request, RowsAsked).get("cursor", 0) + 1
        pages = ReportPage.objects.filter(report=report, number__gte=number).order_by("number")
        rows = list(pages.values_list("rows", flat=True)[:2])
        is_ready = report.state == ReportState.READY
        self.show(rows[:1])
        return Response(
            page(
                [in_english(row) for row in rows[0]] if rows and is_ready else [],
                written(number) if is_ready and rows[1:] else None,
            )
        )


class ReportFile(OfReports):
    """A file of a report."""

    @extend_schema(
        operation_id="report_file",
        responses={(200, media.partition(";")[0]): OpenApiTypes.BINARY for media in TYPES.values()},
    )
    def get(self, request: Request, report_id: int, name: str) -> StreamingHttpResponse:
        """Download a file of a report: csv or xlsx."""
        report = self.found(report_id)
        if report.state != ReportState.READY or name not in TYPES:
            raise Problem(NOT_FOUND)
        access_log.note_list(request, named(report), what=self.what)
        return file_of(report, name)


class NotThere(Exception):
    """No signed tree has that size."""


def consistency(old: int, size: int) -> list[str]:
    """Return the base64 hashes that prove that the tree of *size* leaves starts with that of *old*.
    Raises NotThere where no signed tree has *size* leaves or *old* is larger; Unproven where tiles
    lack hashes.
    """
    if not old <= size <= checkpoints.size():
        raise NotThere(str(size))
    return [b64encode(each).decode() for each in tree.consistency_proof(StoredTiles(), old, size)]


SIZES: Final = {"old": "$response.body#/items/0/size", "size": "$response.body#/items/0/size"}


class CheckpointSchema(serializers.Serializer[Any]):
    """A signed checkpoint of the tree."""

    size = serializers.IntegerField(help_text="how many leaves it has")
    at = serializers.DateTimeField(help_text="when it was signed, by the signer’s clock")
    note = serializers.CharField(help_text="the signed note (C2SP tlog-checkpoint)")


class KeysSchema(serializers.Serializer[Any]):
    """The keys that the house trusts. An auditor must obtain the keys from another source."""

    origin = serializers.CharField(help_text="what the log is called")
    keys = serializers.ListField(child=serializers.CharField(), help_text="C2SP signed-note, verifier keys")


class ConsistencyAsked(Strict):
    """Query for a consistency proof between two trees."""

    old = serializers.IntegerField(min_value=0, max_value=END, help_text="leaves of the earlier tree")
    size = serializers.IntegerField(min_value=0, max_value=END, help_text="leaves of the later tree")


class ConsistencySchema(ConsistencyAsked):
    """Proof that the later tree begins with the earlier one (RFC 6962, 2.1.2)."""

    hashes = serializers.ListField(child=serializers.CharField(), help_text="each 32 bytes, in base64")


class OfTheLog(StaffApiView):
    """Base view of checkpoints, keys and proofs."""

    scopes = {"GET": Scope.CHECKPOINTS}
    permissions = (SEE_LOG,)


class Checkpoints(OfTheLog):
    """All signed checkpoints."""

    @extend_schema(
        operation_id="log_checkpoints",
        parameters=[Numbered],
        responses={200: Linked(page_of(CheckpointSchema), consistency=Link("log_consistency", SIZES))},
    )
    def get(self, request: Request) -> Response:
        """List signed checkpoints, the largest first."""
        asked = query_of(request, Numbered)
        rows = checkpoints.latest(asked["limit"] + 1, below=asked.get("cursor"))
        shown, following = numbered(rows, asked["limit"], lambda row: row.size)
        return Response(page([_describe_checkpoint(row) for row in shown], following))


class Keys(OfTheLog):
    """The keys of the log."""

    @extend_schema(operation_id="log_keys", responses=KeysSchema)
    def get(self, request: Request) -> Response:
        """Read the keys that the house trusts."""
        known = checkpoints.house_keys()
        return Response({"origin": origin(known), "keys": [key.vkey for key in known]})


class Consistency(OfTheLog):
    """Consistency proof: the log was only appended to."""

    @extend_schema(
        operation_id="log_consistency",
        parameters=[ConsistencyAsked],
        responses={200: ConsistencySchema, **refusals(NOT_SEALED)},
    )
    def get(self, request: Request) -> Response:
        """Prove that a later tree begins with an earlier one."""
        asked = query_of(request, ConsistencyAsked)
        try:
            return Response(asked | {"hashes": consistency(**asked)})
        except (NotThere, Unproven) as error:
            raise Problem(NOT_SEALED) from error


def _describe_checkpoint(row: Checkpoint) -> dict[str, int | datetime | str]:
    return {"size": row.size, "at": row.at, "note": row.note}
