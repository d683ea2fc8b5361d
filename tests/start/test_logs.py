"""What a house writes in its logs while people log in and play: lines that a program reads, and nobody's secrets."""

import json
import re
from collections.abc import Iterator

import pytest
import requests

from players.demo import PASSWORD
from tests.start.support import House, fresh_var, wait_until

EMAIL = "se@demo.example"

FAREWELL = ("worker: Warm shutdown (MainProcess)",)  # which Celery says past all logs
MOVED = re.compile(r"Task games.tasks.advance_live_table\[.*succeeded.*: True$")


class Played(House):
    """A house that somebody has used, and what of theirs is secret."""

    secrets: set[str]


@pytest.fixture(scope="module")
def house() -> Iterator[Played]:
    """A house at whose tables somebody has logged in and played, and has closed."""
    with fresh_var() as var:
        house = Played(var).open()
        house.secrets = _log_in_and_play(house)
        wait_until(lambda: any(line.get("round_id") for line in moves(house)), "no round moved")
        house.process.terminate()
        house.process.wait()
        yield house


def lines(house: House, log: str) -> list[dict[str, str]]:
    written = (house.var / "log" / log).read_text().splitlines()
    return [json.loads(line) for line in written if line and line not in FAREWELL]


def moves(house: House) -> list[dict[str, str]]:
    return [line for line in lines(house, "worker.log") if MOVED.search(line["event"])]


def _log_in_and_play(house: House) -> set[str]:
    """Log in with a password, once in vain, look around, ask for another password; return what has to stay secret."""
    known = {PASSWORD, EMAIL, "wrong-password"}
    with requests.Session() as browser:
        for password in ("wrong-password", PASSWORD):
            known |= _send(browser, house, "/en/account/login/", {"login": EMAIL, "password": password})
        assert browser.get(f"{house.url}/en/history/", timeout=60, allow_redirects=False).ok
        _send(browser, house, "/en/account/logout/", {})
        known |= _send(browser, house, "/en/account/password/forgotten/", {"email": EMAIL})
        browser.get(f"{house.url}/en/nowhere/{EMAIL}/?next={EMAIL}", timeout=60)
        return known | {value for value in browser.cookies.values() if value}


def _send(browser: requests.Session, house: House, path: str, form: dict[str, str]) -> set[str]:
    """Fill in a form and send it; return the tokens and cookies that went to and fro."""
    page = browser.get(house.url + path, timeout=60)
    tokens = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text))
    token = next(iter(tokens), "")
    answer = browser.post(house.url + path, {"csrfmiddlewaretoken": token, **form}, timeout=60)
    assert answer.status_code < 400, path
    return tokens | {value for value in browser.cookies.values() if value}


@pytest.mark.parametrize("log", ["web.log", "worker.log", "beat.log"])
def test_every_line_is_one_event(house: Played, log: str) -> None:
    written = lines(house, log)
    assert written
    assert all({"event", "level", "logger", "timestamp"} <= line.keys() for line in written)


def test_every_line_of_a_request_has_its_id(house: Played) -> None:
    answered = [line for line in lines(house, "web.log") if line["event"] == "request"]
    assert {"account_login", "account_reset_password"} <= {line["view"] for line in answered}
    assert len({line["request_id"] for line in answered}) == len(answered)
    assert not [line for line in lines(house, "web.log") if "/account/" in line["event"] or "HTTP/1" in line["event"]]


def test_a_task_bears_the_id_of_the_tick_that_asked_for_it_and_says_which_round_it_moved(house: Played) -> None:
    ticks = {line["request_id"] for line in lines(house, "worker.log") if line.get("task") == "games.tasks.tick"}
    moved = moves(house)
    assert {line["request_id"] for line in moved} <= ticks
    assert any(line["round_id"] for line in moved)


def test_nothing_that_is_secret_stands_in_any_log(house: Played) -> None:
    kept = {path.read_text().strip() for path in (house.var / "keys").iterdir()}
    secrets = {secret for secret in house.secrets | kept if len(secret) > 7}
    for path in (house.var / "log").glob("*.log"):
        text = path.read_text(errors="replace")
        assert not [secret for secret in secrets if secret in text], path.name
        assert not re.search(r"[\w.+-]+@demo\.example", text), path.name
