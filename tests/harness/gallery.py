"""A running house with something on every page, and browsers in which everyone's pages can be looked at."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.contrib.auth.hashers import Argon2PasswordHasher, make_password
from django.core.cache import cache
from django.db.models.functions import Now
from playwright.sync_api import Browser, BrowserContext, Page

from players.models import Session, User
from tests.browser.at_table import log_in
from tests.harness import databases, web
from tests.people import PASSWORD
from tests.scene import Scene
from tests.sights import SIZES, Sight

APPLICATION = "tests.servers.broken:application"


class Gallery:
    """Opens sights: one browser window for each person, so that nobody is logged out for another, and a new one for
    each visitor, who has begun nothing yet.
    """

    def __init__(self, browser: Browser, server: web.WebServer, scene: Scene) -> None:
        self.scene = scene
        self._browser = browser
        self._server = server
        self._windows: dict[User | None, BrowserContext] = {}

    def open(self, sight: Sight, language: str = "en", size: str = "") -> Page:
        """Return a page that shows the sight, at its first size unless another is asked for. The house has forgotten
        how often anybody tried to log in for the sights before, and takes nobody for idle, however long those took.
        """
        cache.clear()
        Session.objects.filter(ended_at=None).update(acted_at=Now())
        page = self._window(sight.who(self.scene)).new_page()
        resize(page, size or sight.sizes[0])
        page.goto(sight.url(self.scene, language))
        sight.show(page)
        page.evaluate("document.fonts.ready")
        return page

    def _window(self, user: User | None) -> BrowserContext:
        if user is None and user in self._windows:
            self._windows.pop(user).close()
        if user not in self._windows:
            window = self._browser.new_context(base_url=self._server.url, reduced_motion="reduce")
            if user:
                _keep_the_password_as_the_house_does(user)
                log_in(window, self._server, user)
            self._windows[user] = window
        return self._windows[user]

    def close(self) -> None:
        """Close every window."""
        for window in self._windows.values():
            window.close()


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
        server = web.start(database, log, application=APPLICATION, environment={})
        gallery = Gallery(browser, server, scene)
        try:
            yield gallery
        finally:
            gallery.close()
            web.stop(server)
