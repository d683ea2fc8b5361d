"""The event log as staff read it: newest first, filtered, a page at a time.

Personal values stay behind their hashes.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.models import Event

PAGE = 50


class EventFilter(forms.Form):
    """Which events: each field an exact match, empty for all; ``before`` is the id that the page ends above."""

    kind = forms.CharField(required=False, strip=True, widget=forms.TextInput(attrs={"placeholder": "round.settled"}))
    by = forms.CharField(required=False, strip=True, widget=forms.TextInput(attrs={"placeholder": "player:12"}))
    on = forms.CharField(required=False, strip=True, widget=forms.TextInput(attrs={"placeholder": "table:1"}))
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)


@dataclass(frozen=True)
class EventRow:
    """An event as a line of the page; ``body`` is its canonical JSON, set out to be read."""

    id: int
    at: datetime
    kind: str
    by: str
    on: str
    body: str


@require_safe
def events(request: HttpRequest) -> HttpResponse:
    """A page of the log. Who may see it, the floor above decides."""
    form = EventFilter(request.GET)
    asked = form.cleaned_data if form.is_valid() else {}
    wanted = {field: asked[field] for field in ("kind", "by", "on") if asked.get(field)}
    found = Event.objects.filter(**wanted).order_by("-id")
    if asked.get("before"):
        found = found.filter(id__lt=asked["before"])
    rows = [_row(event) for event in found[: PAGE + 1]]
    page, more = rows[:PAGE], len(rows) > PAGE
    older = urlencode(wanted | {"before": page[-1].id}) if more else ""
    return render(
        request, "audit/events.html", {"form": form, "events": page, "older": older, "newest": urlencode(wanted)}
    )


def _row(event: Event) -> EventRow:
    body = json.dumps(json.loads(bytes(event.body)), indent=2, ensure_ascii=False)
    return EventRow(event.pk, event.at, event.kind, event.by, event.on, body)
