"""Benchmarks of requests over HTTP to real web servers: rates of clicks and of API calls, and the processor time of
each.
"""

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection
from itertools import cycle
from typing import Any, Final
from urllib.parse import urlencode
from uuid import uuid4

from django.db import connections, transaction
from django.test import Client

from bench.house import CLIENTS, fresh_house, pgbench, seconds_of_postgresql, seconds_of_web, team, web
from bench.measuring import Pace, Result, Unavailable, compare, repeat
from bench.play import DEADLINE, SHARED, STAKE, collect_statistics, register, shared_table
from games.engine.chemin.state import there
from games.shared.rounds import open_next
from ops.launcher import ADDRESS
from players.api import tokens
from players.models import Player, User

Click = Callable[[], object]
"""One request, which raises Unavailable where it does not do what it should."""

PATIENCE, IDLE = 60.0, 2.0  # seconds for an answer; seconds of an idle connection
SOLO: Final = "/en/table/baccarat/real/"
LIVE: Final = f"/en/table/{SHARED}/real/"
API: Final = "/api/v1/tables/baccarat/real/"
FIELD: Final = re.compile(
    r'name="(csrfmiddlewaretoken|round_id|slip_version|table_version|layout|buttons)" value="([^"]*)"'
)
DAY: Final = 24 * 3600  # seconds, longer than any benchmark
ROUNDS: Final = 25  # a page of game logs and more
CLICKS: Final = 400  # whose processor time is taken


class Caller:
    """A persistent connection to the web server, as from the proxy of a production house."""

    def __init__(self, port: int) -> None:
        self._connection, self._asked_at = HTTPConnection(ADDRESS, port, timeout=PATIENCE), 0.0

    def ask(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> tuple[str, list[str]]:
        """Return the text of an answer and the cookies that it sets. Raises Unavailable."""
        if time.monotonic() > self._asked_at + IDLE:
            self._connection.close()  # it reconnects on the next request
        self._asked_at = time.monotonic()
        self._connection.request(method, path, body, {"X-Forwarded-Proto": "https", **headers})
        answer = self._connection.getresponse()
        text = answer.read().decode()
        if answer.status != HTTPStatus.OK:
            raise Unavailable(f"{method} {path} was answered {answer.status}: {text[:2000]}")
        return text, answer.headers.get_all("Set-Cookie", [])


class Browser:
    """A logged-in browser: cookies, forms sent as by htmx."""

    def __init__(self, user: User, port: int) -> None:
        client = Client(HTTP_X_FORWARDED_PROTO="https", SERVER_NAME=ADDRESS)
        client.force_login(user)
        self._cookies, self._caller = client.cookies, Caller(port)
        self._headers = {"Origin": f"https://{ADDRESS}:{port}"}
        self._fields: dict[str, str] = {}

    def open(self, path: str) -> str:
        """Open a page. Raises Unavailable."""
        return self._ask("GET", path, None, {})

    def click(self, path: str, action: str, chip: int = STAKE) -> str:
        """Send the form of a table. Raises Unavailable."""
        form = urlencode(self._fields | {"action": action, "chip": str(chip)})
        headers = {"HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded"}
        return self._ask("POST", path, form, headers)

    def _ask(self, method: str, path: str, form: str | None, headers: dict[str, str]) -> str:
        cookie = {"Cookie": self._cookies.output(attrs=[], header="", sep=";").strip()}
        text, cookies = self._caller.ask(method, path, form, self._headers | cookie | headers)
        for each in cookies:
            self._cookies.load(each)
        self._fields |= dict(FIELD.findall(text))
        return text


def solo_clicker(player: Player, port: int) -> Click:
    """Return the click on REBET & DEAL of a player with a bet."""
    browser = Browser(player.user, port)

    def deal() -> None:
        if "data-fresh" not in browser.click(f"{SOLO}play/", "rebet_deal"):
            raise Unavailable("nothing was dealt")

    browser.open(SOLO)
    browser.click(f"{SOLO}play/", "bet:player")
    browser.click(f"{SOLO}play/", "deal")
    return deal


def live_clicker(player: Player, port: int) -> Click:
    """Return the click on a bet at a shared table. Every second one takes it back, so that the table never fills up."""
    browser = Browser(player.user, port)
    actions = cycle((("bet:player", "spot__stake"), ("undo", "")))

    def click() -> None:
        action, shown = next(actions)
        answer = browser.click(f"{LIVE}bet/", action, 5 * STAKE)
        if "call__notice--error" in answer or shown not in answer:
            raise Unavailable(f"{action} was not confirmed: {answer[:2000]}")

    browser.open(LIVE)
    return click


def api_player(player: Player, port: int) -> Click:
    """Return the call of an API client that plays a round."""
    _token, key = tokens.make(user=player.user, name="bench", scopes=tokens.OF_PLAYERS, days=1, per_minute=10**9)
    caller = Caller(port)

    def post(path: str, body: Mapping[str, object]) -> dict[str, Any]:
        headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid4()),
        }
        answer: dict[str, Any] = json.loads(caller.ask("POST", API + path, json.dumps(body), headers)[0])
        return answer

    seat = post("solo-seat/", {})

    def play() -> None:
        nonlocal seat
        round_asked = {"round_id": seat["round_id"], "table_version": seat["table_version"]}
        seat = post("rounds/", {**round_asked, "bets": {"player": STAKE}})["solo_seat"]

    return play


def solo_http(pace: Pace) -> list[Result]:
    """Clicks on REBET & DEAL by four players on all processors, compared with pgbench's TPC-B and four clients."""
    return _rate(pace, "solo_http", solo_clicker)


def live_bets_http(pace: Pace) -> list[Result]:
    """Chips at a shared table by four players on all processors, compared with pgbench's TPC-B and four clients."""
    return _rate(pace, "live_bets_http", live_clicker)


def _rate(pace: Pace, name: str, clicker: Callable[[Player, int], Click]) -> list[Result]:
    with fresh_house():
        players = register(CLIENTS)
        open_bets()
        with (
            pgbench() as yardstick,
            web(len(os.sched_getaffinity(0))) as port,
            team(*(partial(_repeated, clicker, each, port) for each in players)) as ours,
        ):
            return compare(pace, "requests/s, transactions/s", yardstick, {name: ours}, aim=0.15)


def _repeated(clicker: Callable[[Player, int], Click], player: Player, port: int) -> Callable[[float], float]:
    return repeat(clicker(player, port))


def open_bets() -> None:
    """Open a round of the shared table that takes bets for a day."""
    with transaction.atomic():
        live_round = there(open_next(shared_table()))
    with connections["owner"].cursor() as cursor:
        cursor.execute(DEADLINE, [DAY, live_round.pk])


def costs(pace: Pace) -> list[Result]:
    """Processor time of web and of PostgreSQL for each request of one player, compared with limits."""
    with fresh_house():
        (player, *_) = register(CLIENTS)
        open_bets()
        with web(1) as port:
            deal, browser = solo_clicker(player, port), Browser(player.user, port)
            clicks = {
                "solo_click": deal,
                "live_click": live_clicker(player, port),
                "api_call": api_player(player, port),
            }
            for _ in range(pace.size(ROUNDS, least=2)):
                deal()
            collect_statistics()
            pages = {"lobby": "/en/", "history": "/en/history/", "cashier": "/en/cashier/"}
            results = []
            for name, click in clicks.items():
                of_web, of_postgresql = milliseconds(click, pace.size(CLICKS, least=2))
                results.append(Result(f"{name}_web", of_web, 4.0, "ms, limit", aim=1))
                results.append(Result(f"{name}_postgresql", of_postgresql, 2.5, "ms, limit", aim=1))
            for name, path in pages.items():
                of_web, _ = milliseconds(partial(browser.open, path), pace.size(CLICKS, least=2))
                results.append(Result(f"{name}_page_web", of_web, 10.0, "ms, limit", aim=1))
            return results


def milliseconds(click: Click, times: int) -> tuple[float, float]:
    """Return the processor time of web and of PostgreSQL for a click, after a tenth as many that do not count."""
    for _ in range(max(times // 10, 2)):
        click()
    before = seconds_of_web(), seconds_of_postgresql()
    for _ in range(times):
        click()
    of_web, of_postgresql = seconds_of_web() - before[0], seconds_of_postgresql() - before[1]
    return 1000 * of_web / times, 1000 * of_postgresql / times
