"""Somebody with a browser who has logged in: the session's cookie, the token against forged requests, a connection that
stays open, and forms sent as htmx does, with what the page before had in its fields.
"""

import re
from http import HTTPStatus
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from urllib.parse import urlencode

ADDRESS = "127.0.0.1"
PATIENCE = 60.0
LOG_IN = "/en/account/login/"

_FIELD = re.compile(r'name="(csrfmiddlewaretoken|round_id|slip_version|table_version)" value="([^"]*)"')


def fields_of(text: str) -> dict[str, str]:
    """Return what the forms of a page have in the fields that a player does not fill in."""
    return dict(_FIELD.findall(text))


class Refused(Exception):
    """The house did not answer as it does to a player."""


class Visitor:
    """Whoever asks for pages and sends forms."""

    def __init__(self, port: int, email: str, password: str) -> None:
        self._connection = HTTPConnection(ADDRESS, port, timeout=PATIENCE)
        self._cookies: dict[str, str] = {}
        self._fields: dict[str, str] = {}
        # The proxy in front of a production house says that the visitor came by HTTPS.
        self._headers = {"X-Forwarded-Proto": "https", "Origin": f"https://{ADDRESS}:{port}"}
        self.ask("GET", LOG_IN)
        self.ask("POST", LOG_IN, {"login": email, "password": password}, expected=HTTPStatus.FOUND)

    def sit_down(self) -> None:
        """Connect anew, once for a whole run: the server has closed a connection that was idle for seconds."""
        self._connection.close()
        self._connection.connect()

    def ask(
        self,
        method: str,
        path: str,
        form: dict[str, str] | None = None,
        *,
        htmx: bool = False,
        expected: HTTPStatus = HTTPStatus.OK,
    ) -> str:
        """Return the answer, and keep its cookies and fields. Raises Refused where it has another status."""
        headers = self._headers | {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        body = None
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode(self._fields | form)
        if htmx:
            headers["HX-Request"] = "true"
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        text = answer.read().decode()
        if answer.status != expected:
            raise Refused(f"{method} {path} was answered {answer.status}: {text[:2000]}")
        for cookie in answer.headers.get_all("Set-Cookie", ()):
            self._cookies.update({name: morsel.value for name, morsel in SimpleCookie(cookie).items()})
        self._fields |= fields_of(text)
        return text
