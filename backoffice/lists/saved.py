"""Saved settings of lists: named filters, and the columns that a staff member has chosen.

Both belong to a page, by the name of its URL, and to the staff account that saved them. A filter may
be shared with a role of that account. It stores only the query of the page: a reader who opens it sees
only what their own role permits.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.auth.models import Group
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import Resolver404, resolve
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_POST

from players.access import StaffRequest, staff_required
from players.models import ChosenColumns, SavedFilter, Staff

WORK: Final = "players.work"  # permission of all staff
MOST: Final = 20  # filters of one account and page
NAME: Final = re.compile(r"[\w.]{1,50}", re.ASCII)  # of a column, or of a list in events


class SaveForm(forms.Form):
    """A name for the filter of a list, and the role that it is shared with, if any."""

    path = forms.CharField(max_length=200)
    query = forms.CharField(
        max_length=1000,
        error_messages={
            "required": gettext_lazy("Nothing to save: choose a filter first. Names and addresses are not saved.")
        },
    )
    name = forms.CharField(max_length=40, error_messages={"required": gettext_lazy("Enter a name for the filter.")})
    role = forms.ModelChoiceField(Group.objects.none(), required=False)

    def __init__(self, sent: Any, staff: Staff) -> None:
        super().__init__(sent)
        role = self.fields["role"]
        assert isinstance(role, forms.ModelChoiceField)  # noqa: S101  (declared above)
        role.queryset = staff.user.groups.order_by("name")


def filters_of(request: StaffRequest) -> QuerySet[SavedFilter]:
    """Return the saved filters of the page: the reader's own, and those shared with a role of theirs."""
    mine = Q(staff=request.staff) | Q(role__in=request.user.groups.all())
    return SavedFilter.objects.filter(mine, page=_page(request.path)).select_related("staff").order_by("name", "pk")


def columns_of(request: StaffRequest, label: str) -> Sequence[str]:
    """Return the names of the columns that the reader chose of the list *label* on this page, none if they have not."""
    chosen = ChosenColumns.objects.filter(staff=request.staff, page=f"{_page(request.path)} {label}")
    return chosen.values_list("columns", flat=True).first() or ()


@staff_required(WORK)
@require_POST
def staff_filter_save(request: StaffRequest) -> HttpResponse:
    """Save the filter of a page under a name. The same name replaces the reader's filter of that name."""
    form = SaveForm(request.POST, request.staff)
    path = request.POST.get("path", "")
    page = _page(path)
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
        return redirect(path)
    said, own = form.cleaned_data, SavedFilter.objects.filter(staff=request.staff, page=page)
    if own.exclude(name=said["name"]).count() >= MOST:
        messages.error(request, (gettext("You have %(most)s filters on this page. Delete one first.") % {"most": MOST}))
    else:
        kept = {"query": said["query"], "role": said["role"]}
        SavedFilter.objects.update_or_create(staff=request.staff, page=page, name=said["name"], defaults=kept)
        messages.success(request, gettext("Filter saved."))
    return redirect(f"{path}?{said['query']}")


@staff_required(WORK)
@require_POST
def staff_filter_delete(request: StaffRequest, filter_id: int) -> HttpResponse:
    """Delete one of the reader's own filters."""
    path = request.POST.get("path", "")
    _page(path)
    get_object_or_404(SavedFilter, pk=filter_id, staff=request.staff).delete()
    messages.success(request, gettext("Filter deleted."))
    return redirect(path)


@staff_required(WORK)
@require_POST
def staff_columns(request: StaffRequest) -> HttpResponse:
    """Keep the columns that the reader chose. With none chosen, all are shown again."""
    path, label = request.POST.get("path", ""), request.POST.get("list", "")
    page = f"{_page(path)} {label}"
    if not NAME.fullmatch(label):
        raise Http404
    kept = ChosenColumns.objects.filter(staff=request.staff, page=page)
    if chosen := [each for each in request.POST.getlist("columns")[:MOST] if NAME.fullmatch(each)]:
        kept.model.objects.update_or_create(staff=request.staff, page=page, defaults={"columns": chosen})
    else:
        kept.delete()
    query = request.POST.get("query", "")
    return redirect(f"{path}?{query}" if query else path)


def _page(path: str) -> str:
    """Return the name of the staff page at a path. Raises Http404 for any other address."""
    try:
        name = resolve(path).view_name
    except Resolver404:
        name = ""
    if not name.startswith("staff_"):
        raise Http404
    return name
