"""The site of all lists, with the addresses that it needs and no other: who logs in, changes a password or adds a row
does so elsewhere or not at all.
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
from players.staff.sections import Section

WORK: Final = "players.work"  # what all staff may
CATALOGUE: Final = "jsi18n"  # words that unfold's scripts ask for by this name


class ListsSite(UnfoldAdminSite):
    """What lists there are, and who may see which."""

    index_title = "Lists"
    enable_nav_sidebar = True

    def has_permission(self, request: HttpRequest) -> bool:
        """Say whether somebody stands inside the fence."""
        user = request.user
        return staff_of(user) is not None and user.has_perm(WORK) and second_factor.is_set_up(cast("Any", user))

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Return the first page and the pages of every list."""
        return [
            path("", fenced(self._home, WORK), name="index"),
            path(f"{CATALOGUE}/", fenced(self._catalogue, WORK), name=CATALOGUE),
            *(
                path(f"{listing.opts.app_label}/{listing.opts.model_name}/", include(listing.get_urls()))
                for listing in self.listings()
            ),
        ]

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return no apps: lists are grouped by what they are about."""
        return []

    def listings(self) -> list[Listing]:
        """Return all lists."""
        return [cast("Listing", listing) for listing in self._registry.values()]

    def listed(self, request: HttpRequest) -> Iterator[tuple[Section, list[Listing]]]:
        """Yield the lists that whoever asks may see, by what they are about."""
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
