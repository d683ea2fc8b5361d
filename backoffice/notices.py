"""Pages of maintenance notices: list, preview in every language and publish, withdraw."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.staff_text import language_label
from players.access import StaffRequest, staff_required
from players.models import Jurisdiction, Notice
from players.protection import exclusions
from players.staff import notices
from players.staff.notices import LANGUAGES, LONGEST, PUBLISH, WHEN, Planned, Refused

READ: Final = (PUBLISH, "audit.view_event")
STEP: Final = "step"  # form field: the button that was pressed
PUBLISHING, MENDING = "publish", "mend"
LONGEST_WINDOW: Final = timedelta(days=7)
FURTHEST: Final = timedelta(days=365)
AHEAD: Final = timedelta(hours=1)  # initial values of the form: work begins one to two hours ahead and takes one hour
PICKER: Final = {"type": "datetime-local", "step": "60"}


class Moment(forms.DateTimeField):
    """Minute in UTC, whatever the server's time zone."""

    def __init__(self, label: Any, help_text: Any = "", *, required: bool = True) -> None:
        widget = forms.DateTimeInput(attrs=PICKER, format="%Y-%m-%dT%H:%M")
        super().__init__(label=label, help_text=help_text, widget=widget, required=required)

    def clean(self, value: Any) -> datetime | None:
        """Return the moment, or None if the field is optional and empty. Raises ValidationError."""
        picked: datetime | None = super().clean(value)
        return picked.replace(tzinfo=UTC) if picked else None


class NoticeForm(forms.Form):
    """Maintenance notice: time of the work, time it is shown, text in every language."""

    begins_at = Moment(
        gettext_lazy("Maintenance start (UTC)"),
        gettext_lazy("UTC: one hour behind Stockholm in winter, two hours in summer."),
    )
    ends_at = Moment(gettext_lazy("Maintenance end (UTC)"))
    shown_from = Moment(gettext_lazy("Shown from (UTC)"), gettext_lazy("A past time publishes the notice at once."))
    shown_until = Moment(
        gettext_lazy("Shown until (UTC)"),
        gettext_lazy("Leave empty to show it until the maintenance ends."),
        required=False,
    )

    def __init__(self, *args: Any, now: datetime, **kwargs: Any) -> None:
        """Add a text field for every language. *now* is the database's time."""
        super().__init__(*args, **kwargs)
        self._now = now
        for language in LANGUAGES:
            widget = forms.Textarea(attrs={"rows": 6, "lang": language, "maxlength": LONGEST})
            self.fields[language] = forms.CharField(label=language_label(language), widget=widget)

    def clean(self) -> dict[str, Any]:
        """Validate the times and the texts."""
        asked = super().clean() or {}
        begins, ends, first, last = (asked.get(each) for each in ("begins_at", "ends_at", "shown_from", "shown_until"))
        if ends and ends <= self._now:
            self.add_error("ends_at", gettext("This time is in the past."))
        elif ends and ends > self._now + FURTHEST:
            self.add_error("ends_at", gettext("This time is more than one year ahead."))
        elif begins and ends and ends <= begins:
            self.add_error("ends_at", gettext("The end must be after the start."))
        elif begins and ends and ends - begins > LONGEST_WINDOW:
            self.add_error("ends_at", gettext("The end must be at most one week after the start."))
        if last and last <= self._now:
            self.add_error("shown_until", gettext("This time is in the past. The notice would never be shown."))
        elif first and last and last <= first:
            self.add_error("shown_until", gettext("This time must be after the first display."))
        elif last and ends and last < ends:
            self.add_error("shown_until", gettext("The maintenance ends later. Show the notice until its end."))
        elif last and ends and last > ends + LONGEST_WINDOW:
            self.add_error("shown_until", gettext("This time must be at most one week after the maintenance ends."))
        if first and begins and first > begins:
            self.add_error("shown_from", gettext("The notice must be shown before the maintenance starts."))
        for language in LANGUAGES:
            if language in asked and (wrong := notices.fault(asked[language])):
                self.add_error(language, wrong)
        return asked

    @property
    def planned(self) -> Planned:
        """The notice that a valid form asks for."""
        asked = self.cleaned_data
        texts = {language: asked[language] for language in LANGUAGES}
        shown_until = asked["shown_until"] or asked["ends_at"]
        return Planned(asked["begins_at"], asked["ends_at"], asked["shown_from"], shown_until, texts)


class WithdrawForm(forms.Form):
    """Reason for withdrawing a notice."""

    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=300)


@staff_required(*READ)
@require_safe
def staff_notices(request: StaffRequest) -> HttpResponse:
    """List all notices by state."""
    context = {
        "notices": [(state, each, _read_in_every_language(each)) for state, each in notices.every()],
        "may_publish": request.user.has_perm(PUBLISH),
    }
    return render(request, "staff/notices.html", context)


@staff_required(PUBLISH)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_notice_new(request: StaffRequest) -> HttpResponse:
    """Write, preview and publish a notice."""
    now = exclusions.now()
    if request.method != "POST":
        return _form(request, NoticeForm(now=now, initial=_beginning(now)))
    form = NoticeForm(request.POST, now=now)
    if not form.is_valid() or request.POST.get(STEP) == MENDING:
        return _form(request, form)
    planned = form.planned
    if request.POST.get(STEP) != PUBLISHING:
        context = {"form": form, "planned": planned, "previews": _read_in_every_language(planned)}
        return render(request, "staff/notice_preview.html", context)
    try:
        made = notices.publish(planned, by=request.staff)
    except Refused as error:
        form.add_error(None, str(error))
        return _form(request, form)
    state = notices.state_of(made, exclusions.now())
    messages.success(
        request,
        (
            gettext("Notice published (%(state)s); open tables and lobbies are updated automatically.")
            % {"state": state}
        ),
    )
    return redirect("staff_notices")


@staff_required(PUBLISH)
@require_POST
def staff_notice_withdraw(request: StaffRequest, notice_id: int) -> HttpResponse:
    """Withdraw a notice."""
    form = WithdrawForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Enter a reason. It is recorded in the audit log."))
        return redirect("staff_notices")
    try:
        notices.withdraw(notice_id=notice_id, reason=form.cleaned_data["reason"], by=request.staff)
    except Notice.DoesNotExist as error:
        raise Http404 from error
    except Refused as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, gettext("Notice withdrawn and removed from all tables and lobbies."))
    return redirect("staff_notices")


def _form(request: StaffRequest, form: NoticeForm) -> HttpResponse:
    return render(request, "staff/notice_new.html", {"form": form, "when": WHEN})


def _beginning(now: datetime) -> dict[str, Any]:
    """Return the initial values of the form."""
    begins = now.replace(minute=0, second=0, microsecond=0) + 2 * AHEAD
    times = {"begins_at": begins, "ends_at": begins + AHEAD, "shown_from": now}
    return times | notices.shipped()


def _read_in_every_language(notice: Planned | Notice) -> list[tuple[str, str, str, str]]:
    """Return the notice in each language.

    Each item is the language's name and code, the text with times in UTC as a visitor reads it, and
    the times for each time zone of players.
    """
    zones = dict.fromkeys(Jurisdiction.objects.order_by("code").values_list("time_zone", flat=True))
    previews = []
    for language in LANGUAGES:
        in_utc = notices.notice_text(notice, language, "UTC")
        elsewhere = "; ".join(dict.fromkeys(notices.span(notice, language, zone) for zone in zones))
        previews.append((language_label(language), language, in_utc, elsewhere))
    return previews
