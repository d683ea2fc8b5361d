"""Sidebar of the lists: the sections of the back office, each with its lists and then its pages."""

from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse

from backoffice.lists import audit as happened
from backoffice.lists import games as play
from backoffice.lists import players as people
from backoffice.lists import wallet as money
from backoffice.lists.framework.site import SITE as SITE
from backoffice.navigation import functions_of

MODULES: Final = (people, money, play, happened)  # importing these modules registers their lists


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the links of the sidebar that the user may follow, in unfold's format."""
    match = request.resolver_match
    here = match.view_name.rpartition("_")[0] if match else ""
    lists = dict(SITE.listed(request))
    groups = []
    for section, functions in functions_of(request.user):  # type: ignore[arg-type]  # only staff get here
        items = [
            {
                "title": listing.name,
                "link": reverse(listing.address("changelist")),
                "icon": "table_rows",
                "active": here == listing.address("changelist").rpartition("_")[0],
            }
            for listing in lists.get(section, ())
        ]
        items += [
            {"title": function.name, "link": reverse(function.page), "icon": "arrow_outward", "active": False}
            for function in functions
        ]
        groups.append({"title": str(section), "items": items, "collapsible": True})
    home = {"title": "Back office", "link": reverse("staff_home"), "icon": "arrow_back", "active": False}
    return [{"items": [home]}, *groups]
