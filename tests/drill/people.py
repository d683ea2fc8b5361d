"""The players of a drill: their tables, their way to play, their money."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

from django.conf import settings
from django.test import Client as Browser

from games.betting.limits import Limits
from games.chemin.state.snapshots import read_public
from games.models import LiveTable, Table
from games.shared.seats import seat_at
from games.tables.chemin_rules import CheminClock
from games.tables.clock import Clock
from players.api import tokens
from players.demo import DOMAIN
from players.identity import verification
from players.models import Player, Scope, Staff
from tests.builders import a_chemin_live_table, a_player, a_shared_table, a_submission, a_table
from tests.drill.api_players import ApiPlayer, Rival, Sharer, Soloist
from tests.drill.bettors import Bettor
from tests.drill.chemin_window import CheminWindow
from tests.drill.payers import Payer
from tests.drill.records import Record
from tests.drill.simulated_players import TIMEOUT, SimulatedPlayer
from tests.drill.windows import SharedWindow, SoloWindow, Window
from tests.harness.databases import add_functions
from tests.harness.visitor import Visitor
from wallet.models import Mode

BRISK = Clock(betting=3000, call=500, card=200, pause=500)
BRISK_CHEMIN = CheminClock(
    ask=4000, decide=4000, deal=4000, choice=4000, pause=500, house_player=500, missed=20, removal=3_600_000
)
MONEY = 10**9  # minor units
LEAST = 100_000  # of a German player: the highest possible deposit
PER_MINUTE = 10_000  # calls of an API client


@dataclass(frozen=True)
class Client:
    """A player, and the API client that compares the player's record with the house."""

    simulated_player: SimulatedPlayer
    reader: ApiPlayer


class Party:
    """The tables of a drill, and everybody at them."""

    def __init__(self, url: str, seed: str, *, is_long: bool) -> None:
        self._url, self._seed = url, seed
        add_functions()
        self.players: list[Player] = []
        name = uuid4().hex[:6]
        shared = a_shared_table(slug=f"drill-{name}", clock=BRISK)
        seated_players = a_chemin_live_table(slug=f"drill-guests-{name}", clock=BRISK_CHEMIN)
        solo = a_table(slug=f"drill-solo-{name}")
        self.table = LiveTable.objects.select_related("table__version").get(table=shared, mode=Mode.REAL)
        self.chemin_table = LiveTable.objects.select_related("table").get(table=seated_players, mode=Mode.REAL)
        self.clients = [*self._everybody(solo, twice=is_long), *self._windows(solo, are_all=is_long)]

    def _everybody(self, solo: Table, *, twice: bool) -> Iterator[Client]:
        for code in ("SE", "DK", "DE"):
            yield self._bettor(code)
        for code in ("SE", "DK") if twice else ("SE",):
            yield self._program(Soloist, code, solo.slug)
            yield self._program(Sharer, code, self.table.table.slug)
            yield self._payer(code)
        for _ in range(3):
            yield self._rival("SE")

    def _windows(self, solo: Table, *, are_all: bool) -> Iterator[Client]:
        """One at every table; in a short drill at that of the players alone, where a page is asked most."""
        kinds: list[tuple[type[Window], str]] = [(CheminWindow, self.chemin_table.table.slug)]
        if are_all:
            kinds += [(SoloWindow, solo.slug), (SharedWindow, self.table.table.slug)]
        for kind, slug in kinds:
            player, record = self._player(kind.__name__, "SE")
            if kind is CheminWindow:  # its page says so in words
                record.largest_bank = read_public(self.chemin_table.pk).rules.maximum
            path = f"/en/table/{slug}/real/"
            yield Client(kind(record, self._seed, self._url, path, _cookies(player)), self._reader(player, record))

    def _bettor(self, code: str) -> Client:
        player, record = self._player(Bettor.__name__, code, LEAST if code == "DE" else MONEY)
        seat_at(player, self.table)
        version = self.table.table.version
        assert version
        chips = list(Limits.of(version.limits, player.currency).chips[:3])
        visitor, page = Visitor(self._url, player.user, TIMEOUT), f"/en/table/{self.table.table.slug}/real/"
        return Client(Bettor(record, self._seed, visitor, page, chips), self._reader(player, record))

    def _rival(self, code: str) -> Client:
        player, record = self._player(Rival.__name__, code)
        slug = self.chemin_table.table.slug
        made = Rival(record, self._seed, self._url, _token(player), slug, _cookies(player))
        return Client(made, made)

    def _program(self, kind: type[Soloist | Sharer], code: str, slug: str) -> Client:
        player, record = self._player(kind.__name__, code)
        made = kind(record, self._seed, self._url, _token(player), slug)
        return Client(made, made)

    def _payer(self, code: str) -> Client:
        """Create a player with a verified identity, who deposits and withdraws."""
        player, record = self._player(Payer.__name__, code)
        by = Staff.objects.get(user__email=f"compliance@{DOMAIN}")
        verification.verify(submission_id=a_submission(player).pk, by=by)
        return Client(Payer(record, self._seed, self._url, _cookies(player)), self._reader(player, record))

    def _player(self, what: str, code: str, money: int = MONEY) -> tuple[Player, Record]:
        player = a_player(code, real=money)
        self.players.append(player)
        return player, Record(f"{what} {player.pk}", money)

    def _reader(self, player: Player, record: Record) -> ApiPlayer:
        return ApiPlayer(record, self._seed, self._url, _token(player))


def _token(player: Player) -> str:
    scopes = (Scope.READ, Scope.PLAY)
    return tokens.make(user=player.user, name="a drill", scopes=scopes, days=1, per_minute=PER_MINUTE)[1]


def _cookies(player: Player) -> dict[str, str]:
    browser = Browser()
    browser.force_login(player.user)
    return {settings.SESSION_COOKIE_NAME: browser.cookies[settings.SESSION_COOKIE_NAME].value}
