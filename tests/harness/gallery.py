"""A running house with something on every page, and a browser in which everyone's pages can be looked at."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.contrib.auth.hashers import Argon2PasswordHasher, make_password
from django.core.cache import cache
from django.db.models.functions import Now
from playwright.sync_api import Browser, ConsoleMessage, Page

from players.models import Session, User
from tests.browser.at_table import log_in
from tests.harness import databases, web
from tests.people import PASSWORD
from tests.scene import Scene
from tests.sights import SIZES, Sight

APPLICATION = "tests.servers.broken:application"
# A document in a sandbox keeps nothing, and says so with an error.
FORGET = "() => { try { localStorage.clear(); sessionStorage.clear() } catch {} }"


class Gallery:
    """Opens sights, one after another, in one page: a browser that has loaded the house's files once, and begins no new
    process, shows the next sight in a fraction of the time. Everyone keeps the cookies of their own, so that nobody is
    logged out for another; a visitor has none, and nobody finds what was kept in the browser for the sight before.
    """

    def __init__(self, browser: Browser, server: web.WebServer, scene: Scene) -> None:
        self.scene = scene
        self._server = server
        # Without the service worker, which would load the whole house anew for everyone.
        self._window = browser.new_context(base_url=server.url, reduced_motion="reduce", service_workers="block")
        self._page = self._window.new_page()
        self._page.on("console", self._hear)
        self._page.on("pageerror", lambda error: self._complaints.append(str(error)))
        self._complaints: list[str] = []
        self._cookies: dict[User, Any] = {}  # Playwright takes what it gives, by another type
        self._sitter: User | None = None

    def open(self, sight: Sight, language: str = "en", size: str = "") -> Page:
        """Return the page with the sight on it, at its first size unless another is asked for. The house has forgotten
        how often anybody tried to log in for the sights before, and takes nobody for idle, however long those took.
        """
        cache.clear()
        Session.objects.filter(ended_at=None).update(acted_at=Now())
        self._leave()
        self._sit_down(sight.who(self.scene))
        self._complaints.clear()
        resize(self._page, size or sight.sizes[0])
        self._page.goto(sight.url(self.scene, language))
        sight.show(self._page)
        self._page.evaluate("document.fonts.ready")
        return self._page

    def complaints(self) -> list[str]:
        """Return the errors that scripts and policies of the page have caused since it was opened."""
        return list(self._complaints)

    def _hear(self, message: ConsoleMessage) -> None:
        """Keep an error. That the page itself is refused or missing is what some sights show."""
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self._complaints.append(message.text)

    def _leave(self) -> None:
        """Forget what the last sight kept in the browser, and end what it still did."""
        self._page.evaluate(FORGET)
        self._page.goto("about:blank")
        self._page.mouse.move(0, 0)
        if self._sitter:
            self._cookies[self._sitter] = self._window.cookies()
        self._window.clear_cookies()

    def _sit_down(self, user: User | None) -> None:
        self._sitter = user
        if user is None:
            return
        if user in self._cookies:
            self._window.add_cookies(self._cookies[user])
        else:
            _keep_the_password_as_the_house_does(user)
            log_in(self._window, self._server, user)

    def close(self) -> None:
        """Close the window."""
        self._window.close()


@functools.cache
def _kept_by_the_house() -> str:
    return make_password(PASSWORD, hasher=Argon2PasswordHasher())


def _keep_the_password_as_the_house_does(user: User) -> None:
    """Or the house would do it when the password is confirmed, and end the session that began with the cheap hash."""
    if user.has_usable_password():
        user.password = _kept_by_the_house()
        user.save(update_fields=["password"])


def resize(page: Page, size: str) -> None:
    """Give the window one of the sizes of `SIZES`."""
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})


def set_theme(page: Page, theme: str) -> None:
    """Put on another light, as the choice of the reader does."""
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)


@contextmanager
def open_gallery(browser: Browser, log: Path) -> Iterator[Gallery]:
    """Make a database of its own with something on every page, and serve it."""
    with databases.clone("gallery") as database:
        scene = Scene()
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            scene.go_wrong(owner)
        server = web.start(
            database, log, application=APPLICATION, environment={"AUDIT_KEYS": scene.pens.keys.replace("\n", ",")}
        )
        gallery = Gallery(browser, server, scene)
        try:
            yield gallery
        finally:
            gallery.close()
            web.stop(server)
