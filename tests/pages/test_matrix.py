"""The answer to each role at every address, and the rules that every page follows, refusals included."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import pytest
from allauth.core.exceptions import ReauthenticationRequired
from django.contrib.messages.storage.cookie import CookieStorage
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404
from django.template.backends.django import Template
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse
from django.utils import translation
from django_htmx.middleware import HtmxDetails

from ops.http import FOR_ALL
from players.login.adapter import HouseBackend
from players.login.sessions import SessionStore
from tests.harness.sweeps import LANGUAGES, SHOWN_LANGUAGES, TURN, in_turn, share, sweep
from tests.matrix import (
    DOCUMENT,
    FORBIDDEN,
    FRAMED,
    INSIDE,
    LINES,
    LOG_IN,
    NOT_FOUND,
    PAGE,
    PLAYERS,
    ROLES,
    STAFF,
    TEXT,
    UNSIGNED,
    Answer,
    Line,
    World,
)
from tests.pages.house import undone
from tests.pages.markup import Page
from tests.people import a_visitor

STATUS = {
    PAGE: 200,
    TEXT: 200,
    DOCUMENT: 200,
    FRAMED: 200,
    INSIDE: 302,
    LOG_IN: 302,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    UNSIGNED: 400,
}
POLICY = {
    "default-src": "'none'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "media-src": "'self'",
    "connect-src": "'self'",
    "worker-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
# Exceptions for framing: a live table, by the page that shows two of them.
FRAMING = {"multi_table": {"frame-src": "'self'"}, "live_framed": {"frame-ancestors": "'self'"}}

A_NONCE = "a-nonce"
A_TOKEN = re.compile(r'(?<=name="csrfmiddlewaretoken" value=")\w+')

# The same for everybody: these may be kept.
EVERYBODYS = {"service_worker", "api_schema", "log_checkpoint", "log_tile"}

EVERY_LINE = [pytest.param(line, id=f"{line.name} {line.method}") for line in LINES]
NUMBER = {id(line): number for number, line in enumerate(LINES)}
# A person who signs what they send needs no token.
POSTS = [line for line in LINES if line.method == "POST" and UNSIGNED not in line.answers.values()]
PARTS = 3  # on one in so many lines, a role asks in vain through the whole stack
ASKED_IN_VAIN = share(LINES, PARTS)
METHODS = {line.name: {other.method for other in LINES if other.name == line.name} for line in LINES}
UNLISTED = [(line, method) for line in LINES for method in sorted({"GET", "POST"} - METHODS[line.name])]


def addresses(resolver: URLResolver, space: str = "") -> Iterator[str | None]:
    """Yield the names of all addresses; for one without, its namespace, and None where it is in none."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            yield space + pattern.name if pattern.name else space or None
        else:
            yield from addresses(pattern, f"{pattern.namespace}:" if pattern.namespace else space)


def insider(line: Line) -> str:
    """Return a role that the line lets in."""
    best = (
        PAGE,
        TEXT,
        DOCUMENT,
        FRAMED,
        INSIDE,
        UNSIGNED,
        NOT_FOUND,
        LOG_IN,
    )  # where nobody gets in, everybody is led to the log-in
    return next(role for answer in best for role in ROLES if line.answers[role] is answer)


def ask(visitor: Client, line: Line, world: World, method: str = "") -> Any:
    """Ask as the line says, or by another method; its changes are rolled back."""
    send = getattr(visitor, (method or line.method).lower())
    url, data = line.url(world), dict(line.data(world))
    with undone():
        return send(url, data)


def check_headers(answer: Any) -> str:
    """Check the security headers of an answer; return the nonce that its scripts must have ("" if it has none)."""
    other = FRAMING.get(answer.resolver_match.view_name, {}) if answer.status_code == STATUS[PAGE] else {}
    policy = dict(part.strip().partition(" ")[::2] for part in answer["Content-Security-Policy"].split(";"))
    scripts = policy.pop("script-src")
    nonce = re.fullmatch(r"(?:'nonce-([\w+/=-]{16,})')?", scripts)
    assert nonce, scripts
    assert policy == POLICY | other
    assert answer["X-Frame-Options"] == ("SAMEORIGIN" if "frame-ancestors" in other else "DENY")
    assert answer["X-Content-Type-Options"] == "nosniff"
    check_everywhere(answer)
    for cookie in filter(lambda cookie: cookie.value, answer.cookies.values()):
        assert cookie["httponly"], cookie
        assert cookie["samesite"] == "Lax", cookie
    return nonce[1] or ""


def check_everywhere(answer: Any) -> None:
    """Check that an answer is not stored, except public pages, and that other sites cannot use it."""
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer["Permissions-Policy"] == FOR_ALL["Permissions-Policy"]
    kept = {part.strip() for part in answer["Cache-Control"].split(",")}
    is_everybodys = answer.status_code == STATUS[PAGE] and answer.resolver_match.view_name in EVERYBODYS
    assert ("no-store" in kept and "public" not in kept) or is_everybodys, kept


@lru_cache(maxsize=100)
def read(text: str) -> Page:
    """Read a page. Most answers of the matrix are the same page, which is refused to another role."""
    return Page(text, A_NONCE)


def check_page(answer: Any, language: str) -> None:
    """Check the rules for all pages on an HTML answer."""
    nonce = check_headers(answer)
    text = answer.text.replace(nonce, A_NONCE) if nonce else answer.text
    page = read(A_TOKEN.sub("", text))
    assert page.faults == []
    assert page.language == language
    assert page.title.strip()
    assert page.headings == 1


def check_document(answer: Any) -> None:
    """Check that a player's upload is not executed, framed, cached or embedded."""
    assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    check_everywhere(answer)
    assert answer["Content-Disposition"].startswith(("inline; filename=", "attachment; filename="))


def check_answer(answer: Any, line: Line, expected: Answer) -> None:
    """Compare the answer to one role with the matrix."""
    assert answer.status_code == STATUS[expected]
    to_log_in = answer.get("Location", "").startswith(reverse("account_login"))
    assert to_log_in is (expected is LOG_IN)
    if expected in (PAGE, FRAMED, FORBIDDEN, NOT_FOUND):
        check_page(answer, language="en")
    elif expected is DOCUMENT:
        check_document(answer)
    else:
        check_headers(answer)


@contextmanager
def named(what: str, wrong: list[Exception]) -> Iterator[None]:
    """Add an exception raised in the block to *wrong*, with the note *what*."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  (raised below, with those of the other lines)
        error.add_note(what)
        wrong.append(error)


def raise_together(wrong: list[Exception]) -> None:
    """Raise all that is wrong, if anything is."""
    if wrong:
        raise ExceptionGroup("not as the matrix says", wrong)


def test_every_address_has_a_name_and_a_line():
    """The addresses of the API are in `tests/api/matrix.py`."""
    of_pages = {name for name in addresses(get_resolver()) if not (name and name.startswith("api:"))}
    assert of_pages == {line.name for line in LINES}


def asked_today(line: Line, is_sweep: bool) -> set[str]:
    """Return the roles that ask through the whole stack.

    `make test` asks as one of the players or one of the members of staff who get the same answer, players on one day
    and staff on the next, and on a third of the lines as one of the roles that get 403; as others two days later. The
    next test asks each view as all others.
    """
    if is_sweep:
        return {*ROLES}
    turn = TURN + NUMBER[id(line)]
    refused = [role for role in ROLES if line.answers[role] is FORBIDDEN]
    # A line asks in vain every third day, so its turn must grow by one from each of these days to the next.
    asked = (
        {*in_turn(refused, TURN // PARTS + NUMBER[id(line)], is_sweep)} if refused and line in ASKED_IN_VAIN else set()
    )
    alike = (STAFF, PLAYERS)[turn % 2]
    for answer in {line.answers[role] for role in alike} - {FORBIDDEN}:
        asked |= {*in_turn([role for role in alike if line.answers[role] is answer], turn // 2, is_sweep)}
    return asked | ({"anonymous"} - {*refused})


@pytest.mark.parametrize("line", EVERY_LINE)
def test_every_role_gets_what_the_matrix_says(line, house, is_sweep):
    wrong: list[Exception] = []
    for role in sorted(asked_today(line, is_sweep), key=ROLES.index):
        with named(f"as {role}", wrong):
            check_answer(ask(house.visitor(role), line, house), line, line.answers[role])
    raise_together(wrong)


def test_every_view_lets_in_and_refuses_the_roles_of_the_matrix(house, is_sweep, monkeypatch):
    """The view is called without what all addresses share: middleware, templates and the page of the
    refusal.
    """
    monkeypatch.setattr(Template, "render", lambda template, context=None, request=None: "")
    asked = {id(line): {role for role in ROLES if line.answers[role] is FORBIDDEN} for line in LINES}
    for line in LINES:
        asked[id(line)] |= {*STAFF, *PLAYERS} - asked_today(line, is_sweep)
    lines = [line for line in LINES if asked[id(line)]]
    for line in lines:
        line.arguments(house)
        line.data(house)
    users = {role: HouseBackend().get_user(user.pk) for role in ROLES if (user := house.user(role))}
    wrong: list[Exception] = []
    with undone():
        for line in lines:
            for role in sorted(asked[id(line)]):
                request = getattr(RequestFactory(), line.method.lower())(line.url(house), dict(line.data(house)))
                with translation.override("en"):
                    view, arguments, named_ones = request.resolver_match = resolve(request.path_info)
                request.user, request.session = users[role], SessionStore()
                request.htmx = HtmxDetails(request)
                request._messages = CookieStorage(request)
                with named(f"{line.name} {line.method} as {role}", wrong), transaction.atomic():
                    try:
                        status = view(request, *arguments, **named_ones).status_code
                    except PermissionDenied:
                        status = STATUS[FORBIDDEN]
                    except Http404:
                        status = STATUS[NOT_FOUND]
                    except ReauthenticationRequired:  # a middleware leads to the page for it
                        status = STATUS[INSIDE]
                    assert status == STATUS[line.answers[role]]
                    transaction.set_rollback(True)
    raise_together(wrong)


def test_a_method_without_a_line_is_refused(house):
    wrong: list[Exception] = []
    for line, method in share(UNLISTED, parts=4):
        with named(f"{line.name} {method}", wrong):
            answer = ask(house.visitor(insider(line)), line, house, method)
            assert answer.status_code == 405
            check_everywhere(answer)
    raise_together(wrong)


def test_every_form_needs_its_token(house):
    """No view is exempt, and those of a quarter of the lines are asked."""
    with translation.override("en"):
        views = {line.name: resolve(line.url(house)).func for line in POSTS}
    assert [name for name, view in views.items() if getattr(view, "csrf_exempt", False)] == []
    wrong: list[Exception] = []
    for line in share(POSTS, parts=4):
        with named(line.name, wrong):
            answer = ask(house.visitor(insider(line), enforce_csrf_checks=True), line, house)
            assert answer.status_code == 403
            check_page(answer, language="en")
    raise_together(wrong)


@pytest.mark.parametrize(
    "language",
    sweep([code for code in LANGUAGES if code != "en"], always={*SHOWN_LANGUAGES} - {"en"}),
)
def test_every_page_says_which_language_it_is_in(language, house):
    """The matrix covers English. `make test` asks for a fifth of the pages, which in time meets each other language."""
    wrong: list[Exception] = []
    for line in share(LINES, parts=5):
        if line.is_page and (url := line.url(house, language)).startswith(f"/{language}/"):
            visitor = house.visitor(insider(line))
            with named(line.name, wrong), undone():
                check_page(visitor.get(url), language)
    raise_together(wrong)


@pytest.mark.django_db
def test_an_address_that_does_not_exist_gets_a_page_of_the_house():
    answer = a_visitor().get("/sv/nowhere/")
    assert answer.status_code == 404
    check_page(answer, language="sv")
