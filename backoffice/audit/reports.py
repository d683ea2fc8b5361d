"""Pages of reports: request a report, read it, verify it and download its files.

The report framework in `audit` knows no users. This module checks who may read a report and records
in the access log which players it showed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import Any, Final, Self
from zoneinfo import ZoneInfo

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.timezone import make_naive
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from audit.models import Report, ReportPage, ReportState
from audit.reports import verification
from audit.reports.files import about
from audit.reports.heading import NO_ACTIVITY, Head
from audit.reports.kinds import (
    CURRENCY,
    FIGURES,
    NAMES,
    Column,
    Form,
    Interval,
    Kind,
    Period,
    Row,
    all_kinds,
    interval_of,
    kind_of,
)
from audit.reports.requests import CannotAsk, ask, ask_again, clock
from audit.reports.runner import OPEN, PAGE
from audit.staff_text import is_sentence, recognised, translated, word
from backoffice.lists import cells
from backoffice.lists.actions import Action, Plan
from backoffice.lists.files import TYPES
from backoffice.lists.filters import FALLING, ORDER, ListForm
from backoffice.lists.staff_list import NO_PLAYERS, Heading, StaffList
from backoffice.templatetags.charts import Point, Series, series
from players.access import StaffRequest, made_by_the_page, staff_required
from players.login.current_user import actor
from players.models import Delivery, Jurisdiction, ReportSchedule, Rhythm, ScheduledReport, ScheduleState, User
from players.staff import access_log, report_schedules
from wallet.money import format_figure, format_money

SEE: Final = "audit.view_report"
ABOUT: Final = "json"  # name of the file with all but the rows
LONGEST: Final = 100  # longest free-text choice, in characters
NOTHING: Final = "–"
SUMMARY: Final = ("From", "To (exclusive)", "Time zone")  # lines of the head that are not folded
LONG: Final = 200  # characters
MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)([+-]\d\d:\d\d)")  # as written in the heads of reports
MOST_COLUMNS: Final = 8  # columns side by side in a window of middling width
DAY: Final = "day"  # column of days, in reports with a series
DRAWN: Final = "revenue"  # column that is drawn
MOST_DRAWN: Final = 20_000  # rows of a report that is drawn
MOST_SORTED: Final = 20_000  # rows of a report that can be sorted
PICKER: Final = {"type": "datetime-local", "step": "60"}
CHANGES: Final = {
    ScheduleState.PAUSED: (
        pgettext_lazy("scheduled report", "Pause"),
        gettext_lazy("No reports are created until the schedule is resumed. Reports due during the pause are skipped."),
    ),
    ScheduleState.ACTIVE: (
        pgettext_lazy("scheduled report", "Resume"),
        gettext_lazy("Reports are created again from the next run."),
    ),
    ScheduleState.ENDED: (
        pgettext_lazy("scheduled report", "End"),
        gettext_lazy("No more reports are created. The schedule cannot be resumed."),
    ),
}
FREQUENCIES: Final = (
    (Rhythm.DAILY.value, gettext_lazy("Daily, for the day before")),
    (Rhythm.WEEKLY.value, gettext_lazy("Weekly on Monday, for the week before")),
    (Rhythm.MONTHLY.value, gettext_lazy("Monthly on the 1st, for the month before")),
)
DELIVERIES: Final = (
    (Delivery.MAIL.value, gettext_lazy("E-mail to me with a link")),
    (Delivery.FOLDER.value, gettext_lazy("Files in the report folder")),
)


@dataclass(frozen=True)
class Order:
    """Order of a report's rows: by *column*, or "" for that in which they were made."""

    column: str
    is_falling: bool
    is_offered: bool

    @classmethod
    def asked(cls, report: Report, head: Head, text: str) -> Self:
        """Return the order that *text* asks for. It is offered if all rows can be read at once."""
        column = text.removeprefix(FALLING)
        is_offered = 1 < report.done <= MOST_SORTED
        is_known = is_offered and column in {each.name for each in head.columns}
        return cls(column if is_known else "", text.startswith(FALLING), is_offered)

    @property
    def way(self) -> str:
        """Value of ``aria-sort``."""
        return "descending" if self.is_falling else "ascending"

    def next(self, column: str) -> str | None:
        """Return what a click on the head of *column* asks for: its order, the other way round, and then none."""
        if not self.is_offered:
            return None
        if self.column != column:
            return column
        return "" if self.is_falling else f"{FALLING}{column}"


@dataclass(frozen=True)
class Shown:
    """A cell as shown on the screen."""

    text: str
    heading: str
    style: str  # CSS class

    @property
    def is_nothing(self) -> bool:
        """True if the cell is empty."""
        return self.text == NOTHING

    @property
    def is_long(self) -> bool:
        """True if the text is so long that the page folds it."""
        return len(self.text) > LONG


class KindForm(forms.Form):
    """A time zone, and the choices of a kind of report."""

    zone = forms.ChoiceField(label=gettext_lazy("Time zone"))

    def __init__(self, kind: Kind, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._kind = kind
        zones = dict.fromkeys((settings.OPERATOR_TIME_ZONE, "UTC", *_zones()))
        self.fields["zone"] = forms.ChoiceField(label=gettext("Time zone"), choices=[(zone, zone) for zone in zones])
        for choice in kind.choices:
            self.fields[choice.name] = (
                forms.ChoiceField(
                    label=gettext(choice.heading),
                    choices=[("", gettext("all")), *choice.named().items()],
                    required=False,
                )
                if choice.options
                else forms.CharField(label=gettext(choice.heading), max_length=LONGEST)
            )

    def choices(self) -> dict[str, str]:
        """Return the values of the kind's choices."""
        return {choice.name: self.cleaned_data[choice.name] for choice in self._kind.choices}


class ReportForm(KindForm):
    """Request for a report: a period or two moments in a time zone, and the choices of its kind."""

    period = forms.TypedChoiceField(
        label=gettext_lazy("Interval"), choices=[(str(period), name) for period, name in NAMES.items()], coerce=Period
    )
    since = forms.DateTimeField(
        label=gettext_lazy("From"), required=False, widget=forms.DateTimeInput(attrs=PICKER, format="%Y-%m-%dT%H:%M")
    )
    until = forms.DateTimeField(
        label=gettext_lazy("To (exclusive)"),
        required=False,
        widget=forms.DateTimeInput(attrs=PICKER, format="%Y-%m-%dT%H:%M"),
    )
    field_order = ("period", "since", "until", "zone")

    def clean(self) -> dict[str, Any]:
        """Require both moments if no period is chosen."""
        given: dict[str, Any] = self.cleaned_data
        if given.get("period") is Period.OWN:
            for name in ("since", "until"):
                if name not in self.errors and not given.get(name):
                    self.add_error(
                        name, (gettext("Enter a date and time: %(label)s.") % {"label": self.fields[name].label})
                    )
        return given

    def interval(self, now: datetime) -> Interval:
        """Return the interval that a valid form asks for at *now*."""
        given = self.cleaned_data
        if given["period"] is not Period.OWN:
            return interval_of(given["period"], now=now, zone=given["zone"])
        zone = ZoneInfo(given["zone"])
        return Interval(*(make_naive(given[name]).replace(tzinfo=zone) for name in ("since", "until")))


class ReportsForm(ListForm):
    """Filter of requested reports by their kind."""

    kind = forms.ChoiceField(label=gettext_lazy("Report"), required=False)

    def __init__(self, asked: Mapping[str, Any], kinds: Mapping[str, Kind]) -> None:
        super().__init__(asked)
        choices = [("", gettext("all")), *((name, gettext(kind.title)) for name, kind in kinds.items())]
        self.fields["kind"].choices = choices  # type: ignore[attr-defined]


class RequestedReports(StaffList):
    """Requested reports of the kinds that the reader may read."""

    model = Report
    name = gettext_noop("Requested reports")
    players = NO_PLAYERS
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("title", "Report"),
        Column("since", "From", Form.TIME),
        Column("until", "Until", Form.TIME),
        Column("by", "Requested by"),
        Column("state", "State"),
        Column("done", "Rows", Form.NUMBER),
    )
    accounts = ("by",)
    links = {"id": ("staff_report", "report_id", "pk")}
    empty = gettext_noop("No reports requested yet.")

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds that the reader may read, by name."""
        return {kind.name: kind for kind in all_kinds() if may_read(self.request.user, kind)}

    def make_form(self) -> ReportsForm:
        """Return the form with the reader's kinds."""
        return ReportsForm(self.request.GET, self.kinds)

    def found(self) -> QuerySet[Report]:
        """Return the reports of the filter."""
        kind = self.asked.get("kind")
        return Report.objects.filter(kind__in=[kind] if kind else list(self.kinds)).defer("head")

    def of_title(self, report: Report) -> str:
        """Return the title of the report's kind."""
        return gettext(self.kinds[report.kind].title)

    def of_done(self, report: Report) -> int | None:
        """Return the rows of a finished report."""
        return report.done if report.state == ReportState.READY else None

    def show_id(self, report: Report) -> str:
        """Return the number with a link that says which report it is."""
        text = format_html('{}<span class="visually-hidden">: {}</span>', report.pk, self.of_title(report))
        return cells.link(self.urls_of(report)["id"], text, "num")

    def show_state(self, report: Report) -> str:
        """Return the state."""
        kind = {ReportState.READY: "on", ReportState.FAILED: "off"}.get(ReportState(report.state), "")
        return cells.badge(report.get_state_display(), kind)

    def show_done(self, report: Report) -> str:
        """Return the rows of a finished report, or that there are none."""
        done = self.of_done(report)
        return cells.NOTHING if done is None else str(done or gettext("No activity"))


def _change(state: ScheduleState) -> Action:
    """Return the bulk action that brings schedules into *state*."""
    label, meaning = CHANGES[state]

    def plan(schedule: ReportSchedule) -> Plan:
        if schedule.state not in report_schedules.FROM[state]:
            return Plan(gettext("The schedule is %s.") % schedule.get_state_display(), is_skipped=True)
        return Plan(str(label))

    def do(schedule: ReportSchedule, reason: str, by: str) -> None:
        report_schedules.change(schedule, state, by=by, reason=reason)

    return Action(state.value, label, SEE, meaning, plan, do, (report_schedules.CannotSchedule,))


class ScheduleForm(KindForm):
    """Schedule of reports: its rhythm, its delivery, the time zone and the choices of the kind."""

    rhythm = forms.TypedChoiceField(label=gettext_lazy("Frequency"), choices=FREQUENCIES, coerce=Rhythm)
    delivery = forms.TypedChoiceField(label=gettext_lazy("Delivery"), choices=DELIVERIES, coerce=Delivery)
    field_order = ("rhythm", "delivery", "zone")

    def __init__(self, kind: Kind, *args: Any, **kwargs: Any) -> None:
        super().__init__(kind, *args, **kwargs)
        if not settings.REPORT_FOLDER:
            self.fields["delivery"].choices = DELIVERIES[:1]  # type: ignore[attr-defined]


class SchedulesForm(ListForm):
    """Filter of schedules: the current or the ended ones."""

    state = forms.ChoiceField(
        label=pgettext_lazy("staff list", "State"),
        required=False,
        choices=[("", gettext_lazy("Current")), (ScheduleState.ENDED.value, gettext_lazy("Ended"))],
    )


class Schedules(StaffList):
    """Scheduled reports of the kinds that the reader may read."""

    model = ReportSchedule
    name = gettext_noop("Scheduled reports")
    players = NO_PLAYERS
    form_class = SchedulesForm
    columns = (
        Column("title", "Report"),
        Column("rhythm", "Frequency"),
        Column("filters", "Filters"),
        Column("zone", "Time zone"),
        Column("delivery", "Delivery"),
        Column("staff__name", "Recipient"),
        Column("next_at", "Next run", Form.TIME),
        Column("state", "State"),
        Column("last", "Last report"),
        Column("failure", "Last failure"),
    )
    empty = gettext_noop("No reports are scheduled. Choose a report and press Schedule.")
    unmatched = gettext_noop("No scheduled reports match this filter.")
    actions = tuple(_change(state) for state in (ScheduleState.PAUSED, ScheduleState.ACTIVE, ScheduleState.ENDED))

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds that the reader may read, by name."""
        return {kind.name: kind for kind in all_kinds() if may_read(self.request.user, kind)}

    def choosable_rows(self) -> QuerySet[ReportSchedule]:
        """Return the schedules of the kinds that the reader may read."""
        return ReportSchedule.objects.filter(kind__in=self.kinds)

    def found(self) -> QuerySet[ReportSchedule]:
        """Return the schedules of the filter, with their last report."""
        reports = ScheduledReport.objects.select_related("report").defer("report__head").order_by("-report_id")
        is_over = self.asked.get("state") == ScheduleState.ENDED
        among = (
            self.choosable_rows().select_related("staff").prefetch_related(Prefetch("reports", reports[:1], "latest"))
        )
        return among.filter(state=ScheduleState.ENDED) if is_over else among.exclude(state=ScheduleState.ENDED)

    def called(self, row: ReportSchedule) -> str:
        """Return the title and the rhythm."""
        return f"{self.of_title(row)}, {row.get_rhythm_display()}"

    def is_choosable(self, row: ReportSchedule) -> bool:
        """Return whether the schedule has not ended."""
        return row.state != ScheduleState.ENDED

    def of_title(self, schedule: ReportSchedule) -> str:
        """Return the title of the kind."""
        return gettext(report_schedules.title_of(schedule))

    def of_filters(self, schedule: ReportSchedule) -> str:
        """Return what the kind was asked to choose."""
        choices = {choice.name: choice for choice in self.kinds[schedule.kind].choices}
        chosen = ((choices[name], value) for name, value in schedule.choices.items() if value and name in choices)
        return ", ".join(
            f"{gettext(choice.heading)}: {gettext(choice.named().get(value, value))}" for choice, value in chosen
        )

    def of_next_at(self, schedule: ReportSchedule) -> datetime | None:
        """Return the time of the next run of an active schedule."""
        return schedule.next_at if schedule.state == ScheduleState.ACTIVE else None

    def of_last(self, schedule: ReportSchedule) -> int | None:
        """Return the number of the last report."""
        latest = self._latest(schedule)
        return latest.pk if latest else None

    def of_failure(self, schedule: ReportSchedule) -> str:
        """Return why the schedule ended by itself, or why the last report was not delivered."""
        latest = self._latest(schedule)
        return word(schedule.failure or (latest.failure if latest else ""))

    def show_title(self, schedule: ReportSchedule) -> str:
        """Return the title with a link to the reports of the kind."""
        return cells.link(f"{reverse('staff_reports')}?kind={schedule.kind}", self.of_title(schedule))

    def show_last(self, schedule: ReportSchedule) -> str:
        """Return the last report with a link, and its state."""
        latest = self._latest(schedule)
        if latest is None:
            return cells.NOTHING
        link = cells.link(reverse("staff_report", args=[latest.pk]), latest.pk, "num")
        return cells.joined(link, latest.report.get_state_display())

    def show_state(self, schedule: ReportSchedule) -> str:
        """Return the state as a badge."""
        kind = {ScheduleState.ACTIVE: "on", ScheduleState.PAUSED: "brass"}.get(ScheduleState(schedule.state), "off")
        return cells.badge(schedule.get_state_display(), kind)

    def _latest(self, schedule: ReportSchedule) -> ScheduledReport | None:
        latest: list[ScheduledReport] = vars(schedule)["latest"]
        return next(iter(latest), None)


@staff_required(SEE)
@access_log.listed("scheduled reports")
@require_http_methods(["GET", "HEAD", "POST"])
def staff_report_schedules(request: StaffRequest) -> HttpResponse:
    """List the scheduled reports. On POST, pause, resume or end the chosen ones."""
    listed = Schedules(request)
    return listed.act() if request.method == "POST" else listed.answer("staff/report_schedules.html")


@staff_required(SEE)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_report_plan(request: StaffRequest, kind: str) -> HttpResponse:
    """Schedule a report of one kind for the reader."""
    found = kind_of(kind)
    if found is None or not report_schedules.can_be_scheduled(found):
        raise Http404
    _demand(request.user, found)
    form = ScheduleForm(found, request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            report_schedules.plan(
                kind=found,
                rhythm=given["rhythm"],
                zone=given["zone"],
                choices=form.choices(),
                delivery=given["delivery"],
                by=request.staff,
            )
        except report_schedules.CannotSchedule as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, gettext("The report is scheduled."))
            return redirect("staff_report_schedules")
    return render(request, "staff/report_plan.html", {"kind": found, "form": form})


@staff_required(SEE)
@require_safe
def staff_reports(request: StaffRequest) -> HttpResponse:
    """List the kinds of reports and the requested reports, newest first."""
    listed = RequestedReports(request)
    return listed.answer("staff/reports.html", {"kinds": listed.kinds.values()})


@staff_required(SEE)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_report_ask(request: StaffRequest, kind: str) -> HttpResponse:
    """Request a report of one kind."""
    found = kind_of(kind)
    if found is None:
        raise Http404
    _demand(request.user, found)
    initial = {"period": str(Period.YESTERDAY)} | request.GET.dict()  # other pages prefill the form
    form = ReportForm(found, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            report = ask(
                kind=found.name,
                interval=form.interval(clock()),
                zone=given["zone"],
                period=given["period"],
                by=actor(request),
                choices=form.choices(),
            )
        except CannotAsk as error:
            form.add_error(None, str(error))
        else:
            return redirect("staff_report", report.pk)
    context = {"kind": found, "form": form, "can_be_scheduled": report_schedules.can_be_scheduled(found)}
    return render(request, "staff/report_ask.html", context)


@staff_required(SEE)
@access_log.listed("a report")
@require_safe
def staff_report(request: StaffRequest, report_id: int) -> HttpResponse:
    """Show a report: its progress, or a page of its rows with its files and its event in the log."""
    report, kind = _found(request, report_id)
    context: dict[str, Any] = {"report": report, "kind": kind, "is_open": report.state in OPEN}
    if report.state == ReportState.READY and report.head:
        context |= _page(report, Head.read(report.head), request.GET)
        access_log.shown(request, context["lines"], context["notes"], context["rows"], context["totals"])
    return render(request, "staff/report.html", context)


@made_by_the_page
@staff_required(SEE)
@require_safe
def staff_report_state(request: StaffRequest, report_id: int) -> HttpResponse:
    """Show the progress of a report, for the page's own refresh.

    Reload the page once it is ready.
    """
    report, kind = _found(request, report_id)
    if report.state not in OPEN:
        return HttpResponseClientRefresh()
    return render(request, "staff/report.html#state", {"report": report, "kind": kind})


@staff_required(SEE)
@require_safe
def staff_report_file(request: StaffRequest, report_id: int, name: str) -> HttpResponseBase:
    """Download a file of a report.

    The access to its players is recorded before the first byte is sent.
    """
    report, _kind = _found(request, report_id)
    if report.state != ReportState.READY or name not in (*TYPES, ABOUT):
        raise Http404
    access_log.note_list(request, named(report), what="a report")
    return about_of(report) if name == ABOUT else file_of(report, name)


@staff_required(SEE)
@require_POST
def staff_report_retry(request: StaffRequest, report_id: int) -> HttpResponse:
    """Request the same report again."""
    report, _kind = _found(request, report_id)
    try:
        retried = ask_again(report, by=actor(request))
    except CannotAsk as error:
        messages.error(request, str(error))
        retried = report
    return redirect("staff_report", retried.pk)


def file_of(report: Report, name: str) -> StreamingHttpResponse:
    """Return a response with a file of a finished report."""
    response = StreamingHttpResponse(verification.pieces(report, name), content_type=TYPES[name])
    response["Content-Disposition"] = f'attachment; filename="{verification.file_name(report)}.{name}"'
    return response


def about_of(report: Report) -> JsonResponse:
    """Return a response with the heading, totals, notes and hashes of a finished report, for programs."""
    known = verification.said(report)
    content = about(Head.read(report.head or {}), report.done, known.digests if known else {})
    response = JsonResponse(content, json_dumps_params={"ensure_ascii": False, "indent": 2})
    response["Content-Disposition"] = f'attachment; filename="{verification.file_name(report)}-about.json"'
    return response


def _page(report: Report, head: Head, asked_for: Mapping[str, str]) -> dict[str, Any]:
    """Return the context for a finished report, with the requested page of rows in the requested order."""
    pages = max(-(-report.done // PAGE), 1)
    wanted = asked_for.get("page", "")
    is_number = wanted.isascii() and wanted.isdecimal() and len(wanted) <= len(str(pages))
    number = min(max(int(wanted), 1), pages) if is_number else 1
    order = Order.asked(report, head, asked_for.get(ORDER, ""))
    pages_of = ReportPage.objects.filter(report=report).order_by("number").values_list("rows", flat=True)
    rows: Sequence[Row] | None
    if order.column:
        every = head.sorted(chain.from_iterable(pages_of), order.column, is_falling=order.is_falling)
        rows = every[(number - 1) * PAGE : number * PAGE]
    else:
        rows = pages_of.filter(number=number).first()
    return {
        "head": head,
        "lines": [(gettext(name), _readable(word(text))) for name, text in head.lines],
        "summary": [(gettext(name), _readable(text)) for name, text in head.lines if name in SUMMARY],
        "notes": [_readable(translated(word(note) if isinstance(note, str) else note)) for note in head.notes],
        "is_wide": len(head.columns) > MOST_COLUMNS,
        "headings": [
            Heading(
                heading.replace(column.heading, gettext(column.heading), 1),
                _style(column.form),
                order.way if order.column == column.name else "",
                order.next(column.name),
            )
            for heading, column in zip(head.headings, head.columns, strict=True)
        ],
        "is_sortable": order.is_offered,
        "rows": [_shown(row, head) for row in rows or ()],
        "totals": [_shown(row, head) for row in head.totals],
        "charts": _charts(report, head),
        "nothing": gettext(NO_ACTIVITY),
        "page": number,
        "pages": pages,
        "said": verification.said(report),
        "checked": "check" in asked_for,
        "faults": [recognised(each) for each in verification.faults(report)] if "check" in asked_for else (),
    }


def _charts(report: Report, head: Head) -> list[Series]:
    """Return a chart for each currency, by day, if the report has days and a main amount."""
    at = {column.name: place for place, column in enumerate(head.columns)}
    if not {DAY, DRAWN, CURRENCY} <= at.keys() or report.done > MOST_DRAWN:
        return []
    sums: dict[str, Counter[str]] = {}
    for rows in ReportPage.objects.filter(report=report).order_by("number").values_list("rows", flat=True):
        for row in rows:
            if row[at[DRAWN]] is None:  # without an exchange rate there is no amount
                return []
            sums.setdefault(str(row[at[CURRENCY]]), Counter())[str(row[at[DAY]])] += int(row[at[DRAWN]])
    days = sorted({day for of_days in sums.values() for day in of_days})
    heading = gettext(head.columns[at[DRAWN]].heading)
    return [
        series(
            (gettext("%(heading)s by day, %(currency)s") % {"heading": heading, "currency": currency}),
            [Point(day, of_days[day], format_money(of_days[day], currency, get_language() or "en")) for day in days],
            lambda value: format_figure(round(value), get_language() or "en"),
            heading,
        )
        for currency, of_days in sorted(sums.items())
        if len(days) > 1
    ]


def may_read(user: User, kind: Kind) -> bool:
    """Return whether *user* may read reports of a kind."""
    return user.has_perm(SEE) and user.has_perm(kind.permission)


def _demand(user: User, kind: Kind) -> None:
    if not may_read(user, kind):
        raise PermissionDenied


def _found(request: StaffRequest, report_id: int) -> tuple[Report, Kind]:
    """Return a report that the reader may read.

    A report whose kind no longer exists is not found.
    """
    report = get_object_or_404(Report, pk=report_id)
    kind = kind_of(report.kind)
    if kind is None:
        raise Http404
    _demand(request.user, kind)
    return report, kind


def _zones() -> Sequence[str]:
    """Return the time zones of players."""
    return list(Jurisdiction.objects.order_by("time_zone").values_list("time_zone", flat=True).distinct())


def named(report: Report) -> Iterator[int]:
    """Yield the numbers of the players that a report names."""
    pages = ReportPage.objects.filter(report=report).order_by("number").values_list("rows", flat=True)
    for said in (report.head, *pages.iterator(chunk_size=PAGE)):
        yield from access_log.players_in(said)


def _shown(row: Row, head: Head) -> list[Shown]:
    names = [column.name for column in head.columns]
    currency = str(row[names.index(CURRENCY)] or "") if CURRENCY in names else ""
    return [
        Shown(_text(cell, column.form, currency, head.zone), gettext(column.heading), _style(column.form))
        for cell, column in zip(row, head.columns, strict=True)
    ]


def _readable(text: str) -> str:
    """Write moments in a text in the format of the back office, with their offset from UTC."""
    return MOMENT.sub(lambda found: f"{found[1]} UTC{found[2].replace('+00:00', '')}", text)


def _style(form: Form) -> str:
    return "num" if form in FIGURES else "report__time" if form is Form.TIME else ""


def _text(cell: Any, form: Form, currency: str, zone: str) -> str:
    if cell is None or cell == "":
        return NOTHING
    if is_sentence(cell):
        return translated(cell)
    match form:
        case Form.ID:
            return str(cell)
        case Form.NUMBER:
            return number_format(int(cell), force_grouping=True)
        case Form.MONEY:
            return format_money(int(cell), currency, get_language() or "en")
        case Form.SHARE:
            return f"{number_format(Decimal(cell) * 100, 4)} %"
        case Form.TIME:
            return f"{datetime.fromisoformat(str(cell)).astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M:%S}"
        case Form.WORD:
            return word(str(cell))
        case Form.TEXT:
            return str(cell)
