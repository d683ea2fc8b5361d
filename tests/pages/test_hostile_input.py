"""Invalid input to an address of the back office causes no server error and moves no money: values that no form of
its pages sends, in any field, and addresses of rows that cannot exist.
"""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch, reverse

from tests.builders import a_verified_player
from tests.harness.sweeps import TURN, in_turn, share
from tests.matrix import FORBIDDEN, LINES, STAFF, Line
from tests.pages.house import House, undone
from tests.wallet.payout_builders import a_withdrawal
from wallet.models import Journal

OF_STAFF = [line for line in LINES if line.name.startswith("staff_")]
VALUES = {
    "a NUL": "a\0b",
    "beyond a bigint": str(2**63),
    "more digits than Python reads": "9" * 5000,
    "the first day": "0001-01-01",
    "the last day": "9999-12-31",
    "another alphabet’s digits": "\u0663",
}
# Parameters in the addresses of staff pages; those of a page's forms and links are added.
ASKED = (
    "about account after as before by category code currency day doubt first from hours kind last mark name number on"
    " page period player q round settled since state status table text until variant verdict weight what which who"
)
TRIED = share(OF_STAFF, parts=15)  # these addresses
BODIES = {
    "application/json": b'{"reason": "\\u0000"}',
    "application/x-www-form-urlencoded": b"reason=%00%ED%A0%80%FF&=&&%",
    "multipart/form-data": b"no boundary",
    "multipart/form-data; boundary=x": b"--x\r\nContent-Disposition: form-data; name=reason; filename=a\r\n\r\n",
    "text/plain; charset=nothing": b"\xff\xfe\x00",
}
METHODS = ("HEAD", "OPTIONS", "PUT", "DELETE")
POSITIONS: dict[type, tuple[Any, ...]] = {
    int: (0, 2**31, 2**63 - 1, 2**63, 10**40),
    str: ("x" * 3000, "a\0b", "..", "\u0663", str(2**63), "1~2", "0001-01-01T00:00:00+14:00~1"),
}


class Fields(HTMLParser):
    """The names of the fields of every form on a page, and their values, by method and address."""

    def __init__(self, page: str, address: str) -> None:
        super().__init__()
        self.of: dict[tuple[str, str], dict[str, str]] = {}
        self._here = address
        self._open: dict[str, str] | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note a form, or a field of the one that is open."""
        given = {name: value or "" for name, value in attributes}
        if tag == "form":
            place = given.get("method", "get").upper(), (given.get("action") or self._here).partition("?")[0]
            self._open = self.of.setdefault(place, {})
        elif self._open is not None and tag in ("input", "select", "textarea", "button") and given.get("name"):
            self._open.setdefault(given["name"], given.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        """Leave a form."""
        if tag == "form":
            self._open = None


@pytest.fixture(scope="module")
def full(house: House) -> House:
    """A house in which every page of staff has something on it."""
    for line in OF_STAFF:
        line.arguments(house)
        line.data(house)
    a_withdrawal(a_verified_player(real=100_000))
    for role in STAFF:
        house.visitor(role)
    return house


@pytest.fixture(scope="module")
def fields(full: House) -> dict[tuple[str, str], dict[str, str]]:
    """The fields of every form on the pages that are tried."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    with undone():
        for line in TRIED:
            if line.method == "GET":
                answer, address = visitor_of(line, full).get(line.url(full)), line.url(full)
                for place, names in Fields(answer.text if is_html(answer) else "", address).of.items():
                    found.setdefault(place, {}).update(names)
    return found


@pytest.fixture(autouse=True)
def world(full: House) -> Iterator[House]:
    """The same house, in which nobody has done anything else."""
    with undone():
        yield full


def is_html(answer: Any) -> bool:
    return not answer.streaming and "html" in answer["Content-Type"]


def visitor_of(line: Line, world: House) -> Client:
    """Return a browser of a role that gets further there than any other."""
    role = next(role for role in STAFF if line.answers[role] is not FORBIDDEN)
    visitor = world.visitor(role)
    visitor.raise_request_exception = False
    return visitor


def what_fails(visitor: Client, method: str, address: str, *sent: Any, **more: Any) -> list[str]:
    """Return the faults of the answer to one request; its changes are rolled back."""
    before = Journal.objects.count()
    with undone():
        answer = getattr(visitor, method.lower())(address, *sent, **more)
        is_fault = answer.status_code >= 500
        has_moved = not is_fault and Journal.objects.count() != before
    return ["fault"] * is_fault + ["money has moved"] * has_moved


def test_no_value_of_any_field_is_a_fault(world, fields, is_sweep):
    """`make test` sends a fifteenth of the addresses one value, in one or all fields; `make test-all` sends all."""
    wrong = []
    for number, line in enumerate(TRIED, TURN):
        address, visitor = line.url(world), visitor_of(line, world)
        known = {name: value for name, value in fields.get((line.method, address), {}).items() if "csrf" not in name}
        good = {**known, **line.data(world)} if line.method == "POST" else {}
        names = list({**(dict.fromkeys(known, "") if line.method == "GET" else {}), **good})
        for what, value in in_turn(VALUES.items(), number, is_sweep):
            each = [{**good, name: value} for name in names]
            for sent in in_turn((*each, dict.fromkeys((*known, *ASKED.split()), value)), number, is_sweep):
                faults = what_fails(visitor, line.method, address, sent)
                wrong += [(line.name, line.method, what, sent, fault) for fault in faults]
    assert wrong == []


@pytest.mark.sweep
def test_no_body_is_a_fault(world, is_sweep):
    """`make test` sends a fifteenth of the addresses one of the bodies, `make test-all` all of them."""
    wrong = []
    for number, line in enumerate((line for line in TRIED if line.method == "POST"), TURN):
        address, visitor = line.url(world), visitor_of(line, world)
        for content_type, body in in_turn(BODIES.items(), number, is_sweep):
            faults = what_fails(visitor, "generic", "POST", address, body, content_type=content_type)
            wrong += [(line.name, content_type, fault) for fault in faults]
    assert wrong == []


@pytest.mark.sweep
def test_no_method_is_a_fault(world, is_sweep):
    """`make test` asks a fifteenth of the addresses by one of the methods, `make test-all` by all of them."""
    wrong = []
    for number, line in enumerate(TRIED, TURN):
        for method in in_turn(METHODS, number, is_sweep):
            faults = what_fails(visitor_of(line, world), method, line.url(world))
            wrong += [(line.name, method, fault) for fault in faults]
    assert wrong == []


@pytest.mark.sweep
def test_no_row_that_cannot_be_is_a_fault(world, is_sweep):
    """`make test` asks a fifteenth of the addresses for one such row, `make test-all` for all of them."""
    wrong = []
    for number, line in enumerate(TRIED, TURN):
        arguments = dict(line.arguments(world))
        for name, value in arguments.items():
            for place in in_turn(POSITIONS[type(value)], number, is_sweep) if type(value) in POSITIONS else ():
                try:
                    address = reverse(line.name, kwargs={**arguments, name: place})
                except NoReverseMatch:
                    continue
                sent = dict(line.data(world)) if line.method == "POST" else {}
                faults = what_fails(visitor_of(line, world), line.method, address, sent)
                wrong += [(line.name, line.method, name, str(place)[:40], fault) for fault in faults]
    assert wrong == []


@pytest.mark.parametrize("referer", ["http://[", "//evil.example/", "http://testserver\\@evil.example/"])
def test_no_header_leads_a_visitor_out_of_the_house_or_is_a_fault(referer, world):
    visitor = Client(raise_request_exception=False)
    for headers in ({"Referer": referer}, {"HX-Request": "true", "HX-Current-URL": referer}):
        answer = visitor.post("/staff/tables/close/", headers=headers)
        led = answer.get("Location") or answer.get("HX-Redirect") or ""
        assert answer.status_code < 500
        assert led.startswith("/en/account/login/?next=%2F")
        assert "evil" not in led.partition("next=")[2].partition("&")[0] or "%2F%2F" not in led


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_no_end_of_time_is_a_fault(day, world):
    """Try forms in which a day must come with other values to be read."""
    at = f"{day}T00:00"
    posts = {
        "staff_report_ask": {"period": "own", "since": at, "until": at, "zone": "Europe/Stockholm"},
        "staff_statement_upload": {"provider": "sandbox", "since": day, "until": day},
    }
    wrong = []
    for line in OF_STAFF:
        if line.method == "POST" and line.name in posts:
            sent = {**posts[line.name], "file": a_statement()} if "upload" in line.name else posts[line.name]
            with transaction.atomic():
                visitor = visitor_of(line, world)
                answer = visitor.post(line.url(world), sent, follow=True)
                wrong += [(line.name, answer.status_code)] * (answer.status_code >= 500)
                transaction.set_rollback(True)
    assert wrong == []


def a_statement() -> SimpleUploadedFile:
    """The heading of one, and no line."""
    return SimpleUploadedFile("statement.csv", b"reference,kind,amount,currency,date,status\r\n", "text/csv")
