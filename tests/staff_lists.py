"""Lists of the back office outside a page, and the open tasks of its home page, for tests of what they read."""

import re
from html import unescape
from typing import Any, TypeVar, cast

from django.test import Client, RequestFactory
from django.urls import reverse

from backoffice.lists.staff_list import StaffList
from players.access import StaffRequest

Kind = TypeVar("Kind", bound=StaffList)


def asked_for(kind: type[Kind], of: Any = None, /, **query: Any) -> Kind:
    """Return a list as a request with this query asks for it."""
    return kind(cast("StaffRequest", RequestFactory().get("/", query)), of)


def open_tasks(reader: Client) -> dict[str, int]:
    """Return the queues on the home page of a member of staff in which something waits, with their counts."""
    page = reader.get(reverse("staff_home")).text
    rows = re.findall(r'<th scope="row"><a class="link" href="[^"]*">([^<]*)</a></th>.*?>(\d+)', page, re.DOTALL)
    return {unescape(name): int(count) for name, count in rows}
