"""Staff forms sent with a valid token and ids of existing rows: by another role, twice, with fields
that are missing, too long or out of range, and for rows of another kind.

`make test` sends a third of them, others each day, `make test-all` all. That every other role is refused everywhere is
tested in `tests/pages/test_matrix.py` each day. Values that are not text are in
`tests/pages/test_hostile_input.py`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import NoReverseMatch, reverse

from audit.models import Approval
from tests.builders import a_verified_player
from tests.harness.rows_written import rows_written
from tests.harness.sweeps import TURN, in_turn, share
from tests.matrix import FORBIDDEN, INSIDE, LINES, NOT_FOUND, PAGE, STAFF, Line
from tests.pages.house import House, undone
from tests.wallet.payout_builders import a_withdrawal
from wallet.models import Journal

FORMS = [line for line in LINES if line.name.startswith("staff_") and line.method == "POST"]
STATUS = {PAGE: 200, INSIDE: 302, NOT_FOUND: 404}
# A refusal is an event, and the session of who was refused has done something.
OF_A_REFUSAL = {"audit_event", "audit_pending", "audit_personal", "players_session", "django_session"}
PARTS = 3  # `make test` sends one in so many forms
FIELDS = {"too long": "x" * 100_000, "below": "-1", "above": str(10**30), "no number": "NaN", "nothing": "   "}
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@pytest.fixture(scope="module")
def full(house: House) -> House:
    """A house in which everything that the forms are about exists."""
    for line in LINES:
        line.arguments(house)
        line.data(house)
    a_withdrawal(a_verified_player(real=100_000))
    for role in STAFF:
        house.visitor(role)
    return house


def with_token(house: House, role: str) -> tuple[Client, dict[str, Any]]:
    """Return the browser of a role, which checks tokens, and the token of its forms."""
    visitor = house.visitor(role, enforce_csrf_checks=True, raise_request_exception=False)
    return visitor, {"csrfmiddlewaretoken": token_of(house, role)}


@cache
def token_of(house: House, role: str) -> str:
    """Return a token from a page of the role's. It is good as long as their cookie is, which the house keeps."""
    found = TOKEN.search(house.visitor(role).get("/en/terms/").text)
    assert found
    return found[1]


def insider(line: Line) -> str:
    return next(role for role in STAFF if line.answers[role] is not FORBIDDEN)


def sent_as(house: House, line: Line, **changes: Any) -> dict[str, Any]:
    """Return the good form of a line with *changes*; a field that becomes None is missing."""
    return {name: value for name, value in {**line.data(house), **changes}.items() if value is not None}


def sent_today() -> Iterator[tuple[int, Line]]:
    """Yield the forms of this run, each with a number that grows by one from each day of the form to its next."""
    return enumerate(share(FORMS, PARTS), TURN // PARTS)


def test_of_another_role_s_work_is_refused_and_writes_nothing(full, is_sweep):
    wrong = []
    for number, line in sent_today():
        strangers = [role for role in STAFF if line.answers[role] is FORBIDDEN]  # none where a form is everybody's
        for role in in_turn(strangers, number, is_sweep) if strangers else []:
            with undone():
                visitor, token = with_token(full, role)
                before = rows_written()
                status = visitor.post(line.url(full), sent_as(full, line, **token)).status_code
                written = set(rows_written() - before)
            if status != 403 or written - OF_A_REFUSAL:
                wrong.append((line.name, role, status, written))
    assert wrong == []


def test_of_one_s_own_work_gets_in_with_the_same_token(full):
    """Or the token was what refused the others."""
    wrong = []
    for line in share(FORMS, parts=6):
        with undone():
            visitor, token = with_token(full, insider(line))
            status = visitor.post(line.url(full), sent_as(full, line, **token)).status_code
        if status != STATUS[line.answers[insider(line)]]:
            wrong.append((line.name, status))
    assert wrong == []


def variants(line: Line, data: Mapping[str, object]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return what is wrong with a form, and the fields that change."""
    yield "empty", dict.fromkeys(data)
    for name in data:
        yield f"{name} missing", {name: None}
        yield f"{name} twice", {name: ["1", "2"]}
        yield from ((f"{name} {what}", {name: value}) for what, value in FIELDS.items())


def test_that_is_wrong_is_no_fault_and_moves_no_money(full, is_sweep):
    wrong = []
    for number, line in sent_today():
        for what, changes in in_turn(list(variants(line, line.data(full))), number, is_sweep):
            with undone():
                before = Journal.objects.count()
                visitor, token = with_token(full, insider(line))
                status = visitor.post(line.url(full), sent_as(full, line, **token, **changes)).status_code
                if status >= 500 or (status < 500 and Journal.objects.count() != before):
                    wrong.append((line.name, what, status))
    assert wrong == []


def test_that_is_sent_again_is_no_fault_and_does_nothing_twice(full):
    wrong: list[tuple[str, object]] = []
    for line in share(FORMS, PARTS):
        with undone():
            visitor, token = with_token(full, insider(line))
            address, sent, counts = line.url(full), sent_as(full, line, **token), []
            for _ in range(2):
                answer = visitor.post(address, sent)
                counts.append((Journal.objects.count(), Approval.objects.count()))
                if answer.status_code >= 500:
                    wrong.append((line.name, answer.status_code))
                    break
            if counts[0] != counts[-1]:
                wrong.append((line.name, counts))
    assert wrong == []


def test_about_a_row_of_another_kind_is_no_fault_and_moves_no_money(full, is_sweep):
    arguments = [value for line in FORMS for value in line.arguments(full).values()]
    ids: dict[type, list[Any]] = {
        kind: sorted({each for each in arguments if type(each) is kind}) for kind in (int, UUID)
    }
    wrong = []
    for number, line in sent_today():
        for name, own in line.arguments(full).items():
            others = [each for each in ids.get(type(own), []) if each != own]
            for other in in_turn(others, number, is_sweep) if others else ():
                try:
                    address = reverse(line.name, kwargs={**line.arguments(full), name: other})
                except NoReverseMatch:
                    continue
                with undone():
                    before = Journal.objects.count()
                    visitor, token = with_token(full, insider(line))
                    status = visitor.post(address, sent_as(full, line, **token)).status_code
                    if status >= 500 or Journal.objects.count() != before:
                        wrong.append((line.name, name, str(other), status))
    assert wrong == []
