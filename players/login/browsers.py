"""Readable names of browsers and devices, from the User-Agent header."""

from typing import Final

from django.utils.translation import gettext as _

from players.login.sessions import PROGRAM

# The first match counts: most browsers also claim to be Chrome and Safari, most devices Linux or a Mac.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("Chrome", "Chrome"),
    ("CriOS", "Chrome"),
    ("Safari", "Safari"),
)
_DEVICES: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Macintosh", "Mac"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def words(browser: str) -> str:
    """Return a name such as "Firefox, Windows" for a User-Agent header, as far as it is known.

    For an API session, return the name of its token.
    """
    if browser.startswith(PROGRAM):
        return _("Program: %(name)s") % {"name": browser.removeprefix(PROGRAM)}
    found = [_first(browser, names) for names in (_BROWSERS, _DEVICES)]
    return ", ".join(filter(None, found)) or _("Unknown browser")


def _first(browser: str, names: tuple[tuple[str, str], ...]) -> str:
    return next((name for mark, name in names if mark in browser), "")
