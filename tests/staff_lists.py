"""Lists of the back office outside a page, for tests of what they read."""

from typing import Any, TypeVar, cast

from django.test import RequestFactory

from backoffice.lists.staff_list import StaffList
from players.access import StaffRequest

Kind = TypeVar("Kind", bound=StaffList)


def asked_for(kind: type[Kind], of: Any = None, /, **query: Any) -> Kind:
    """Return a list as a request with this query asks for it."""
    return kind(cast("StaffRequest", RequestFactory().get("/", query)), of)
