"""One house for all pages that a module of tests asks for: made once, on its own database. Changes by a test in
it are rolled back.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from time import monotonic
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone, translation

from players.models import Session
from tests.matrix import World
from tests.people import a_visitor

SECONDS = 4  # how often everybody acts: a request writes an action down when the last one is 5 s old


class House(World):
    """A world with logged-in users."""

    def __init__(self) -> None:
        self._cookies: dict[str, SimpleCookie] = {}
        self._acted = 0.0

    def visitor(self, role: str, **options: Any) -> Client:
        """Return the only browser of the person who has this role, who has just done something in it."""
        if role not in self._cookies:
            visitor, user = a_visitor(), self.user(role)
            if user:
                visitor.force_login(user)
                visitor.get("/en/terms/")  # the first request puts the session on record
            self._cookies[role] = visitor.cookies
        if monotonic() > self._acted + SECONDS:
            Session.objects.update(acted_at=Now())
            self._acted = monotonic()
        visitor = a_visitor(**options)
        visitor.cookies = SimpleCookie(self._cookies[role].output(header="", sep=";"))
        return visitor


@contextmanager
def undone() -> Iterator[None]:
    """Start with empty caches and default settings, and roll back all changes of the block."""
    cache.clear()
    translation.deactivate()
    timezone.deactivate()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
