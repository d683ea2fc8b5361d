"""Errors that occur outside a view have the same format: refused requests, unknown addresses, internal faults."""

import json
import socket
import zlib
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest
from django.test import Client

from players.api.problems import MEDIA_TYPE
from tests.api.client import ApiClient
from tests.builders import a_player

SELF = "/api/v1/self/"
MEGABYTE = 1_000_000


def problem_of(answer: Any) -> tuple[int, str]:
    """Status and code of a problem."""
    assert answer["Content-Type"] == MEDIA_TYPE
    body = answer.json()
    assert body["status"] == answer.status_code
    assert body["type"] == f"/api/problems/{body['code']}/"
    return answer.status_code, body["code"]


def declining(charset: str) -> Any:
    """Return the answer to a write whose body declares this charset."""
    kind, said = f"application/json; charset={charset}", {"Idempotency-Key": "a"}
    caller = ApiClient(a_player().user).client
    return caller.generic("POST", "/api/v1/limits/declined/", b"{}", content_type=kind, headers=said)


@pytest.mark.django_db
class TestWithoutAView:
    @pytest.mark.parametrize(
        "path", ["/api/v1/", "/api/v1/nowhere/", "/api/v1/self", "/api/v2/self/", "/api/v1/self/x"]
    )
    @pytest.mark.parametrize("method", ["get", "post", "delete"])
    def test_no_address(self, path, method):
        caller = Client(enforce_csrf_checks=True)
        assert problem_of(getattr(caller, method)(path)) == (404, "not-found")

    def test_another_host(self, settings):
        settings.ALLOWED_HOSTS = ["house.example"]
        answer = Client().get(SELF, headers={"Host": "elsewhere.example", "Accept-Language": "de"})
        assert problem_of(answer) == (400, "malformed")
        assert answer.json()["title"] == "Die Anfrage ist nicht lesbar"

    def test_another_charset(self):
        player = ApiClient(a_player().user)
        answer = player.client.post(SELF, b"{}", content_type="application/json; charset=utf-16")
        assert problem_of(answer) == (400, "malformed")

    @pytest.mark.parametrize("charset", ["nonsense", "latin-1", '"utf-16"', ""])
    def test_json_is_utf_8(self, charset):
        assert problem_of(declining(charset))[0] in (400, 415)

    @pytest.mark.sweep
    @pytest.mark.parametrize("charset", ["utf-8", '"UTF-8"'])
    def test_and_may_say_so(self, charset):
        assert declining(charset).status_code == 200

    def test_below_two_strokes_as_well(self):
        for path in ("//api/v1/self/", "///api/"):
            assert problem_of(Client().generic("GET", "/", PATH_INFO=path)) == (404, "not-found")

    def test_a_fault_of_ours(self, monkeypatch):
        monkeypatch.setattr("players.api.self_views.actor_of", lambda user: 1 // 0)
        api_client = ApiClient(a_player().user)
        api_client.client.raise_request_exception = False
        assert problem_of(api_client.get("self/")) == (500, "fault")

    def test_pages_are_refused_as_pages_still(self):
        assert Client().get("/en/nowhere/")["Content-Type"].startswith("text/html")


@pytest.mark.django_db
class TestMethods:
    @pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options", "trace"])
    def test_one_that_is_not_taken_is_named_with_those_that_are(self, method):
        for api_client in (ApiClient(a_player().user), ApiClient(None)):
            answer = getattr(api_client.client, method)(SELF)
            assert problem_of(answer) == (405, "method-not-allowed")
            assert set(answer["Allow"].split(", ")) == {"GET", "HEAD"}

    def test_head_is_get_without_a_body(self):
        api_client = ApiClient(a_player().user)
        asked, read = api_client.client.get(SELF), api_client.client.head(SELF)
        assert read.status_code == 200
        assert read.content == b""
        assert read["Content-Type"] == asked["Content-Type"] == "application/json"


@pytest.mark.django_db
class TestWhatNobodyReads:
    def test_an_unknown_parameter_of_a_query_is_refused(self):
        answer = ApiClient(a_player().user).client.get(f"{SELF}?page=2")
        assert problem_of(answer) == (400, "invalid")
        assert [(error["pointer"], error["code"]) for error in answer.json()["errors"]] == [("/?page", "unknown")]


class Port:
    """An API client that writes its HTTP requests itself."""

    def __init__(self, port: int) -> None:
        self.line = HTTPConnection("127.0.0.1", port, timeout=60)

    def send(self, body: Any, **headers: str) -> HTTPResponse:
        """Send a write to an address that there is."""
        sent = {"Content-Type": "application/json", "Accept-Language": "sv"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        self.line.request("POST", SELF, body, sent, encode_chunked=not isinstance(body, bytes))
        return self.line.getresponse()


@pytest.mark.sweep
def test_at_the_door_of_the_real_port(web_server):
    large = Port(web_server.port).send(b'{"a":"' + b"x" * (10 * MEGABYTE) + b'"}')
    assert (large.status, large.getheader("Content-Type")) == (413, MEDIA_TYPE)
    said = json.loads(large.read())
    assert (said["code"], said["title"]) == ("too-large", "Förfrågan är för stor")

    packed = Port(web_server.port).send(zlib.compress(b"{}"), Content_Encoding="deflate")
    assert (packed.status, packed.getheader("Content-Type")) == (405, MEDIA_TYPE)  # this address takes no writes at all

    with socket.create_connection(("127.0.0.1", web_server.port), timeout=60) as elsewhere:
        elsewhere.sendall(b"GET /api/v1/self/ HTTP/1.1\r\nHost: \xff\xfe\r\nConnection: close\r\n\r\n")
        assert elsewhere.makefile("rb").readline().split()[1] == b"400"
