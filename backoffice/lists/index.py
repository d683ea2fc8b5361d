"""All lists: which there are, their index page and their URLs."""

from itertools import chain
from typing import Final

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from backoffice.lists import audit, games, players, wallet
from backoffice.lists.view import StaffListView
from players.access import StaffRequest, staff_required
from players.models import User
from players.staff import Section

LISTS: Final[tuple[type[StaffListView], ...]] = tuple(
    each
    for module in (players, wallet, games, audit)
    for each in vars(module).values()
    if isinstance(each, type) and issubclass(each, StaffListView) and each is not StaffListView
)
READERS: Final = tuple(sorted(set(chain.from_iterable(each.readers for each in LISTS))))
WORK: Final = "players.work"  # permission of all staff


def lists_of(user: User) -> list[tuple[Section, list[type[StaffListView]]]]:
    """Return the lists that *user* may read, by section, without empty sections."""
    mine = [each for each in LISTS if each.may_read(user)]
    groups = [(section, [each for each in mine if each.section is section]) for section in Section]
    return [(section, lists) for section, lists in groups if lists]


@staff_required(WORK)
@require_safe
def staff_lists(request: StaffRequest) -> HttpResponse:
    """Show the lists that the reader may see."""
    return render(request, "staff/lists/index.html", {"sections": lists_of(request.user)})


urlpatterns = [path("", staff_lists, name="staff_lists"), *chain.from_iterable(each.urls() for each in LISTS)]
