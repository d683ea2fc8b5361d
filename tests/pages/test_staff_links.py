"""Links of the back office: each leads to a page that its reader may open, and what a page names is a link.

Every page of the matrix is read as every role. The floor, for one, led operators to pages that they may not open.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit
from uuid import UUID

import pytest
from django.urls import Resolver404, resolve

from backoffice.lists.cells import PAGES, address_of
from players.access import PERMISSIONS, may_open
from tests.matrix import LINES, PAGE, STAFF
from tests.pages.house import House, undone

NAMED = re.compile(rf"(?<![\w:/=])({'|'.join(PAGES)}):([0-9a-f-]+)(?![\w:])")
# Elements in which a name cannot be a link, or is typed by the reader or sent to an API.
UNLINKED = {"a", "button", "code", "h1", "label", "option", "pre", "script", "summary", "textarea", "title"}
UNSAID = {"visually-hidden", "help"}  # classes of what is not shown, and of examples of what can be typed
A_ROUND = f"round:{UUID(int=0)}"
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Links(HTMLParser):
    """The links of a page within the back office, and the names of rows in its text that are no links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.bare: set[str] = set()
        self._open: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note a link."""
        given = {name: value or "" for name, value in attributes}
        if tag == "a" and given.get("href", "").startswith(("/staff/", "?")):
            self.links.add(given["href"])
        if tag not in VOID:
            self._open.append((tag, given.get("class", "")))

    def handle_endtag(self, tag: str) -> None:
        """Note the end of an element."""
        if any(tag == name for name, _ in self._open):
            while self._open.pop()[0] != tag:
                continue

    def handle_data(self, data: str) -> None:
        """Note names outside links, in the main part of the page."""
        names = {name for name, _ in self._open}
        if "main" not in names or names & UNLINKED or any(UNSAID & set(style.split()) for _, style in self._open):
            return
        self.bare |= {found[0] for found in NAMED.finditer(data)}
        if "round-code" in self._open[-1][1]:
            self.bare.add(data.strip())


def pages(house: House) -> Iterator[tuple[str, str, Links]]:
    """Yield every page of the back office as each role that may open it: the role, the address, and its links."""
    for line in LINES:
        if line.method != "GET":
            continue
        for role in STAFF:
            if line.answers[role] is not PAGE:
                continue
            address, sent, visitor = line.url(house), line.data(house), house.visitor(role)
            if address.startswith("/staff/"):
                with undone():
                    answer = visitor.get(address, {name: str(value) for name, value in sent.items()})
                assert answer.status_code == 200
                yield role, address, Links(answer.text)


@pytest.mark.sweep
def test_every_link_leads_to_a_page_that_the_reader_may_open_and_every_row_named_is_a_link(house: House) -> None:
    shut: dict[str, set[str]] = {}
    bare: dict[str, set[str]] = {}
    links = 0
    users = {role: user for role in STAFF if (user := house.user(role))}
    for role, address, found in pages(house):
        user = users[role]
        links += len(found.links)
        for link in found.links:
            path = urlsplit(urljoin(address, link)).path
            try:
                view = resolve(path)
            except Resolver404:
                shut.setdefault(f"{address} -> {link}, which is nowhere", set()).add(role)
                continue
            if hasattr(view.func, PERMISSIONS) and not may_open(user, path):
                shut.setdefault(f"{address} -> {link}", set()).add(role)
        for name in found.bare:
            page = address_of(name if ":" in name else A_ROUND, user)
            if page and page != address:
                bare.setdefault(f"{address}: {name}", set()).add(role)
    assert links > 1000
    assert not shut, "\n".join(f"{link} for {', '.join(sorted(roles))}" for link, roles in shut.items())
    assert not bare, "\n".join(f"{name} for {', '.join(sorted(roles))}" for name, roles in bare.items())
