"""What a browser and its device are called, from what it says of itself: enough for its owner to know it again."""

from typing import Final

from django.utils.translation import gettext as _

from players.login.sessions import PROGRAM

# The first mark found names it: most browsers also claim to be Chrome and Safari, most devices to be Linux or a Mac.
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
    """Return "Firefox, Windows" for a User-Agent header, what is known of it where little is, and the name of its token
    for a program.
    """
    if browser.startswith(PROGRAM):
        return _("Program: %(name)s") % {"name": browser.removeprefix(PROGRAM)}
    found = [_first(browser, names) for names in (_BROWSERS, _DEVICES)]
    return ", ".join(filter(None, found)) or _("Unknown browser")


def _first(browser: str, names: tuple[tuple[str, str], ...]) -> str:
    return next((name for mark, name in names if mark in browser), "")
