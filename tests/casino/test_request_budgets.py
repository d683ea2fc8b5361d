"""The cost of the most frequent requests, counted: statements, bytes, calls of Python functions.

A change that makes one heavier than its budget and ten percent fails; lower a budget when a request becomes lighter.
Calls of C functions count too. Times are not tested: `make bench` measures them.
"""

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from games.models import Phase
from tests.api.at_solo import AtTable, answered
from tests.api.client import ApiClient
from tests.builders import a_player, a_table
from tests.live.at_table import a_live_table, advance_to, round_at

RICH = 100_000_000
ROOM = 1.1
WARM = 4  # requests before the one that is counted: statements are prepared, texts and templates are loaded
FIELD = re.compile(
    r'name="(csrfmiddlewaretoken|round_id|slip_version|table_version|layout|buttons|stage)" value="([^"]*)"'
)
LAYOUT = re.compile(r'id="live-own"[^>]* data-layout="(\w+)"')
FORM = "application/x-www-form-urlencoded"
SOLO, LIVE = "/en/table/baccarat/real/", "/en/table/live/real/"
COMPILER = "/django/db/models/sql/compiler.py"


class Cost(NamedTuple):
    """The cost of one request; of its statements, *compiled* were made by the ORM's compiler."""

    statements: int
    bytes: int
    calls: int
    compiled: int = 0


BUDGETS = {
    "lobby": Cost(10, 22_080, 16_190),
    "history": Cost(10, 17_550, 12_000),
    "cashier": Cost(8, 13_730, 15_500, 1),
    "solo page": Cost(11, 24_650, 14_800, 1),
    "solo chip": Cost(3, 1_480, 3_590),
    "solo rebet and deal": Cost(4, 5_340, 4_690),  # 4,440 to 5,600 bytes by the cards
    "live page": Cost(20, 42_620, 38_080, 12),
    "live chip": Cost(8, 2_770, 5_750),
    "live refresh": Cost(9, 11_600, 10_780, 3),
    "API round": Cost(6, 1_530, 4_820),
}


def cost_of(ask: Callable[[], Any]) -> Cost:
    """Return what one request costs once it is usual."""
    for _ in range(WARM):
        ask()
    with CaptureQueriesContext(connection) as sent:
        ask()
    statements = len([each for each in sent if each["sql"] not in ("BEGIN", "COMMIT")])
    calls = compiled = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls, compiled
        calls += event in ("call", "c_call")
        code = frame.f_code
        compiled += event == "call" and code.co_name == "as_sql" and code.co_filename.endswith(COMPILER)

    sys.setprofile(count)
    try:
        answer = ask()
    finally:
        sys.setprofile(None)
    assert answer.status_code == 200, answer
    return Cost(statements, len(answer.content), calls, compiled)


class AtSoloTable:
    """A browser at a solo table."""

    def __init__(self, browser: Client) -> None:
        self.browser = browser
        self.fields = dict(FIELD.findall(browser.get(SOLO).text))

    def press(self, action: str) -> Any:
        """Press a button in the state that the page shows."""
        sent = urlencode(self.fields | {"action": action, "chip": "1000"})
        answer = self.browser.post(f"{SOLO}play/", sent, content_type=FORM, headers={"HX-Request": "true"})
        self.fields |= dict(FIELD.findall(answer.text))
        return answer


def test_no_frequent_request_becomes_heavier(cloned_db, settings):
    settings.FORMS_PER_SECOND = 1000
    player, table, live_table = a_player(real=RICH), a_table(), a_live_table()
    browser = Client()
    browser.force_login(player.user)
    at_solo = AtSoloTable(browser)
    at_solo.press("bet:player")
    at_solo.press("deal")
    program = AtTable(ApiClient(player.user), table)
    answered(program.open())
    browser.get(LIVE)
    advance_to(live_table, Phase.BETTING)
    live_chip = {"round_id": round_at(live_table).pk, "table_version": 1, "chip": 25_000, "action": "bet:player"}

    def bet_live() -> Any:
        answer = browser.post(f"{LIVE}bet/", urlencode(live_chip), content_type=FORM, headers={"HX-Request": "true"})
        if layout := LAYOUT.search(answer.text):  # the page says which it shows, to be sent what changed
            live_chip["layout"] = layout[1]
        return answer

    costs = {
        "lobby": cost_of(lambda: browser.get("/en/")),
        "history": cost_of(lambda: browser.get("/en/history/")),
        "cashier": cost_of(lambda: browser.get("/en/cashier/")),
        "solo page": cost_of(lambda: browser.get(SOLO)),
        "solo chip": cost_of(lambda: at_solo.press("bet:player")),
        "solo rebet and deal": cost_of(lambda: at_solo.press("rebet_deal")),
        "live page": cost_of(lambda: browser.get(LIVE)),
        "live chip": cost_of(bet_live),
        "live refresh": cost_of(lambda: browser.get(f"{LIVE}now/", headers={"HX-Request": "true"})),
        "API round": cost_of(lambda: program.play({"player": 5000})),
    }
    heavier = {
        request: cost
        for request, cost in costs.items()
        if any(now > most * ROOM for now, most in zip(cost, BUDGETS[request], strict=True))
    }
    assert not heavier, "\n".join(f"{request}: {cost}, budget {BUDGETS[request]}" for request, cost in heavier.items())
