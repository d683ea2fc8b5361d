"""An API client for tests: a token, an idempotency key for each write, and JSON."""

import json
from typing import Any
from uuid import uuid4

from django.test import Client

from players.api import tokens
from players.models import Scope, User

OF_PLAYERS = (Scope.READ, Scope.PLAY, Scope.LIMITS)
OF_STAFF = (Scope.EVENTS, Scope.ROUNDS, Scope.REPORTS, Scope.CHECKPOINTS)


class ApiClient:
    """Calls the API with a token of *user*'s (None: without one)."""

    def __init__(self, user: User | None, *scopes: Scope, per_minute: int = 10_000, language: str = "en") -> None:
        self.key = ""
        if user is not None:
            usual = OF_STAFF if hasattr(user, "staff") else OF_PLAYERS
            _token, self.key = tokens.make(
                user=user, name="a test", scopes=scopes or usual, days=1, per_minute=per_minute
            )
        self.client = Client(headers={"Accept-Language": language} | self._said())

    def _said(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def get(self, path: str, **query: Any) -> Any:
        """Ask."""
        return self.client.get(f"/api/v1/{path}", query)

    def post(self, path: str, body: Any = None, *, key: str | None = None, **headers: str) -> Any:
        """Send a request with a new idempotency key, or with *key* if given ("" for none)."""
        return self.send("post", path, body, key=key, **headers)

    def send(self, method: str, path: str, body: Any = None, *, key: str | None = None, **headers: str) -> Any:
        """Do something by any method."""
        sent = {"Idempotency-Key": str(uuid4()) if key is None else key} | headers
        raw = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
        send = getattr(self.client, method)
        return send(
            f"/api/v1/{path}", raw, content_type="application/json", headers={k: v for k, v in sent.items() if v}
        )
