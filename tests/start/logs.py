"""The logs of a house while people log in and play: machine-readable lines without secrets."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import requests

from players.demo import PASSWORD
from tests.start.support import House

EMAIL = "se@demo.example"
LOG_IN = "/en/account/login/"
TABLE = "/en/table/live-baccarat-2-nc/real/"
STREAM = re.compile(r'id="live"[^>]* data-stream="([^"]+)"')

FAREWELL = ("worker: Warm shutdown (MainProcess)",)  # which Celery says past all logs
CHANGED = re.compile(r"Task games.tasks.advance_live_table\[.*succeeded.*: True$")


class Played(House):
    """A house that somebody has used, and what of theirs is secret."""

    secrets: set[str]


def lines(house: House, log: str) -> list[dict[str, str]]:
    """Return the events in a log."""
    written = (house.var / "log" / log).read_text().splitlines()
    return [json.loads(line) for line in written if line and line not in FAREWELL]


def moves(house: House) -> list[dict[str, str]]:
    """Return what the worker wrote when it moved a round on."""
    return [line for line in lines(house, "worker.log") if CHANGED.search(line["event"])]


@contextmanager
def at_a_table(house: House) -> Iterator[set[str]]:
    """Sit at a shared table, which rests while nobody watches; yield what has to stay secret."""
    with requests.Session() as browser:
        secrets = _send(browser, house, LOG_IN, {"login": EMAIL, "password": PASSWORD})
        found = STREAM.search(browser.get(house.url + TABLE, timeout=60).text)
        assert found
        with browser.get(house.url + found[1], timeout=60, stream=True) as stream:
            assert stream.ok
            yield secrets | {found[1].strip("/").rpartition("/")[2]}


def log_in_and_play(house: House) -> set[str]:
    """Log in, once with a wrong password, visit pages, ask for a new password; return what must stay secret."""
    known = {PASSWORD, EMAIL, "wrong-password"}
    with requests.Session() as browser:
        for password in ("wrong-password", PASSWORD):
            known |= _send(browser, house, LOG_IN, {"login": EMAIL, "password": password})
        assert browser.get(f"{house.url}/en/history/", timeout=60, allow_redirects=False).ok
        _send(browser, house, "/en/account/logout/", {})
        known |= _send(browser, house, "/en/account/password/forgotten/", {"email": EMAIL})
        browser.get(f"{house.url}/en/nowhere/{EMAIL}/?next={EMAIL}", timeout=60)
        return known | {value for value in browser.cookies.values() if value}


def _send(browser: requests.Session, house: House, path: str, form: dict[str, str]) -> set[str]:
    """Fill in a form and send it; return the tokens and cookies that were exchanged."""
    page = browser.get(house.url + path, timeout=60)
    tokens = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text))
    token = next(iter(tokens), "")
    answer = browser.post(house.url + path, {"csrfmiddlewaretoken": token, **form}, timeout=60)
    assert answer.status_code < 400, path
    return tokens | {value for value in browser.cookies.values() if value}
