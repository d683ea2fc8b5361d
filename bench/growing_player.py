"""Somebody who asks for the pages of a house as those do who use it: `python -m bench.growing_player PEOPLE`, where
PEOPLE is JSON of `bench.growth`. For every line, the name of a page and a number of seconds, they ask it everything for
so long, once at least, and say in JSON how many milliseconds each took, in the median.
"""

import json
import logging
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from statistics import median
from typing import Any

import django

django.setup()

from django.test import Client  # noqa: E402  (models need the set-up)

from audit.models import Report, ReportState  # noqa: E402
from audit.reports import runner  # noqa: E402
from audit.reports.intervals import Period, interval_of  # noqa: E402
from audit.reports.kinds import Kind, all_kinds  # noqa: E402
from bench.http_player import PLAY, TABLE  # noqa: E402
from bench.visitor import Refused, fields_of  # noqa: E402
from games.models import Participation  # noqa: E402
from players.models import Player, Staff, User  # noqa: E402

HOST = "127.0.0.1"
ZONE = "UTC"
FEW = "few"  # rounds, and as many everywhere: what tells of a time as a whole says more to whoever played more in it
Question = Callable[[], object]
Ask = Callable[[], float]
"""Asks something and says how many seconds the answer took."""


class Browser:
    """Somebody who is logged in, or not (None)."""

    def __init__(self, user: User | None) -> None:
        self._client = Client(HTTP_X_FORWARDED_PROTO="https", SERVER_NAME=HOST)
        if user:
            self._client.force_login(user)
        self._fields: dict[str, str] = {}

    def open(self, path: str) -> None:
        """Open a page."""
        self._look(self._client.get(path))

    def click(self, action: str, **form: str) -> None:
        """Send the form of a table as htmx does."""
        sent = self._fields | {"action": action, **form}
        self._look(self._client.post(PLAY, sent, headers={"HX-Request": "true"}))

    def _look(self, answer: Any) -> None:
        self.text = answer.content.decode()
        if answer.status_code != HTTPStatus.OK:
            raise Refused(f"answered {answer.status_code}: {self.text[:2000]}")
        self._fields |= fields_of(self.text)


def lobby() -> Iterator[tuple[str, Ask]]:
    """Yield the lobby as a player and as a visitor sees it."""
    yield "a player's", timed(partial(players[FEW].open, "/en/"))
    yield "a visitor's", timed(partial(Browser(None).open, "/en/"))


def deal() -> Iterator[tuple[str, Ask]]:
    """Yield a round at a table against the house."""
    for name, browser in players.items():
        browser.open(TABLE)
        browser.click("bet:player", chip="1000")
        browser.click("deal", chip="1000")

        def again(browser: Browser = browser) -> None:
            browser.click("rebet_deal", chip="1000")
            if "game--fresh" not in browser.text:
                raise Refused("nothing was dealt")

        yield f"who has {name}", timed(again)


def history() -> Iterator[tuple[str, Ask]]:
    """Yield pages of Game logs, the first and one far back, what is searched there, and a round that lies far back."""
    for name, browser in players.items():
        part = _in_the_middle(PEOPLE[name]["player"])
        day = f"{part.at:%Y-%m-%d}"
        pages = {
            "first page": "/en/history/",
            "far back": f"/en/history/?before={part.pk}",
            "rounds that were lost": "/en/history/?ending=lost",
            "a round": f"/en/history/{part.round_id}/",
        }
        if name == FEW:
            pages |= {"a day": f"/en/history/?since={day}&until={day}", "statement": "/en/cashier/statement/"}
        for page, path in pages.items():
            yield f"{page}, who has {name}", timed(partial(browser.open, path))


def player_page() -> Iterator[tuple[str, Ask]]:
    """Yield the page of a player in the back office, and that of what moved on their account."""
    for name in players:
        address = f"/staff/players/{PEOPLE[name]['player']}/"
        yield f"who has {name}", timed(partial(staff.open, address))
        yield f"money, who has {name}", timed(partial(staff.open, f"{address}money/"))


def reports() -> Iterator[tuple[str, Ask]]:
    """Yield every kind of report of a month and of a day, as a worker makes it."""
    for kind in all_kinds():
        for period in (Period.LAST_MONTH, Period.YESTERDAY):
            is_of_one = any(choice.name == "player" for choice in kind.choices)
            choices = {"player": str(PEOPLE[FEW]["player"])} if is_of_one else {}
            yield f"{kind.name}, {period}", partial(_make, kind, period, choices)


def dashboard() -> Iterator[tuple[str, Ask]]:
    """Yield the dashboard for some of its periods, as the page asks for it by itself."""
    for period in ("today", "yesterday", "this_month", "last_30_days"):
        yield period, timed(partial(staff.open, f"/staff/dashboard/now/?period={period}"))


def timed(question: Question) -> Ask:
    """Return how to ask that and take the time."""

    def ask() -> float:
        begun = time.perf_counter()
        question()
        return time.perf_counter() - begun

    return ask


def _in_the_middle(player_id: int) -> Participation:
    found = Participation.objects.filter(player=player_id).order_by("at", "pk")
    return found[found.count() // 2]


def _make(kind: Kind, period: Period, choices: Mapping[str, str]) -> float:
    asked = interval_of(period, now=datetime.now(UTC), zone=ZONE)
    told = {"zone": ZONE, "period": str(period), **dict.fromkeys((each.name for each in kind.choices), ""), **choices}
    # As whoever asks for one leaves it, but for the hint to a worker.
    report = Report.objects.create(
        kind=kind.name, since=asked.since, until=asked.until, choices=told, by=f"staff:{STAFF.pk}"
    )
    took = timed(runner.make_open)()
    report = Report.objects.get(pk=report.pk)
    if report.state != ReportState.READY:
        raise Refused(f"report {kind.name} is {report.state}: {report.failure}")
    return took


PAGES = (lobby, deal, history, player_page, reports, dashboard)

if __name__ == "__main__":
    logging.disable(logging.INFO)
    PEOPLE = json.loads(sys.argv[1])
    STAFF = Staff.objects.select_related("user").get(pk=PEOPLE["staff"]["staff"])
    staff = Browser(STAFF.user)
    players = {
        name: Browser(Player.objects.select_related("user").get(pk=PEOPLE[name]["player"]).user)
        for name in (FEW, "most")
    }
    questions: dict[str, list[tuple[str, Ask]]] = {}
    print("ready", flush=True)
    for line in sys.stdin:
        page, seconds = line.split()
        if page not in questions:
            (asking_for,) = (each for each in PAGES if each.__name__ == page)
            questions[page] = list(asking_for())
        took: dict[str, list[float]] = defaultdict(list)
        begun = time.perf_counter()
        while not took or time.perf_counter() - begun < float(seconds):
            for asked, ask in questions[page]:
                took[asked].append(1000 * ask())
        print(json.dumps({asked: median(times) for asked, times in took.items()}), flush=True)
