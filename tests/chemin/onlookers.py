"""A running Chemin de Fer table, everyone who can look at it, and everything each of them can read.

That is pages and streams of a real server, logs of web and workers, and all rows.
"""

import http.client
import io
import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlsplit

import pytest

from games import tasks
from games.chemin.pages import rendering
from games.chemin.state.snapshots import read_public
from games.engine.cards import Card
from games.engine.chemin import State
from games.lobby.selectors import cards
from games.models import LiveTable
from games.shared.pages.lobby_card import card_view
from players.models import Player
from tests.api.at_live import at
from tests.api.client import ApiClient
from tests.api.listening import headers_of
from tests.builders import a_player
from tests.chemin.at_table import a_chemin_table, answer, chemin_of, hurry, seated_players
from tests.chemin.hands import next_seed
from tests.chemin.overheard import CACHE, HOUSE, Record, pages, rows
from tests.chemin.spelling import LANGUAGES
from tests.harness.databases import Database
from tests.harness.dealer import seed_of
from tests.harness.sweeps import IS_SWEEP, SECOND_LANGUAGE, TURN, in_turn
from tests.harness.visitor import Visitor
from tests.harness.web import WebServer
from tests.live.watcher import Watcher
from tests.matrix import STAFF
from tests.people import a_member_of_staff

BANK = 10_000
MOST_OF_A_KIND = None if IS_SWEEP else 1  # pages whose URLs differ only in a number
VISITED = LANGUAGES if IS_SWEEP else [SECOND_LANGUAGE]
# Random numbers and times in any format, and addresses of people created for a test.
BY_CHANCE = re.compile(
    r"[\w.]+@example\.com|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}|[\w:+/=-]{20,}|[0-9a-f]{12,}"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.+Z]*|\d\d:\d\d(?::\d\d)?|\b\d{10,}\b|data-seconds>\d+|dasharray=\"[^\"]*"
    r"|\bsabot_[\w-]+|(?<=\"seconds_left\":)[\d.]+|(?<=\"seconds_to_(?:bind|open)\":)[\d.]+|0x[0-9a-f]+|\[\d{2,}\]"
    r"|', \d{4,5}\)"
)
# The time left for players to cut the shoe, before any card is dealt.
LEFT_TO_CUT = re.compile(r"(data-phase=\"shoe\"[^>]* data-length=)\"\d+\"")
OUTSIDER = "player with other money"  # may not even watch
NAMES = ("banker", "punter", "third guest", "fourth guest")  # at seats 1 to 4
STREAM = re.compile(r'data-stream="(/live/[^"]+)"')
FLOOR = "/staff/floor/"  # shows the cards that lie open
BACK_OFFICE = (FLOOR, "/staff/", "/staff/rounds/", "/staff/events/", "/staff/incidents/", "/staff/ledger/")


@dataclass
class Onlooker:
    """A person with a browser; a player or spectator also has an API client."""

    name: str
    visitor: Visitor
    player: Player | None = None
    api_client: ApiClient | None = None
    watchers: tuple[Watcher, ...] = ()
    examined: dict[Watcher, int] = field(default_factory=dict)  # bytes of each stream, up to the end of an event

    def hears(self) -> bytes:
        """Return what its streams have sent since the last call."""
        said = b""
        for watcher in self.watchers:
            new = watcher.bytes[self.examined.get(watcher, 0) :]
            self.examined[watcher] = self.examined.get(watcher, 0) + max(new.rfind(b"\n\n"), 0)
            said += new
        return said


class House:
    """The table, its players, and everyone who can read something."""

    _before: ClassVar[dict[str, set[Card]]] = {}
    """Pictures of cards found before the first table, reused for later ones, which have the same
    URLs.
    """

    def __init__(self, server: WebServer, database: Database, stack: ExitStack) -> None:
        self.record = Record(self._before)
        self.live_table = a_chemin_table()
        self.log = io.StringIO()  # log of code that runs in this process, as workers do
        self._server, self._database, self._stack = server, database, stack
        self._looks = TURN  # of the supervisor into the back office
        seated = dict(zip(NAMES, seated_players(self.live_table, len(NAMES)), strict=True))
        players = seated | {"spectator": a_player(real=1_000), OUTSIDER: a_player("DK")}
        self.onlookers = {name: Onlooker(name, self._visitor(each.user), each) for name, each in players.items()}
        for role in STAFF:
            self.onlookers[role] = Onlooker(role, self._visitor(a_member_of_staff(role).user))

    @property
    def table(self) -> str:
        """The path of the table without the language."""
        return f"table/{self.live_table.table.slug}/real/"

    def open_up(self) -> None:
        """Record all pictures of cards that exist before any card is drawn, then open all streams."""
        if not self._before:
            for onlooker in self._who_goes_everywhere():
                for address, body in pages(onlooker.visitor, *self._first(onlooker), most=MOST_OF_A_KIND):
                    self.record.before(address, body)
            for onlooker in self.onlookers.values():
                for address, body in self._table_pages(onlooker):
                    self.record.before(address, body)
        self._before.update(self.record.always)
        self.have_all_listen()

    def have_all_listen(self) -> None:
        """Open the table's streams for pages and API clients, and the lobby stream.

        For all players and spectators.
        """
        for onlooker in self.onlookers.values():
            if onlooker.player and onlooker.name != OUTSIDER:
                onlooker.api_client = ApiClient(onlooker.player.user)
                addresses = (f"/en/{self.table}", "/en/?mode=real")
                pages = (self._listen(onlooker, address) for address in addresses)
                onlooker.watchers = (*pages, self._listen_as_an_api_client(onlooker.api_client))

    def begin(self, monkeypatch: pytest.MonkeyPatch, seed: bytes, *, listen: bool = True) -> None:
        """Let the banker take the bank, and use a shoe with this seed. With *listen*, examine what can be read."""
        self.record.keep(seed)
        next_seed(monkeypatch, seed)
        player = self.onlookers["banker"].player
        assert player
        answer(player, self.live_table, "take_bank", BANK)
        shoe = LiveTable.objects.get(pk=self.live_table.pk).shoe
        assert shoe
        assert seed_of(shoe) == seed
        if listen:
            self.listen()

    def click(self, name: str, action: str, amount: str = "", *, listen: bool = True) -> str:
        """Click on the page, examine everything that can be read afterwards, and return the answer."""
        onlooker = self.onlookers[name]
        form = {"question": chemin_of(self.live_table).question, "action": action, "amount": amount}
        status, answered = onlooker.visitor.post(f"/en/{self.table}act/", form)
        assert status == 200, (status, action)
        if listen:
            self.listen()
        self.record.hear(name, f"the answer to {action}", answered)
        return answered

    def let_time_pass(self) -> None:
        """Let the croupier decide after the deadline, as a worker does."""
        hurry(self.live_table)
        with written_to(self.log):
            assert tasks.advance_chemin_table.apply((self.live_table.pk,)).get()
        self.listen()

    def wait_for_streams(self) -> None:
        """Wait until every stream has sent the current state of the table.

        A stream may skip a state that was soon followed by another.
        """
        move, cursor = chemin_of(self.live_table).move, rendering.page_board_key(read_public(self.live_table.pk))
        (card,) = cards([self.live_table.pk])
        key = card_view(card, "en").key
        for onlooker in self.onlookers.values():
            for watcher in onlooker.watchers[1:2]:
                watcher.wait_for("lobby", f'data-key="{key}"')
            for watcher in onlooker.watchers[:1]:
                watcher.wait_for("own", f'data-version="{move}"')
                watcher.wait_for("board", f'data-key="{cursor}"')
            for watcher in onlooker.watchers[2:]:
                watcher.wait_for("own", f'"move":{move},')

    def listen(self, *, everywhere: bool = False) -> None:
        """Examine everything that can be read now: streams, table pages, rows and logs.

        With *everywhere*, also all pages that anyone can open.
        """
        state = self._turn_up()
        self.wait_for_streams()
        for onlooker in self.onlookers.values():
            self.record.hear(onlooker.name, "streams", onlooker.hears())
            for address, body in self._table_pages(onlooker):
                self.record.hear(onlooker.name, address, body)
        for onlooker in self._who_goes_everywhere() if everywhere else ():
            for address, body in pages(onlooker.visitor, *self._first(onlooker), most=MOST_OF_A_KIND):
                self.record.hear(onlooker.name, address, body)
        self.record.hear("anybody", "/en/", self._without_a_cookie(f"/en/{self.table}"))
        for table, row in rows(self._database):
            self.record.hear(HOUSE, f"rows of {table}", row)
        self.record.hear(HOUSE, "the log of web", self._server.printed())
        self.record.hear(HOUSE, "the log of workers", self.log.getvalue())
        self.record.hear(HOUSE, "what is printed of the table", f"{state!r} {read_public(self.live_table.pk)!r}")

    def trace(self, *, without: str) -> dict[tuple[str, str], str]:
        """Return everything that all but one can read now, by reader and place.

        Random numbers, times and values derived from them are removed, because they differ in each
        run. What streams sent is the same in each run if it was waited for after each step.
        """
        found = {("anybody", "/en/"): self._without_a_cookie(f"/en/{self.table}").decode()}
        for name, onlooker in self.onlookers.items():
            if name == without:
                continue
            for address, body in self._table_pages(onlooker):
                found[name, address] = body.decode()
            found[name, "streams"] = "".join(map(_as_text, onlooker.watchers))
        found = {where: BY_CHANCE.sub("*", text) for where, text in found.items()}
        lines: defaultdict[str, list[str]] = defaultdict(list)
        for table, row in rows(self._database):
            lines[table].append(BY_CHANCE.sub("*", row))
        for line in self._server.printed().splitlines():  # written by several threads, so the order of its parts varies
            lines["the log of web"].append(" ".join(sorted(BY_CHANCE.sub("*", line).split())))
        del lines[CACHE]
        return found | {(HOUSE, table): "\n".join(sorted(each)) for table, each in lines.items()}

    def _turn_up(self) -> State:
        """Record which cards are face up now, and for which readers."""
        state = read_public(self.live_table.pk).table_state
        hands = state.coup and state.coup.hands
        if hands:
            thirds = [hand.third for hand in (hands.punter, hands.banker) if hand.third]
            shown = [card for hand in (hands.punter, hands.banker) if hand.shown for card in hand.pair]
            self.record.turn_up([*thirds, *shown])
            self.record.turn_up(hands.punter.pair, "punter")
        return state

    def _who_goes_everywhere(self) -> list[Onlooker]:
        """Return everyone who has different pages.

        `make test` uses only the spectator or one staff member, another one each day.
        """
        if not IS_SWEEP:
            return [self.onlookers[name] for name in in_turn(("spectator", *STAFF), TURN, IS_SWEEP)]
        alike = ("third guest", "fourth guest", OUTSIDER)
        return [each for name, each in self.onlookers.items() if name not in alike]

    def _first(self, onlooker: Onlooker) -> tuple[str, ...]:
        """Return the first URLs of a person; staff also open pages about the coup and its players."""
        live_round = LiveTable.objects.select_related("round").get(pk=self.live_table.pk).round
        if onlooker.player is not None:
            files = ("/en/account/data/sabot.zip", "/en/history/rounds.csv")
            return ("/en/", f"/en/{self.table}", f"/en/{self.table}chemin/now/", *files)
        players_of = [f"/staff/players/{each.player.pk}/" for each in self.onlookers.values() if each.player]
        if live_round is None:
            return ("/staff/", *players_of)
        searches = (
            "rounds/?status=in+progress",
            f"rounds/{live_round.pk}/",
            f"events/?on=round:{live_round.pk}",
            f"ledger/?round={live_round.pk}",
        )
        return (
            "/staff/",
            *players_of,
            *(f"/staff/{each}" for each in searches),
            f"/staff/rounds/{live_round.pk}/report/",
        )

    def _table_pages(self, onlooker: Onlooker) -> Iterator[tuple[str, bytes]]:
        if onlooker.name not in ("banker", "punter", "spectator", "supervisor"):  # for the others streams are enough
            return
        languages = VISITED if onlooker.name == "spectator" else ["en"]  # public content is the same for all
        here = [f"/{language}/{self.table}{tail}" for language in languages for tail in ("", "chemin/now/?board=0")]
        for address in self._back_office() if onlooker.player is None else here:
            status, body = onlooker.visitor.read(address, **{"Sec-Fetch-Site": "same-origin"})
            assert status < 500, (address, status)
            yield address.partition("?")[0], body
        if onlooker.api_client is not None:
            yield "/api/", onlooker.visitor.read(f"/api/v1/{at(self.live_table)}", **headers_of(onlooker.api_client))[1]

    def _back_office(self) -> Sequence[str]:
        """Return pages of the back office; `make test` takes the floor and another page each time."""
        self._looks += 1
        return BACK_OFFICE if IS_SWEEP else (FLOOR, *in_turn(BACK_OFFICE, self._looks, IS_SWEEP))

    def _listen_as_an_api_client(self, api_client: ApiClient) -> Watcher:
        address = f"/api/v1/{at(self.live_table, 'stream')}"
        watcher = Watcher(self._server.url, address, headers=headers_of(api_client))
        self._stack.callback(watcher.close)
        return watcher

    def _listen(self, onlooker: Onlooker, address: str) -> Watcher:
        status, page = onlooker.visitor.get(address)
        assert status == 200
        (stream,) = STREAM.findall(page)
        watcher = Watcher(self._server.url, stream, cookie=onlooker.visitor.session)
        self._stack.callback(watcher.close)
        return watcher

    def _visitor(self, user: object) -> Visitor:
        return Visitor(self._server.url, user)  # type: ignore[arg-type]

    def _without_a_cookie(self, address: str) -> bytes:
        line = http.client.HTTPConnection(urlsplit(self._server.url).netloc, timeout=30)
        line.request("GET", address)
        return line.getresponse().read()


def _as_text(watcher: Watcher) -> str:
    """Return what a stream sent, without repetitions that only have another time."""
    stated, last = [], dict[str, str]()
    for received in watcher.received:
        said = BY_CHANCE.sub("*", LEFT_TO_CUT.sub(r"\1*", f"{received.kind} {received.html}\n"))
        if received.kind != "beat" and last.get(received.kind) != said:
            last[received.kind] = said
            stated.append(said)
    return "".join(stated)


@contextmanager
def written_to(log: io.StringIO) -> Iterator[None]:
    """Capture everything that is logged in this process."""
    handler, root = logging.StreamHandler(log), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
