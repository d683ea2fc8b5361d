"""A server with data on every page, and a browser that opens the pages of all users."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, make_password
from django.core.cache import cache
from django.db.models.functions import Now
from playwright.sync_api import Browser, ConsoleMessage, Frame, Page

from players.models import Session, User
from tests.browser.at_table import log_in
from tests.harness import databases, web
from tests.people import PASSWORD
from tests.scene import Scene
from tests.sights import SIZES, Sight

APPLICATION = "tests.servers.broken:application"
# A sandboxed document has no storage and throws an error.
FORGET = "() => { stop(); try { localStorage.clear(); sessionStorage.clear() } catch {} }"


class Gallery:
    """Opens sights one after another in one browser page.

    The browser has cached the static files and starts no new process, so a sight opens quickly.
    Each user has their own cookies, so nobody logs out anybody else; a visitor has none. Browser
    storage is cleared between sights.
    """

    def __init__(self, browser: Browser, server: web.WebServer, scene: Scene) -> None:
        self.scene = scene
        self._server = server
        # Without the service worker, which would load all files again for each user.
        self._window = browser.new_context(base_url=server.url, reduced_motion="reduce", service_workers="block")
        self._page = self._window.new_page()
        self._page.on("console", self._hear)
        self._page.on("pageerror", lambda error: self._complaints.append(str(error)))
        self._page.on("framenavigated", self._arrive)
        self._complaints: list[str] = []
        self._is_on_its_way = False
        self._cookies: dict[User, Any] = {}  # Playwright returns and accepts cookies by different types
        self._sitter: User | None = None
        self._spoken = ""

    def open(self, sight: Sight, language: str = "en", size: str = "") -> Page:
        """Open a sight and return the page, at its first size by default.

        Resets rate limits and idle times first, because earlier sights may have used them up.
        """
        cache.clear()
        Session.objects.filter(ended_at=None).update(acted_at=Now())
        self._page.evaluate(FORGET)
        user = sight.who(self.scene)
        if user is None or user != self._sitter:
            self._leave()
            self._sit_down(user)
        # Scripts for pages of the back office find buttons by their English names.
        self._speak(language if sight.show is Sight.show else "en")
        resize(self._page, size or sight.sizes[0])
        self._page.mouse.move(0, 0)
        self._is_on_its_way = True
        self._page.goto(sight.url(self.scene, language))
        sight.show(self._page)
        self._page.evaluate("document.fonts.ready")
        return self._page

    def complaints(self) -> list[str]:
        """Return the script and policy errors of the page since it was opened."""
        return list(self._complaints)

    def _hear(self, message: ConsoleMessage) -> None:
        """Record an error, except that the page is refused or missing, which some sights show."""
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self._complaints.append(message.text)

    def _arrive(self, frame: Frame) -> None:
        """Forget the errors of the page before, because a new page begins."""
        if self._is_on_its_way and frame == self._page.main_frame:
            self._is_on_its_way = False
            self._complaints.clear()

    def _leave(self) -> None:
        """Leave the last sight before it misses its session and asks for another log-in.

        It is left for a page of the house without scripts: an empty page would start a new process of Chromium each
        time.
        """
        self._page.goto("/healthz")
        if self._sitter:
            self._cookies[self._sitter] = self._window.cookies()
        self._window.clear_cookies()
        self._spoken = ""

    def _sit_down(self, user: User | None) -> None:
        self._sitter = user
        if user is None:
            return
        if user in self._cookies:
            self._window.add_cookies(self._cookies[user])
        else:
            _keep_the_password_as_the_house_does(user)
            log_in(self._window, self._server, user)

    def _speak(self, language: str) -> None:
        """Choose the language of the pages whose addresses name none, such as those of the back office."""
        if language == self._spoken:
            return
        self._spoken = language
        name = settings.LANGUAGE_COOKIE_NAME
        self._window.add_cookies([{"name": name, "value": language, "url": self._server.url}])

    def close(self) -> None:
        """Close the browser context."""
        self._window.close()


@functools.cache
def _kept_by_the_house() -> str:
    return make_password(PASSWORD, hasher=Argon2PasswordHasher())


def _keep_the_password_as_the_house_does(user: User) -> None:
    """Store the password with the real hasher.

    Otherwise confirming the password would rehash it, and end the session made with the cheap hash.
    """
    if user.has_usable_password():
        user.password = _kept_by_the_house()
        user.save(update_fields=["password"])


def resize(page: Page, size: str) -> None:
    """Set the window to a size of `SIZES`."""
    width, height = SIZES[size]
    if page.viewport_size != {"width": width, "height": height}:
        page.set_viewport_size({"width": width, "height": height})


def set_theme(page: Page, theme: str) -> None:
    """Select a theme as the reader does."""
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)


@contextmanager
def open_gallery(browser: Browser, log: Path) -> Iterator[Gallery]:
    """Create a database with data on every page, and serve it."""
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
