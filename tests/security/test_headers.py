"""Security headers of answers that `tests/pages/test_matrix.py` does not cover: in production, of
errors, files, streams and the API, and of refusals before any view.
"""

import json
import os
import re
import socket
import subprocess
import sys
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest
from django.conf import settings as house
from django.urls import reverse

from ops.http import FOR_ALL
from tests.api.client import ApiClient
from tests.builders import a_player
from tests.casino.test_checks import PRODUCTION
from tests.harness.product import PROJECT, modules
from tests.harness.visitor import Visitor
from tests.matrix import LINES
from tests.people import PASSWORD, a_visitor, log_in

COOKIES = {house.SESSION_COOKIE_NAME, house.CSRF_COOKIE_NAME, house.LANGUAGE_COOKIE_NAME}
PRIVATE = {"Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff"}
EVERYWHERE = {"X-Content-Type-Options": "nosniff", **FOR_ALL}


def hold(answer: Any) -> None:
    """Check the common headers of an answer of the test client or of a real port."""
    headers = {name.lower(): value for name, value in answer.headers.items()}
    for name, value in (EVERYWHERE | PRIVATE).items():
        assert headers.get(name.lower()) == value, (name, headers)
    if "no-store" not in headers["cache-control"]:
        raise AssertionError(headers["cache-control"])


API_CLIENT = """
import json
from django.conf import settings
from django.test import RequestFactory
from django.http import HttpResponse
from django.middleware.security import SecurityMiddleware
host = "sabot.example"
https = SecurityMiddleware(lambda request: HttpResponse())(RequestFactory().get("/", secure=True))
plain = SecurityMiddleware(lambda request: HttpResponse())(RequestFactory().get("/en/?a=1", headers={"host": host}))
names = [n for n in dir(settings) if "COOKIE" in n]
print(json.dumps({"headers": dict(https.headers), "plain": [plain.status_code, plain["Location"]],
    "settings": {n: getattr(settings, n) for n in names}}))
"""


@pytest.fixture(scope="module")
def production() -> dict[str, Any]:
    """The headers of a production house, and its cookie settings."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    surroundings = inherited | PRODUCTION | {"DJANGO_SETTINGS_MODULE": "casino.settings"}
    done = subprocess.run(
        [sys.executable, "-c", API_CLIENT], env=surroundings, cwd=PROJECT, check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


class TestInProduction:
    """Settings as `casino.settings` makes them of a production house's environment, in a separate process."""

    def test_gli19_2_6_4_browsers_are_instructed_to_use_https_alone_for_a_year(self, production):
        assert production["headers"]["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains; preload"
        assert production["plain"] == [301, "https://sabot.example/en/?a=1"]

    @pytest.mark.parametrize("name", ["SESSION", "CSRF", "LANGUAGE"])
    def test_a_cookie_goes_by_https_to_this_host_alone_and_no_script_reads_it(self, production, name):
        said = production["settings"]
        assert said[f"{name}_COOKIE_SECURE"] is True
        assert said[f"{name}_COOKIE_HTTPONLY"] is True
        assert said[f"{name}_COOKIE_SAMESITE"] == "Lax"
        assert said.get(f"{name}_COOKIE_DOMAIN") is None

    @pytest.mark.parametrize("name", ["SESSION", "CSRF"])
    def test_no_other_host_plants_a_cookie_that_says_who_somebody_is(self, production, name):
        """The requirements of `__Host-`: Secure, no Domain, Path=/ (RFC 6265bis, 4.1.3.2)."""
        said = production["settings"]
        assert said[f"{name}_COOKIE_NAME"].startswith("__Host-")
        assert said[f"{name}_COOKIE_PATH"] == "/"

    def test_the_session_ends_with_the_browser(self, production):
        assert production["settings"]["SESSION_COOKIE_AGE"] <= 12 * 3600
        assert house.SESSION_EXPIRE_AT_BROWSER_CLOSE is True


@pytest.mark.django_db
class TestCookies:
    def test_there_are_no_others_than_three(self):
        player, visitor = a_player(password=PASSWORD), a_visitor()
        given: dict[str, Any] = {}
        for answer in (
            visitor.get("/en/account/login/"),
            log_in(visitor, player.user),
            visitor.post(reverse("set_language"), {"language": "sv", "next": "/sv/terms/"}),
            visitor.get("/sv/cashier/"),
        ):
            given.update(answer.cookies)
        assert set(given) == COOKIES
        for name, cookie in given.items():
            assert (cookie["httponly"], cookie["samesite"], cookie["domain"]) == (True, "Lax", ""), name
            assert cookie["path"] == "/", name

    def test_a_page_that_needs_none_sets_none(self):
        assert a_visitor().get("/healthz").cookies == {}


@pytest.mark.django_db
class TestErrors:
    """Pages of errors are pages; those of 403, 404 and 405 are looked at for every address in the matrix."""

    def test_400(self):
        hold(a_visitor(raise_request_exception=False).get("/en/", headers={"Cookie": 'x="a\\000"'}))

    def test_404_of_anything(self):
        hold(a_visitor().get("/wp-login.php"))

    def test_429(self, settings):
        settings.FORMS_PER_SECOND = 0
        visitor = a_visitor()
        visitor.force_login(a_player().user)
        answer = visitor.post("/en/cashier/deposit/", {"amount": "1"})
        assert answer.status_code == 429
        hold(answer)

    def test_500_says_nothing_of_why(self, monkeypatch):
        def fail(language: str) -> str:
            raise RuntimeError("a secret of ours")

        monkeypatch.setattr("players.account.terms.text", fail)
        answer = a_visitor(raise_request_exception=False).get("/en/terms/")
        assert answer.status_code == 500
        hold(answer)
        assert "a secret of ours" not in answer.text
        assert "Traceback" not in answer.text

    @pytest.mark.sweep
    def test_of_the_api(self):
        for api_client, path in (
            (ApiClient(None), "self/"),
            (ApiClient(a_player().user), "self/"),
            (ApiClient(None), "nowhere/"),
        ):
            hold(api_client.get(path))


def test_no_policy_lets_a_script_in_but_by_its_nonce():
    """No page has an exception. Two tables side by side, and each of them, replace alone what may frame what."""
    directives: Any = house.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    assert not [value for values in directives.values() for value in values if "unsafe" in str(value)]
    texts = {name: path.read_text() for name, path in modules()}
    assert [name for name, text in texts.items() if re.search("unsafe-|UNSAFE_|csp_(?:exempt|update)", text)] == []
    replaced = {
        name: re.findall(r"csp_replace\((.*?)\)", text) for name, text in texts.items() if "csp_replace(" in text
    }
    assert replaced == {"games.lobby.multi_table": ['{"frame-ancestors": [SELF]}', '{"frame-src": [SELF]}']}


class Port:
    """The real server."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> HTTPResponse:
        """Send a request and return what came back."""
        line = HTTPConnection("127.0.0.1", self.port, timeout=60)
        line.request(method, path, body or None, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        answer.read()
        return answer


@pytest.mark.sweep
def test_at_the_real_port(web_server):
    """Test the server's own refusals, streams and files, on one server."""
    port = Port(web_server.port)

    large = port.ask("POST", "/en/account/login/", b"x" * 1_500_000)
    assert large.status == 413
    hold(large)

    player = Visitor(web_server.url, a_player().user)
    player.get("/en/cashier/")
    cookie = f"{house.SESSION_COOKIE_NAME}={player.session}"
    led = port.ask("POST", "/en/account/identity/", b"x" * (house.LARGEST_UPLOAD + 1), Cookie=cookie)
    assert (led.status, led.getheader("Location")) == (303, "/en/account/identity/?too-much=1")
    hold(led)

    for method, status in (("GET", 403), ("POST", 405)):
        stream = port.ask(method, "/live/nothing")
        assert stream.status == status
        hold(stream)

    file = port.ask("GET", "/static/css/base.css")
    assert file.status == 200
    assert {name: file.getheader(name) for name in EVERYWHERE} == EVERYWHERE
    for path in (
        "/static/../casino/settings.py",
        "/static/%2e%2e/manage.py",
        "/static//etc/passwd",
        "/.env",
        "/.git/HEAD",
    ):
        assert port.ask("GET", path).status == 404, path

    assert {"server", "x-powered-by"} & {name.lower() for name in port.ask("GET", "/healthz").headers} == set()
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1@evil.example"):
        assert port.ask("GET", "/en/", Host=host).status == 400, host

    for header in ("X_HTTP_Method_Override", "X_HTTP_Method", "X_Method_Override"):
        assert port.ask("GET", "/en/account/logout/", b"", **{header: "POST"}).status == 405, header
    assert port.ask("GET", "/en/account/logout/?_method=POST").status == 405

    foreign = port.ask("GET", "/api/v1/self/", Origin="https://evil.example")
    assert not [name for name in foreign.headers if name.lower().startswith("access-control-")]

    with socket.create_connection(("127.0.0.1", web_server.port), timeout=60) as line:
        line.sendall(b"<script>alert(1)</script>\r\n\r\n")
        said = line.makefile("rb").read()
    assert b" 400 " in said.split(b"\r\n")[0]
    assert b"script" not in said


def test_every_page_that_may_be_framed_is_named():
    framed = {line.name for line in LINES if any(answer.name == "FRAMED" for answer in line.answers.values())}
    assert framed == {"live_framed"}
