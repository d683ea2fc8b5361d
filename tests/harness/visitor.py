"""An HTTP client that keeps cookies and sends forms like a browser."""

import http.client
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.test import Client

from players.models import User


class Visitor:
    """Talks to a running server as one logged-in user, with one connection for each request."""

    def __init__(self, url: str, user: User, patience: float = 30) -> None:
        self._address = urlsplit(url).netloc
        self._patience = patience
        client = Client()
        client.force_login(user)  # a session in the server's database, without hashing a password
        self._cookies = {settings.SESSION_COOKIE_NAME: client.cookies[settings.SESSION_COOKIE_NAME].value}

    @property
    def session(self) -> str:
        """The session cookie."""
        return self._cookies[settings.SESSION_COOKIE_NAME]

    def get(self, path: str) -> tuple[int, str]:
        """Open a page and return its status and text."""
        status, body = self.read(path)
        return status, body.decode()

    def read(self, path: str, **headers: str) -> tuple[int, bytes]:
        """Send a GET request and return status and bytes."""
        return self._send("GET", path, None, headers)

    def post(self, path: str, form: dict[str, object], **headers: str) -> tuple[int, str]:
        """Send a form as htmx does. Raises ConnectionError if the server dies during the request."""
        if settings.CSRF_COOKIE_NAME not in self._cookies:
            self.get("/en/account/login/?next=/")
            self.get("/en/cashier/")
        sent = {
            "Content-Type": "application/x-www-form-urlencoded",
            "HX-Request": "true",
            "X-CSRFToken": self._cookies[settings.CSRF_COOKIE_NAME],
            **headers,
        }
        status, answer = self._send("POST", path, urlencode(form), sent)
        return status, answer.decode()

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self._address, timeout=self._patience)
        try:
            cookie = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
            connection.request(method, path, body, headers | {"Cookie": cookie})
            answer = connection.getresponse()
            for line in answer.headers.get_all("Set-Cookie", []):
                for name, morsel in SimpleCookie(line).items():
                    self._cookies[name] = morsel.value
            return answer.status, answer.read()
        finally:
            connection.close()
