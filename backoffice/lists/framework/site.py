"""Admin site of all lists, with only the URLs that the lists need.

It has no log-in, no password change and no page that adds a row.
"""

from collections.abc import Iterator
from typing import Any, Final, cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, include, path
from unfold.sites import UnfoldAdminSite

from backoffice.lists.framework.access import fenced
from backoffice.lists.framework.listing import Listing
from players.access import StaffRequest
from players.login import second_factor
from players.login.current_user import staff_of
from players.staff import Section

WORK: Final = "players.work"  # permission of all staff
CATALOGUE: Final = "jsi18n"  # name under which unfold's scripts load translations


class ListsSite(UnfoldAdminSite):
    """Site of all lists."""

    index_title = "Lists"
    enable_nav_sidebar = True

    def has_permission(self, request: HttpRequest) -> bool:
        """Return whether the user is staff, may work, and has set up a second factor."""
        user = request.user
        return staff_of(user) is not None and user.has_perm(WORK) and second_factor.is_set_up(cast("Any", user))

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Return the URLs of the index and of every list."""
        return [
            path("", fenced(self._home, WORK), name="index"),
            path(f"{CATALOGUE}/", fenced(self._catalogue, WORK), name=CATALOGUE),
            *(
                path(f"{listing.opts.app_label}/{listing.opts.model_name}/", include(listing.get_urls()))
                for listing in self.listings()
            ),
        ]

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return no apps: lists are grouped by section."""
        return []

    def listings(self) -> list[Listing]:
        """Return all lists."""
        return [cast("Listing", listing) for listing in self._registry.values()]

    def listed(self, request: HttpRequest) -> Iterator[tuple[Section, list[Listing]]]:
        """Yield the lists that the user may see, by section."""
        mine = [listing for listing in self.listings() if listing.has_view_permission(request)]
        for section in Section:
            if found := [listing for listing in mine if listing.section is section]:
                yield section, found

    def _home(self, request: StaffRequest) -> TemplateResponse:
        context = {**self.each_context(request), "title": self.index_title, "sections": list(self.listed(request))}
        return TemplateResponse(request, "staff/lists/index.html", context)

    def _catalogue(self, request: StaffRequest) -> HttpResponseBase:
        return self.i18n_javascript(request)


SITE: Final = ListsSite(name="admin")
