"""Benchmarks of requests over HTTP to real web servers: rates of clicks and of API calls, the processor time of
each, and what a player feels of a click in Chromium.
"""

import json
import os
import re
import socket
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from itertools import cycle
from statistics import median
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode
from uuid import uuid4

from django.db import connections, transaction
from django.test import Client

from bench.house import (
    CLIENTS,
    fresh_house,
    pgbench,
    seconds_by_program,
    seconds_of_postgresql,
    seconds_of_web,
    team,
    web,
)
from bench.measuring import Pace, Result, Unavailable, compare, repeat
from bench.play import DEADLINE, SHARED, STAKE, collect_statistics, register, shared_table
from games.engine.chemin.state import there
from games.shared.rounds import open_next
from ops.launcher import ADDRESS
from players.api import tokens
from players.models import Player, User

if TYPE_CHECKING:  # only one benchmark needs a browser
    from playwright.sync_api import BrowserContext, Locator, Page

Click = Callable[[], object]
"""One request, which raises Unavailable where it does not do what it should."""

PATIENCE, IDLE = 120.0, 2.0  # seconds for an answer; seconds of an idle connection
SOLO: Final = "/en/table/baccarat/real/"
LIVE: Final = f"/en/table/{SHARED}/real/"
API: Final = "/api/v1/tables/baccarat/real/"
FIELD: Final = re.compile(
    r'name="(csrfmiddlewaretoken|round_id|slip_version|table_version|layout|buttons)" value="([^"]*)"'
)
COOKIE: Final = re.compile(rb"(?im)^set-cookie: ([^;\r]+)")
LENGTH: Final = re.compile(rb"(?im)^content-length: (\d+)")
DAY: Final = 24 * 3600  # seconds, longer than any benchmark
ROUNDS: Final = 25  # a page of game logs and more
CLICKS: Final = 400  # whose processor time is taken
FELT: Final = 25  # clicks of each kind in Chromium
DEALS: Final = 5  # whose frames are counted
SLOWER: Final = 6  # times that the processor is throttled while they are counted
LONG: Final = 60_000  # milliseconds for anything in Chromium
# The milliseconds from the next click to the first frame with an element, by the browser's own clock.
TIME: Final = """(shown) => {
    window.took = new Promise((resolve) => addEventListener("click", ({timeStamp}) => {
        const {port1, port2} = new MessageChannel();  // its message arrives once the frame is painted
        port1.onmessage = () => resolve(performance.now() - timeStamp);
        const look = () => document.querySelector(shown) ? port2.postMessage(0) : requestAnimationFrame(look);
        requestAnimationFrame(look);
    }, {capture: true, once: true}));
}"""
# Frames a second from the next frame with an element to the next without.
COUNT: Final = """(during) => {
    window.rate = new Promise((resolve) => {
        let begun = null, frames = 0;
        const look = (now) => {
            const there = document.querySelector(during);
            if (!there && begun) return resolve(1000 * (frames + 1) / (now - begun));
            if (begun) frames += 1;
            else if (there) begun = now;
            requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    });
}"""
# A page with nothing but a button, which shows something that moves for as long as a deal takes.
EMPTY: Final = """<style>@keyframes move { to { translate: 300px } } i { animation: move 3s }</style>
<button>Click</button><script>
    document.querySelector("button").onclick = () => {
        const there = document.body.appendChild(document.createElement("i"));
        there.textContent = "there";
        there.onanimationend = () => there.remove();
    };
</script>"""


class Caller:
    """A persistent connection to the web server, as from the proxy of a production house.

    It writes and reads HTTP itself: a client of the standard library takes as long for a click as a tenth of the house.
    """

    def __init__(self, port: int) -> None:
        self._port, self._asked_at = port, 0.0
        self._line: socket.socket | None = None
        self._head = f"Host: {ADDRESS}:{port}\r\nAccept-Encoding: identity\r\nX-Forwarded-Proto: https\r\n"

    def ask(self, method: str, path: str, body: str | None, headers: str) -> tuple[str, list[str]]:
        """Return the text of an answer and the cookies that it sets, each as "name=value". Raises Unavailable.

        *headers*: lines, each with its end.
        """
        if time.monotonic() > self._asked_at + IDLE and self._line is not None:
            self._line.close()
            self._line = None
        self._asked_at = time.monotonic()
        if self._line is None:
            self._line = socket.create_connection((ADDRESS, self._port), timeout=PATIENCE)
            self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        size = "" if body is None else f"Content-Length: {len(body.encode())}\r\n"
        self._line.sendall(f"{method} {path} HTTP/1.1\r\n{self._head}{size}{headers}\r\n{body or ''}".encode())
        head, text = self._received(self._line)
        if not head.startswith(b"HTTP/1.1 200 "):
            raise Unavailable(f"{method} {path} was answered {head.decode()}: {text.decode()[:2000]}")
        return text.decode(), [each.decode() for each in COOKIE.findall(head)]

    def _received(self, line: socket.socket) -> tuple[bytes, bytes]:
        """Return head and body of an answer. Raises Unavailable if the connection ends, or no length is said."""
        received = b""
        while True:
            more = line.recv(65_536)
            if not more:
                raise Unavailable("web has closed the connection")
            received += more
            head, end, body = received.partition(b"\r\n\r\n")
            if end:
                size = LENGTH.search(head)
                if size is None:
                    raise Unavailable(f"an answer without a length: {head.decode()}")
                if len(body) >= int(size[1]):
                    return head, body


class Browser:
    """A logged-in browser: cookies, forms sent as by htmx."""

    def __init__(self, user: User, port: int) -> None:
        client = Client(HTTP_X_FORWARDED_PROTO="https", SERVER_NAME=ADDRESS)
        client.force_login(user)
        self._cookies = {name: morsel.coded_value for name, morsel in client.cookies.items()}
        self._caller = Caller(port)
        self._origin = f"Origin: https://{ADDRESS}:{port}\r\n"
        self._fields: dict[str, str] = {}

    def open(self, path: str) -> str:
        """Open a page. Raises Unavailable."""
        return self._ask("GET", path, None, "")

    def click(self, path: str, action: str, chip: int = STAKE) -> str:
        """Send the form of a table. Raises Unavailable."""
        form = "&".join(map(_pair, *zip(*(self._fields | {"action": action, "chip": str(chip)}).items(), strict=True)))
        return self._ask("POST", path, form, "HX-Request: true\r\nContent-Type: application/x-www-form-urlencoded\r\n")

    def _ask(self, method: str, path: str, form: str | None, headers: str) -> str:
        cookie = "; ".join(map("=".join, self._cookies.items()))
        text, cookies = self._caller.ask(method, path, form, f"{self._origin}Cookie: {cookie}\r\n{headers}")
        self._cookies |= dict(each.split("=", 1) for each in cookies)
        self._fields |= dict(FIELD.findall(text))
        return text


@lru_cache(maxsize=256)
def _pair(name: str, value: str) -> str:
    return urlencode({name: value})


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
        headers = f"Authorization: Bearer {key}\r\nContent-Type: application/json\r\nIdempotency-Key: {uuid4()}\r\n"
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


def felt(pace: Pace) -> list[Result]:
    """Milliseconds from a click in Chromium to the frame that shows its effect, and frames a second of a deal with the
    processor throttled, compared with a page that has nothing but a button.
    """
    from playwright.sync_api import sync_playwright

    from tests.harness.browser import DESKTOP, FLAGS, HOW_TO_GET_IT, find_chromium

    executable = find_chromium()
    if executable is None:
        raise Unavailable(HOW_TO_GET_IT)
    with fresh_house():
        player, *_ = register(CLIENTS)
        open_bets()
        client = Client()
        client.force_login(player.user)
        with (
            web(1) as port,
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=executable, args=FLAGS) as chromium,
            chromium.new_context(
                base_url=f"http://{ADDRESS}:{port}", viewport=DESKTOP, extra_http_headers={"X-Forwarded-Proto": "https"}
            ) as window,
        ):
            window.set_default_timeout(LONG)
            here = f"https://{ADDRESS}:{port}"
            window.add_cookies(
                [{"name": name, "value": each.value, "url": here} for name, each in client.cookies.items()]
            )
            return _felt(window, pace)


def _felt(window: "BrowserContext", pace: Pace) -> list[Result]:
    empty, solo, live = window.new_page(), window.new_page(), window.new_page()
    empty.set_content(EMPTY)
    solo.goto(SOLO)
    live.goto(LIVE)
    took: dict[str, list[float]] = {name: [] for name in ("empty", "solo_chip", "first_card", "live_chip")}
    for number in range(pace.size(FELT, least=2) + 1):
        times = {
            "empty": _milliseconds_to(empty.locator("button"), "i"),
            "solo_chip": _milliseconds_to(*_bet(solo)),
            "first_card": _milliseconds_to(solo.locator("#act-deal"), "#stage .card.is-due"),
            "live_chip": _milliseconds_to(*_bet(live)),
        }
        for name in times if number else ():  # the first of each does not count
            took[name].append(times[name])
        live.locator("#act-undo").click()
        live.locator("#bet-player .spot__bet--open").wait_for(state="detached")
        solo.locator("#game.game--busy").wait_for(state="detached")
        empty.locator("i").wait_for(state="detached")
    frames: dict[str, list[float]] = {"empty": [], "deal": []}
    for page in (empty, solo):
        window.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    for _ in range(pace.size(DEALS)):
        frames["empty"].append(_frames_during("i", empty.locator("button")))
        _milliseconds_to(*_bet(solo))
        frames["deal"].append(_frames_during("#game.game--fresh", solo.locator("#act-deal")))
    medians = {name: median(times) for name, times in took.items()}
    yardstick = medians.pop("empty")
    return [
        *(Result(f"felt_{name}", each, yardstick, "ms") for name, each in medians.items()),
        Result("felt_frames", median(frames["deal"]), median(frames["empty"]), "frames/s"),
    ]


def _bet(page: "Page") -> tuple["Locator", str]:
    """Return the area of a bet, and the first chip on it."""
    return page.locator("#bet-player"), "#bet-player .spot__bet--open .chip"


def _milliseconds_to(button: "Locator", shown: str) -> float:
    """Click, and return the milliseconds until the first frame with an element."""
    return _during_click(button, TIME, shown, "took")


def _frames_during(shown: str, button: "Locator") -> float:
    """Click, and return the frames a second while an element is there."""
    return _during_click(button, COUNT, shown, "rate")


def _during_click(button: "Locator", measure: str, shown: str, name: str) -> float:
    page = button.page
    page.bring_to_front()
    button.hover()
    page.evaluate(measure, shown)
    button.click()
    measured: float = page.evaluate(f"window.{name}")
    return measured


def shares(pace: Pace) -> list[Result]:
    """Processor time of each process for a click of four players on all processors, compared with that of all."""
    results = []
    for name, clicker in {"solo": solo_clicker, "live": live_clicker, "api": api_player}.items():
        with fresh_house():
            players = register(CLIENTS)
            open_bets()
            with (
                web(len(os.sched_getaffinity(0))) as port,
                team(*(partial(_repeated, clicker, each, port) for each in players)) as rate,
            ):
                rate(pace.seconds)
                collect_statistics()
                rate(min(pace.seconds, 1.0))
                before = seconds_by_program()
                clicks = pace.rounds * pace.seconds * rate(pace.rounds * pace.seconds)
                took = {each: 1000 * (now - before[each]) / clicks for each, now in seconds_by_program().items()}
            results += [Result(f"{name}_{each}", took[each], sum(took.values()), "ms, of all") for each in took]
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
