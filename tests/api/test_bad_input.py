"""Every operation refuses invalid input with a problem that names the field, and changes nothing.

`make test` sends one kind of fault to each operation, `make test-all` sends all of them.
"""

from collections.abc import Callable, Collection, Iterator
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import pytest
from django.db import connection

from audit.models import Clock
from players.api import tokens
from players.api.problems import KINDS, MEDIA_TYPE
from players.models import ApiToken, Scope, User
from tests.api.client import OF_STAFF, ApiClient
from tests.api.matrix import World
from tests.api.operations import Operation, operations, whole
from tests.harness.owner import readable_tables
from tests.harness.sweeps import in_turn, sample
from tests.people import a_member_of_staff

T = TypeVar("T")

pytestmark = pytest.mark.django_db

EVERY = list(operations())
TEN_MEGABYTES = 10_000_000
MALFORMED = {
    "cut off": b"{",
    "a list": b"[]",
    "null": b"null",
    "a text": b'"x"',
    "a number": b"1",
    "NaN": b'{"a":NaN}',
    "infinite": b'{"a":-Infinity}',
    "a key twice": b'{"a":1,"a":1}',
    "no UTF-8": b'{"a":"\xff"}',
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "a lone surrogate": b'{"a":"\\ud800"}',
    "deep": b'{"a":' * 9 + b"1" + b"}" * 9,
    "very deep": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "more digits than Python reads": b'{"a":' + b"9" * 5000 + b"}",
    "a comment": b"{} // nothing",
}
OTHER_TYPES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", "")
WRONG: dict[str, tuple[Any, ...]] = {
    "integer": ("5", "", 1.5, True, None, [], {}, 10**30, -(10**30)),
    "string": (5, 1.5, True, None, [], {}, "a\0b", "x" * 200_000),
    "boolean": (1, 0, "true", None, [], {}),
    "object": (5, "x", None, [1]),
    "array": (5, "x", None, {}),
}
# In other time zones, the first and the last day that Python knows have no beginning or no end.
MOMENTS = {
    "date": ("x", "0001-01-01", "9999-12-31", "2026-02-30", "2026-01-01T00:00"),
    "date-time": ("x", "0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59Z"),
}
NOWHERE = ("0", "-1", "9" * 40, "x", "no-such-thing", "%00", "..%2f", "a" * 3000, "%ED%A0%80", "'\"<")
CURSORS = ("!", "AAAA", "eA", "LTE", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "x" * 201)


@pytest.fixture
def world() -> World:
    return World()


def client_of(operation: Operation, world: World) -> ApiClient:
    """Return an API client that may call the operation."""
    return ApiClient(a_member_of_staff("compliance").user if operation.is_of_staff else world.player.user)


def count() -> dict[str, int]:
    """Return the number of rows of each table. Refusals in the log do not count: they may be written."""
    tables = readable_tables()
    counts = " UNION ALL ".join(f"SELECT '{table}', count(*) FROM \"{table}\"" for table in tables)
    with connection.cursor() as cursor:
        cursor.execute(counts)
        return dict(cursor.fetchall())


class Refusals:
    """Sends requests, and collects the faults of the answers."""

    def __init__(self, operation: Operation, api_client: ApiClient) -> None:
        self.operation = operation
        self.api_client = api_client
        self.wrong: list[tuple[Any, ...]] = []

    def expect(self, what: Any, answer: Any, status: int, code: str, pointer: str | None = None) -> None:
        """Compare an answer with the expected problem."""
        body = answer.json() if answer["Content-Type"] == MEDIA_TYPE else {}
        pointers = [error["pointer"] for error in body.get("errors", [])]
        found = answer.status_code, body.get("code")
        named = pointer is None or any(f"{each}/".startswith(f"{pointer}/") for each in pointers)
        if found != (status, code) or not named:
            self.wrong.append((what, *found, pointers))

    def send(self, body: Any, **headers: str) -> Any:
        """Send a body to the operation."""
        path = self.operation.path().removeprefix("/api/v1/")
        return self.api_client.send(self.operation.method, path, body, **headers)

    def ask(self, query: str = "", method: str = "", **positions: str) -> Any:
        """Send a request with a query, by another method, or with other words in the address."""
        path = self.operation.path(**positions) + query
        sent = {"Idempotency-Key": str(uuid4())} if self.operation.is_write else {}
        return getattr(self.api_client.client, method or self.operation.method)(
            path,
            **({"data": b"{}", "content_type": "application/json"} if self.operation.is_write else {}),
            headers=sent,
        )


@pytest.fixture
def refusals(operation: Operation, world: World) -> Iterator[Refusals]:
    """Requests to the operation. Fails at the end with all faults, and if anything has changed."""
    asking = Refusals(operation, client_of(operation, world))
    world.table  # noqa: B018  (made when first spoken of)
    before = count()
    yield asking
    after = count()
    assert {table: after[table] - number for table, number in before.items() if after[table] != number} == {}
    assert asking.wrong == []


every_operation = pytest.mark.parametrize("operation", sample(EVERY, 5), ids=lambda operation: operation.id)
Turn = Callable[[Collection[T]], list[T]]


@pytest.fixture
def turn(operation: Operation, is_sweep: bool) -> Turn[Any]:
    """Gives each operation another one of many values, and all of them in a sweep."""
    return partial(in_turn, number=EVERY.index(operation), is_sweep=is_sweep)


def say_what_cannot_be_read(operation: Operation, refusals: Refusals, turn: Turn[Any]) -> None:
    for what, raw in turn(MALFORMED.items()):
        refusals.expect(what, refusals.send(raw), 400, "malformed")
    for kind in turn(OTHER_TYPES):
        answer = refusals.api_client.client.generic(
            operation.method.upper(), operation.path(), b"{}", content_type=kind, headers={"Idempotency-Key": "a"}
        )
        refusals.expect(kind, answer, 415, "unsupported-media-type")
    refusals.expect("gzip", refusals.send({}, **{"Content-Encoding": "gzip"}), 415, "unsupported-media-type")
    refusals.expect("10 MB", refusals.send(b'{"a":"' + b"x" * TEN_MEGABYTES + b'"}'), 413, "too-large")


def send_fields_that_are_missing_unknown_or_of_another_type(
    operation: Operation, refusals: Refusals, turn: Turn[Any]
) -> None:
    good, body = operation.good(), operation.body or {"properties": {}}
    refusals.expect("unknown", refusals.send(good | {"surprise": 1}), 400, "invalid", "/surprise")
    for name in body.get("required", []):
        without = {each: value for each, value in good.items() if each != name}
        refusals.expect(f"without {name}", refusals.send(without), 400, "invalid", f"/{name}")
    for name, schema in body["properties"].items():
        for value in turn(list(wrong_values(whole(schema)))):
            refusals.expect((name, repr(value)[:30]), refusals.send(good | {name: value}), 400, "invalid", f"/{name}")


def wrong_values(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield values that the schema does not allow."""
    kinds = schema.get("type", "string")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    for value in WRONG[kinds[0]]:
        if not (value is None and "null" in kinds):
            yield value


def write_without_a_key(operation: Operation, refusals: Refusals, turn: Turn[Any]) -> None:
    if "Idempotency-Key" not in operation.headers:
        return
    path = operation.path().removeprefix("/api/v1/")
    for key in ("", "a" * 101, "å", "a,a"):  # the last is what a header becomes that was sent twice
        answer = refusals.api_client.send(operation.method, path, operation.good(), key=key)
        refusals.expect(f"key {key[:5]!r}", answer, 400, "idempotency-key-missing")


def ask_with_another_query(operation: Operation, refusals: Refusals, turn: Turn[Any]) -> None:
    for query in turn(("?surprise=1", "?surprise=1&surprise=2", "?a%00=1")):
        answer, name = refusals.ask(query), query[1:].partition("=")[0].replace("%00", "\0")
        if operation.is_write or not leads_nowhere(operation, answer):
            refusals.expect(query, answer, 400, "invalid", f"/?{name}")
    for name, each in operation.query.items():
        values = ["a%00b"]
        if whole(each["schema"]).get("type") == "integer":
            values += ["x", "1.5", "9" * 40, "-" + "9" * 40, "9" * 5000, ""]
        values += MOMENTS.get(whole(each["schema"]).get("format", ""), ())
        if name == "limit":
            values += ["%D9%A3", "1_0", "%2B3"]  # three in another script, and what Python takes for numbers
        if name == "cursor":
            values += CURSORS
        for value in turn(values):
            answer = refusals.ask(f"?{name}={value}")
            if not leads_nowhere(operation, answer):
                refusals.expect(f"{name}={value[:20]}", answer, 400, "invalid", f"/?{name}")
        answer = refusals.ask(f"?{name}=1&{name}=1")
        if not leads_nowhere(operation, answer):
            refusals.expect(f"{name} twice", answer, 400, "invalid", f"/?{name}")


def leads_nowhere(operation: Operation, answer: Any) -> bool:
    """Return whether the addressed object does not exist, so that the query is not read."""
    return 404 in operation.statuses and answer.status_code == 404 and answer["Content-Type"] == MEDIA_TYPE


def ask_where_nothing_is(operation: Operation, refusals: Refusals, turn: Turn[Any]) -> None:
    for name in operation.path_parameters:
        for word in turn(NOWHERE):
            answer = refusals.ask(**{name: word})
            if answer.status_code != 400 or answer.json()["code"] != "invalid":
                refusals.expect((name, word[:10]), answer, 404, "not-found")


def ask_by_another_method(operation: Operation, refusals: Refusals, turn: Turn[Any]) -> None:
    known = {each.method for each in EVERY if each.address == operation.address}
    for method in ("get", "post", "put", "patch", "delete", "options", "trace"):
        if method not in known:
            answer = getattr(refusals.api_client.client, method)(operation.path())
            refusals.expect(method, answer, 405, "method-not-allowed")
            assert set(answer["Allow"].lower().split(", ")) - {"head"} == known


TO_WRITES = (say_what_cannot_be_read, send_fields_that_are_missing_unknown_or_of_another_type, write_without_a_key)
TO_ALL = (ask_with_another_query, ask_where_nothing_is, ask_by_another_method)


@every_operation
def test_what_no_api_client_should_say_is_refused_and_changes_nothing(operation: Operation, refusals: Refusals, turn):
    for say in (*(TO_WRITES if operation.is_write else ()), *TO_ALL):
        say(operation, refusals, turn)


def spent_tokens(user: User) -> Iterator[tuple[str, str]]:
    """Keys of tokens that were valid once, by their present state."""
    scopes = OF_STAFF if hasattr(user, "staff") else [Scope.READ, Scope.PLAY, Scope.LIMITS]
    revoked, key = tokens.make(user=user, name="a test", scopes=scopes, days=1)
    tokens.revoke(token_id=revoked.pk, by="system")
    yield "revoked", key
    ending = {"ends_at": Clock() + timedelta(milliseconds=1), "scopes": sorted(scopes), "per_minute": 1000}
    ApiToken.objects.create(user=user, name="a test", start="sabot_", digest=tokens.digest_of("sabot_over"), **ending)
    yield "expired", "sabot_over"


@every_operation
def test_a_token_that_does_not_hold(operation: Operation, world: World, turn):
    user = a_member_of_staff("compliance").user if operation.is_of_staff else world.player.user
    said = {what: f"Bearer {key}" for what, key in spent_tokens(user)} | {
        "none": "",
        "garbled": "Bearer sabot_å",
        "unknown": "Bearer sabot_AAAA",
        "long": "Bearer " + "x" * 5000,
        "another scheme": "Basic c2Fib3Q6c2Fib3Q=",
        "nothing in it": "Bearer",
    }
    asking = Refusals(operation, ApiClient(None))
    before = count() if operation.is_write else {}
    for what, header in turn(said.items()):
        asking.api_client.client.defaults["HTTP_AUTHORIZATION"] = header
        asking.expect(what, asking.ask(), 401, "token-refused")
    assert (count() if operation.is_write else {}) == before
    assert asking.wrong == []


def test_every_code_is_registered_with_a_title_and_a_status_of_refusals():
    assert {kind.code for kind in KINDS.values() if not (400 <= kind.status <= 599 and str(kind.title))} == set()
