"""Pages to request a table or another version of a table: choose a model, fill in the form, preview, request.

A request is made only after staff have seen its preview. If the result has changed since, for
example because another version went live, the preview is shown again.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from audit import approvals, log
from audit.log import Json
from audit.models import Approval
from backoffice.tables.change_preview import preview
from backoffice.tables.change_request_sheet import Like, Sheet, sheet
from games.change_requests import requests
from games.change_requests.requests import ASK
from games.labels import variant_label
from games.models import Shape, Table, TableVersion
from games.tables.checks import TableError, shapes_of
from games.variants import GAMES
from players.access import StaffRequest, staff_required

STEP: Final = "step"  # form field: the button that was pressed
ASKING, MENDING = "ask", "mend"
ASKED: Final = "Asked for. Another person has to agree."
ASKED_ALREADY: Final = "This is asked for already: it waits for a second person."
SEEN: Final = "seen"  # form field: hash of the request that the preview showed
NO_FIELDS: Final = ("csrfmiddlewaretoken", STEP, SEEN)


class LikeForm(forms.Form):
    """Model for a new table: ``version:7``, or ``baccarat:solo`` for a game and a shape."""

    like = forms.RegexField(r"^(?:version:[0-9]{1,18}|[a-z_]{1,40}:(?:solo|shared|guests))$")

    def found(self) -> Like | None:
        """Return the model, None if it does not exist."""
        if not self.is_valid():
            return None
        kind, _, which = self.cleaned_data["like"].partition(":")
        if kind == "version":
            version = TableVersion.objects.select_related("table").filter(pk=which).first()
            return Like(version.table.variant, Shape(version.table.shape), version) if version else None
        return Like(kind, Shape(which), None) if (kind, which) in dict(from_nothing()) else None


@staff_required(ASK)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_table_new(request: StaffRequest) -> HttpResponse:
    """Request a table, modelled on a version of another table or on defaults."""
    like = LikeForm(request.POST if request.method == "POST" else request.GET).found()
    if like is None:
        return render(request, "staff/table_new.html", {"tables": _tables(), "games": from_nothing()})
    return _page(request, like, None)


@staff_required(ASK)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_table_change(request: StaffRequest, table_id: int) -> HttpResponse:
    """Request another version of a table.

    The form starts from the version in force, or from an earlier version of the same table.
    """
    table = get_object_or_404(Table.objects.select_related("version"), pk=table_id, version__isnull=False)
    like = LikeForm(request.POST if request.method == "POST" else request.GET).found()
    if like is None or like.version is None or like.version.table_id != table.pk:
        like = Like(table.variant, Shape(table.shape), table.version)
    return _page(request, like, table)


def _page(request: StaffRequest, like: Like, table: Table | None) -> HttpResponse:
    """Show the form with its errors, show the preview, or make the request and redirect to it."""
    if request.method != "POST":
        return _form(request, sheet(like, table=table), table)
    filled, step = sheet(like, table=table, data=request.POST), request.POST.get(STEP)
    if not filled.is_valid() or step == MENDING:
        return _form(request, filled, table)
    try:
        asked = filled.asked()
        frozen = _frozen(asked, table)
        if step != ASKING or request.POST.get(SEEN) != _hash(frozen):
            return _preview(request, filled, frozen, table)
        approval = _ask(request, asked | {"reason": filled.terms.cleaned_data["reason"]}, table)
    except TableError as error:
        filled.refuse(error)
        return _form(request, filled, table)
    except approvals.AskedTwice:
        filled.terms.add_error(None, ASKED_ALREADY)
        return _form(request, filled, table)
    messages.success(request, ASKED)
    return redirect("staff_approval", approval_id=approval.pk)


def _frozen(asked: Mapping[str, Any], table: Table | None) -> dict[str, Json]:
    """Return the request as it would be stored and read again, so that the approver sees the same.

    Raises TableError if the request cannot be carried out now.
    """
    request = requests.version_request(table_id=table.pk, **asked) if table else requests.table_request(**asked)
    frozen: dict[str, Json] = json.loads(log.canonical(request))
    return frozen


def _ask(request: StaffRequest, asked: Mapping[str, Any], table: Table | None) -> Approval:
    if table is None:
        return requests.ask_table(staff=request.staff, **asked)
    return requests.ask_version(table_id=table.pk, staff=request.staff, **asked)


def _form(request: StaffRequest, filled: Sheet, table: Table | None) -> HttpResponse:
    return render(request, "staff/table_ask.html", _context(request, filled, table))


def _preview(request: StaffRequest, filled: Sheet, frozen: Mapping[str, Json], table: Table | None) -> HttpResponse:
    given = [(name, value) for name, values in request.POST.lists() if name not in NO_FIELDS for value in values]
    shown = {
        "preview": preview(frozen),
        "given": given,
        "seen": _hash(frozen),
        "is_another": SEEN in request.POST,
        "reason": filled.terms.cleaned_data["reason"],
    }
    return render(request, "staff/table_preview.html", _context(request, filled, table) | shown)


def _hash(frozen: Mapping[str, Json]) -> str:
    return hashlib.sha256(log.canonical(frozen).encode()).hexdigest()


def _context(request: StaffRequest, filled: Sheet, table: Table | None) -> dict[str, Any]:
    like = filled.like
    return {
        "sheet": filled,
        "table": table,
        "like": f"version:{like.version.pk}" if like.version else f"{like.variant}:{like.shape}",
        "like_version": like.version,
        "game": variant_label(GAMES[like.variant], "name", "en"),
        "shape": like.shape.label,
        "here": request.path,
        "is_wrong": request.method == "POST" and not filled.is_valid(),
    }


def _tables() -> list[tuple[int, str]]:
    """Return every version in force, with the name of its table."""
    found = Table.objects.filter(version__isnull=False).select_related("version").order_by("name")
    return [(each.version.pk, f"{each.name}, version {each.version.number}") for each in found if each.version]


def from_nothing() -> list[tuple[tuple[str, str], str]]:
    """Return every game and the possible shapes of its tables, with their names."""
    return [
        ((slug, str(shape)), f"{variant_label(game, 'name', 'en')}: {shape.label}")
        for slug, game in GAMES.items()
        for shape in shapes_of(slug)
    ]
