"""Inbox of significant events (GLI-19 v3.0, 2.8.8): findings, reasons, and how staff handled them.

Also the thresholds from which an amount is significant, and the subject of each event: a player, a
round, a message or something else.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.models import Category, Event, Personal, Significant, Step, Threshold, Weight, Work
from audit.reports.kinds import Column, Form
from audit.sealing import alarms
from audit.significant import detection, workflow
from audit.significant.detection import Limit, ThresholdError
from audit.staff_text import english, recognised
from audit.verification import house
from backoffice.lists import cells
from backoffice.lists.actions import Action, Plan
from backoffice.lists.filters import ORDER, ListForm
from backoffice.lists.paging import Order
from backoffice.lists.staff_list import StaffList
from backoffice.rounds import READERS as ROUND_READERS
from backoffice.rounds import id_for_code
from games.labels import variant_label
from games.models import Table
from games.variants import GAMES
from players import cases, mail
from players.access import StaffRequest, staff_required
from players.account.registration import LOG_IN
from players.models import Case, CaseKind, Staff, User
from players.significant import TRIES, player_of
from players.staff import access_log
from wallet.cashier import MoneyField
from wallet.models import Currency
from wallet.money import format_money

UUID_TEXT: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
IDENTIFIED: Final = re.compile(f"(?:round|payment) {UUID_TEXT}")
ROUND: Final = re.compile(f"round:{UUID_TEXT}")


@dataclass(frozen=True)
class Subject:
    """Label and URL of a subject.

    The URL is "" if the subject has no page that the reader may see.
    """

    text: str
    url: str = ""


@dataclass(frozen=True)
class Subjects:
    """Labels and links of subjects for one reader.

    *names* are the names of staff, tables and games.
    """

    request: StaffRequest
    names: Mapping[str, str]

    def of(self, name: str) -> Subject:
        """Return the subject that *name* refers to. An unknown name is its own label."""
        name = name.replace(" ", ":", 1) if IDENTIFIED.fullmatch(name) else name
        return Subject(cells.label_of(name, self.names), cells.address_of(name, self.request.user))


HANDLE: Final = workflow.PERMISSION
PAGE: Final = 30
MOST_TRIES: Final = 100
FINDINGS: Final = frozenset({house.FOUND, alarms.ALTERED.begins})  # kinds of events that hold one
LOCKED: Final = "login.locked"
STATES: Final = {"": (Work.NEW, Work.SEEN), "all": tuple(Work)} | {state.value: (state,) for state in Work}


def state_names() -> list[tuple[str, str]]:
    """Return the states of events to choose from, in the language of the request."""
    states = [(state.value, str(state.label).capitalize()) for state in Work]
    return [("", gettext("Not closed")), *states, ("all", gettext("All"))]


class SignificantForm(ListForm):
    """Filter of significant events."""

    usual = gettext_noop("Alerts first, then newest")

    state = forms.ChoiceField(label=gettext_lazy("State"), required=False, choices=state_names)
    category = forms.ChoiceField(
        label=gettext_lazy("Category"), required=False, choices=[("", gettext_lazy("All")), *Category.choices]
    )
    weight = forms.ChoiceField(
        label=gettext_lazy("Severity"),
        required=False,
        choices=[
            ("", gettext_lazy("All")),
            (Weight.ALERT, gettext_lazy("Alerts")),
            (Weight.NOTICE, pgettext_lazy("severity", "Notices")),
        ],
    )
    assignee = forms.ChoiceField(
        label=gettext_lazy("Assigned to"),
        required=False,
        choices=[("", gettext_lazy("Anybody’s")), ("mine", gettext_lazy("Mine"))],
    )
    about = forms.CharField(label=gettext_lazy("Player or round"), required=False, max_length=100)
    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"),
        required=False,
        choices=[("", gettext_lazy("All")), *((code, code) for code in Currency.values)],
    )
    since = forms.DateField(
        label=gettext_lazy("From (UTC)"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label=gettext_lazy("To (inclusive)"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )


class StepForm(forms.Form):
    """Step of the handling, with the state that the page showed."""

    step = forms.TypedChoiceField(choices=Step.choices, coerce=Step)
    seen = forms.TypedChoiceField(choices=Work.choices, coerce=Work)
    assigned = forms.CharField(required=False, max_length=40)
    text = forms.CharField(required=False, max_length=workflow.LONGEST)
    to = forms.CharField(required=False, max_length=40)


class MutedForm(forms.Form):
    """Categories that the reader wants mails about."""

    mailed = forms.MultipleChoiceField(required=False, choices=Category.choices)


@dataclass(frozen=True)
class Try:
    """One attempt: its time, its actor and its IP address ("": no longer stored)."""

    at: datetime
    by: str
    address: str


OPEN: Final = workflow.FROM[Step.CLOSED]  # states of work that is not done, and is done here


def _acknowledge(found: Significant) -> Plan:
    if found.state != Work.NEW:
        return Plan((gettext("Already %(label)s.") % {"label": Work(found.state).label}), is_skipped=True)
    return Plan(gettext("“%(found)s” will be acknowledged.") % {"found": found.title})


def _close(found: Significant) -> Plan:
    if found.state not in OPEN:
        return Plan((gettext("Already %(label)s.") % {"label": Work(found.state).label}), is_skipped=True)
    return Plan(gettext("“%(found)s” will be closed.") % {"found": found.title})


def _take_close(found: Significant, reason: str, by: str) -> None:
    workflow.take(
        significant_id=found.pk,
        step=Step.CLOSED,
        seen=Work(found.state),
        assigned=found.assigned_to,
        by=by,
        text=reason,
    )


KEPT_WITH_EACH: Final = gettext_lazy("Stored as your comment on each event. It is not part of the audit log.")
ACKNOWLEDGE: Final = Action(
    name="acknowledge",
    label=gettext_lazy("Acknowledge"),
    permission=workflow.PERMISSION,
    meaning=gettext_lazy("Confirms that you have seen the events. They stay open until they are closed."),
    plan=_acknowledge,
    do=lambda found, reason, by: workflow.acknowledge(significant_ids=[found.pk], by=by, text=reason),
    reason_help=KEPT_WITH_EACH,
)
CLOSE: Final = Action(
    name="close",
    label=pgettext_lazy("staff work", "Close"),
    permission=workflow.PERMISSION,
    meaning=gettext_lazy("Closes the events. Your reason is stored as the outcome of each of them."),
    plan=_close,
    do=_take_close,
    refusals=(workflow.WorkError,),
    reason_help=KEPT_WITH_EACH,
)


class SignificantEvents(StaffList):
    """The inbox: alerts first among open events."""

    model = Significant
    name = gettext_noop("Significant events")
    players = ("on", "title")
    form_class = SignificantForm
    size = PAGE
    columns = (
        Column("title", "Event"),
        Column("happened_at", "When", Form.TIME),
        Column("category", "Category"),
        Column("on", "Subject"),
        Column("amount", "Amount", Form.MONEY),
        Column("state", "State"),
    )
    file_columns = (
        Column("id", "No.", Form.NUMBER),
        *columns[:5],
        Column("currency", "Currency"),
        Column("weight", "Severity"),
        columns[5],
        Column("assigned_to", "Assigned to"),
    )
    links = {"title": ("staff_significant_event", "significant_id", "pk")}
    sorts = {"category": ("category", "id")}
    empty = gettext_noop("No significant events are open.")
    unmatched = gettext_noop("No significant events match this filter.")
    actions = (ACKNOWLEDGE, CLOSE)

    def found(self) -> QuerySet[Significant]:
        """Return the events of the filter."""
        return _matching(self.asked, str(self.request.staff))

    def usual_order(self) -> Order:
        """Return alerts first for open events, unless an order is chosen; else newest first."""
        return Order(("id",) if self.asked.get("state") or self.asked.get(ORDER) else ("weight", "id"))

    def is_choosable(self, found: Significant) -> bool:
        """Return whether the event is open, and handled here."""
        return found.state in OPEN

    def of_weight(self, found: Significant) -> str:
        """Return the severity as a word."""
        return Weight(found.weight).name.lower()

    def show_title(self, found: Significant) -> str:
        """Return the title with a link, and a badge for an alert."""
        alert = cells.badge(gettext("Alert"), "off") if found.weight == Weight.ALERT else ""
        return cells.joined(cells.link(self.urls_of(found)["title"], gettext(found.title)), alert)

    def show_on(self, found: Significant) -> str:
        """Return the subject, with a link if the reader may see its page."""
        subject = self.subjects.of(found.on)
        return cells.link(subject.url, subject.text) if subject.url else subject.text

    def show_amount(self, found: Significant) -> str:
        """Return the amount with its currency."""
        return (
            cells.NOTHING
            if found.amount is None
            else format_money(found.amount, found.currency, get_language() or "en")
        )

    def show_state(self, found: Significant) -> str:
        """Return the state, and who works on the event."""
        state = (
            cells.badge(gettext("New"), "brass") if found.state == Work.NEW else found.get_state_display().capitalize()
        )
        return cells.joined(state, self.subjects.names.get(found.assigned_to, found.assigned_to))

    @cached_property
    def subjects(self) -> "Subjects":
        """Labels and links of subjects."""
        return Subjects(self.request, _names())


@staff_required(HANDLE)
@access_log.listed("significant events")
@id_for_code("about", "round:")
@require_http_methods(["GET", "HEAD", "POST"])
def staff_significant(request: StaffRequest) -> HttpResponse:
    """Show the inbox. On POST, acknowledge or close the chosen events."""
    if request.method == "POST":
        return SignificantEvents(request).act()
    unwanted = workflow.muted(str(request.staff))
    mailed = [(category, category.label, category not in unwanted) for category in Category]
    return SignificantEvents(request).answer("staff/significant.html", {"mailed": mailed})


@staff_required(HANDLE)
@require_safe
def staff_significant_event(request: StaffRequest, significant_id: int) -> HttpResponse:
    """Show one significant event: why it was found, the rows behind it, and its handling."""
    return _page(request, _find(significant_id))


@staff_required(HANDLE)
@require_POST
def staff_significant_step(request: StaffRequest, significant_id: int) -> HttpResponse:
    """Take a step in handling an event, or show why it is not possible."""
    found, form = _find(significant_id), StepForm(request.POST)
    if not form.is_valid():
        return _page(request, found, gettext("Choose an action."))
    asked = form.cleaned_data
    if asked["to"] and asked["to"] not in _handlers():
        return _page(request, found, gettext("Choose a person who may handle significant events."))
    try:
        workflow.take(significant_id=found.pk, by=str(request.staff), **asked)
    except workflow.StateChanged as error:
        messages.warning(request, str(error))
    except workflow.WorkError as error:
        return _page(request, found, str(error), text=asked["text"], step=asked["step"])
    else:
        messages.success(
            request,
            (gettext("The event is %(label)s.") % {"label": Step(asked["step"]).label})
            if asked["step"] in workflow.INTO
            else gettext("Saved."),
        )
    return redirect("staff_significant_event", found.pk)


@staff_required(HANDLE)
@require_POST
def staff_significant_mail(request: StaffRequest) -> HttpResponse:
    """Choose the categories that the reader gets mails about."""
    form = MutedForm(request.POST)
    if form.is_valid():
        mailed = {Category(each) for each in form.cleaned_data["mailed"]}
        workflow.mute(who=str(request.staff), categories=[each for each in Category if each not in mailed])
        messages.success(request, gettext("Notification settings saved."))
    return redirect("staff_significant")


def _find(significant_id: int) -> Significant:
    return get_object_or_404(Significant.objects.select_related("event"), pk=significant_id)


def _matching(asked: dict[str, Any], me: str) -> QuerySet[Significant]:
    found = workflow.matching(
        states=STATES[asked.get("state") or ""],
        category=Category(asked["category"]) if asked.get("category") else None,
        weight=Weight(int(asked["weight"])) if asked.get("weight") else None,
        assigned=me if asked.get("assignee") == "mine" else "",
        about=_about(asked.get("about") or ""),
        currency=asked.get("currency") or "",
    )
    if asked.get("since"):
        found = found.filter(happened_at__gte=datetime.combine(asked["since"], time(), UTC))
    if asked.get("until"):
        found = found.filter(happened_at__lte=datetime.combine(asked["until"], time.max, UTC))
    return found


def _about(typed: str) -> str:
    """Return the subject for the text: a bare number is a player, a UUID a round."""
    typed = typed.strip()
    if typed.isascii() and typed.isdigit():
        return f"player:{int(typed)}"
    try:
        return f"round:{UUID(typed)}"
    except ValueError:
        return typed


def _handlers() -> dict[str, str]:
    """Return the names of staff who handle significant events, by their name in events."""
    return {str(user.staff): user.staff.name for user in mail.holders(HANDLE)}


def _names() -> dict[str, str]:
    """Return labels for the names of staff, tables and games in events."""
    staff = {str(each): each.name for each in Staff.objects.all()}
    tables = {f"table:{table.pk}": table.name for table in Table.objects.only("name")}
    games = {f"game:{slug}": variant_label(game, "name", get_language() or "en") for slug, game in GAMES.items()}
    return {**staff, **tables, **games, LOG_IN: gettext("unknown account")}


def _players(found: list[Significant]) -> set[int]:
    """Return the numbers of the players named in the events."""
    texts = (f"{each.on} {each.title} {english(each.because)} {each.rows}" for each in found)
    return access_log.players_in(*texts)


def _page(request: StaffRequest, found: Significant, error: str = "", **typed: object) -> HttpResponse:
    tried = list(_tries(found))
    named = _players([found]) | access_log.players_in(*(each.by for each in tried))
    access_log.note(request, *named, what="significant event")
    context = {
        "found": found,
        "steps": found.steps.order_by("pk"),
        "headings": list(found.rows[0]) if found.rows else [],
        "rows": _rows(found),
        "links": list(_links(found, request.user)),
        "tries": tried,
        "names": _names(),
        "subjects": Subjects(request, _names()),
        "handlers": _handlers(),
        "error": error,
        "typed": typed,
        "steps_open": {step.value for step, states in workflow.FROM.items() if found.state in states},
        "me": str(request.staff),
        "case": _case_of(found),
    }
    return render(request, "staff/significant_event.html", context)


def _rows(found: Significant) -> list[Mapping[str, str]]:
    """Return the evidence of an event. A finding is in our words, other values may be what somebody wrote."""
    event = found.its_event
    if event is None or event.kind not in FINDINGS:
        return list(found.rows)
    return [{heading: recognised(value) for heading, value in row.items()} for row in found.rows]


def _case_of(found: Significant) -> Case | None:
    """Return the case in which an AML alert or a match with a list is handled."""
    kind, _colon, number = found.on.partition(":")
    if kind == "case":
        return Case.objects.filter(pk=int(number)).first()
    return Case.objects.filter(kind=CaseKind.AML, subject=f"significant:{found.pk}").first()


def _links(found: Significant, reader: User) -> Iterator[tuple[str, str]]:
    """Yield the links of an event that the reader may follow."""
    event = found.its_event
    if event and reader.has_perm("audit.view_event"):
        query = urlencode({"kind": event.kind, "before": event.pk + 1})
        yield (gettext("Event %(event)s") % {"event": event.pk}), f"{reverse('staff_events')}?{query}"
    names = {found.on, event.on if event else ""}
    names |= {value for row in found.rows for value in row.values()}
    for name in sorted(names):
        _kind, _colon, number = name.partition(":")
        if access_log.NAMED.fullmatch(name) and reader.has_perm("players.view_player"):
            yield (gettext("Player %(number)s") % {"number": number}), reverse("staff_player", args=[int(number)])
        elif ROUND.fullmatch(name) and any(map(reader.has_perm, ROUND_READERS)):
            yield gettext("The round"), reverse("staff_round", args=[number])
    about = detection.data(event).get("case") if event else None
    case = Case.objects.filter(pk=about).first() if isinstance(about, int) else None
    if case and reader.has_perm(cases.PERMISSIONS[CaseKind(case.kind)]):
        yield gettext("Case %(case)s") % {"case": case.pk}, reverse("staff_case", args=[case.pk])


def _tries(found: Significant) -> Iterator[Try]:
    """Yield the attempts that a significant event stands for, with their IP addresses.

    These are the attempts of its day from the first one on, or the last ones before an account
    lock.
    """
    event = found.its_event
    if event is None or event.kind not in (*TRIES, LOCKED):
        return
    begins = datetime.combine(event.at.astimezone(UTC).date(), time(), UTC)
    field = "by" if event.kind == "access.refused" else "on"
    same = Event.objects.filter(at__gte=begins, at__lt=begins + timedelta(days=1), **{field: player_of(event)})
    if event.kind == LOCKED:
        same = same.filter(kind__in=("login.failed", LOCKED), pk__lte=event.pk).order_by("-pk")
    else:
        same = same.filter(kind=event.kind, pk__gte=event.pk).order_by("pk")
    tried = list(same[:MOST_TRIES])
    addresses = dict(Personal.objects.filter(event__in=tried, field="ip").values_list("event_id", "value"))
    for each in tried:
        yield Try(each.at, player_of(each), addresses.get(each.pk, ""))


SEE: Final = ("audit.handle_significant", "audit.change_threshold")
CHANGE: Final = "audit.change_threshold"
NAMES: Final = {
    "deposit": gettext_lazy("Deposits"),
    "withdrawal": gettext_lazy("Withdrawals paid out"),
    "wager": gettext_lazy("Staked in a round"),
    "win": gettext_lazy("Net win in a round"),
}


class ThresholdForm(forms.Form):
    """New values of a threshold, with the values that the page showed."""

    what = forms.CharField(max_length=40, widget=forms.HiddenInput)
    currency = forms.ChoiceField(choices=Currency.choices, widget=forms.HiddenInput)
    before = forms.RegexField(r"^[0-9]{1,18} [0-9]{1,18} [0-9]{1,4}$", widget=forms.HiddenInput)
    single = MoneyField(label=gettext_lazy("Single amount from"))
    summed = MoneyField(label=gettext_lazy("Total from"))
    days = forms.IntegerField(label=gettext_lazy("Within days"), min_value=1, max_value=detection.LONGEST)
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=300)

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("single", "summed"):
            field = self.fields[name]
            assert isinstance(field, MoneyField)  # noqa: S101  (declared above)
            field.currency = currency


@staff_required(*SEE)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_thresholds(request: StaffRequest) -> HttpResponse:
    """List the thresholds. On POST, change one."""
    sent = None
    if request.method == "POST":
        sent = ThresholdForm(request.POST, currency=_currency(request), auto_id="sent_%s")
        if _change(request, sent):
            return redirect("staff_thresholds")
    rows = [(row, _name(row.what), *_written(row), _form(row, sent)) for row in Threshold.objects.order_by("pk")]
    may_change = request.user.has_perm(CHANGE)
    return render(request, "staff/significant_thresholds.html", {"rows": rows, "may_change": may_change})


def _currency(request: StaffRequest) -> str:
    asked = request.POST.get("currency", "")
    return asked if asked in Currency.values else Currency.values[0]


def _change(request: StaffRequest, form: ThresholdForm) -> bool:
    """Change a threshold, and return whether it was changed. Errors are added to the form."""
    if not request.user.has_perm(CHANGE):
        form.add_error(None, gettext("Your role cannot change thresholds."))
    elif form.is_valid():
        said = form.cleaned_data
        try:
            detection.change(
                what=said["what"],
                currency=said["currency"],
                before=Limit(*map(int, said["before"].split())),
                after=Limit(said["single"], said["summed"], said["days"]),
                reason=said["reason"],
                by=str(request.staff),
            )
        except ThresholdError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, gettext("Threshold changed. It applies to future events."))
            return True
    return False


def _form(row: Threshold, sent: ThresholdForm | None) -> ThresholdForm:
    """Return the form of a row: the submitted one with its errors if it is for this row."""
    if sent and (sent.data.get("what"), sent.data.get("currency")) == (row.what, row.currency):
        return sent
    was = {"what": row.what, "currency": row.currency, "before": f"{row.single} {row.summed} {row.days}"}
    now = {"single": row.single, "summed": row.summed, "days": row.days}
    return ThresholdForm(initial=was | now, currency=row.currency, auto_id=f"{row.what}_{row.currency}_%s")


def _name(what: str) -> str:
    return str(NAMES.get(what, what.replace("_", " ").capitalize()))


def _written(row: Threshold) -> tuple[str, str]:
    return format_money(row.single, row.currency, get_language() or "en"), format_money(
        row.summed, row.currency, get_language() or "en"
    )
