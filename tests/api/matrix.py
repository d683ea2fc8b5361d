"""Every address of the API with the answer for each reader; checked by `tests/api/test_matrix.py`.

A line is one address and one method. A method that has no line is refused to everyone who would get
in (405).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from audit import log
from audit.models import Leaf
from games.models import LiveTable, ShoeCut, SoloSeat, Table
from games.shared.seats import seat_at
from players.models import Player, Scope
from tests.api.client import ApiClient
from tests.audit import sealed
from tests.audit.reporting import asked, made_here
from tests.audit.signing import Pens
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_seat, a_table
from tests.chemin.at_table import a_chemin_table, sit, take_bank
from tests.live.at_table import a_live_table, round_at
from tests.people import a_member_of_staff
from tests.wallet.studios import a_partner
from wallet.models import Mode

NOBODY = "nobody"
READER, PLAYER, OTHER = "reader", "player", "other_player"  # the first two are one person with two tokens
PLAYERS = (READER, PLAYER, OTHER)
STAFF = ("operator", "supervisor", "finance", "compliance", "support", "administrator")
ROLES = (NOBODY, *PLAYERS, *STAFF)
WITH_TOKENS = "compliance"  # the only staff role whose API clients may read
EVERYBODY = dict.fromkeys(ROLES, 403) | {NOBODY: 401}  # refused
PENS = Pens()  # the signatures that the house accepts
MONEY = 1_000_000  # minor units
CHIP = 5000


class World:
    """The objects named in the addresses, each created at its first use."""

    @cached_property
    def player(self) -> Player:
        """The player whose rounds and seats the addresses name."""
        return a_player(real=MONEY, free=MONEY)

    @cached_property
    def other_player(self) -> Player:
        """Somebody else, with as much money."""
        return a_player(real=MONEY, free=MONEY)

    @cached_property
    def table(self) -> Table:
        """An open solo table."""
        return a_table()

    @cached_property
    def golden(self) -> Table:
        """An open table of the game that has its own balance, with money of both players in it."""
        table = a_golden_table()
        for each in (self.player, self.other_player):
            a_purse(each, CHIP)
        return table

    @cached_property
    def seat(self) -> SoloSeat:
        """The player's seat with a bet on it; the other player has a seat there too."""
        a_seat(self.other_player, self.table, Mode.REAL, player=CHIP)
        return a_seat(self.player, self.table, Mode.REAL, player=CHIP)

    @cached_property
    def round_id(self) -> str:
        """A round of the player's."""
        return str(a_round(self.player, self.table, Mode.REAL, player=CHIP).round_id)

    @cached_property
    def live_table(self) -> LiveTable:
        """A shared table that takes bets, with seats of both players."""
        made = a_live_table()
        for each in (self.player, self.other_player):
            seat_at(each, made)
        return made

    @cached_property
    def cut(self) -> ShoeCut:
        """The shoe that the players of a Chemin de Fer table are cutting."""
        made = a_chemin_table(slug="cutting")
        sit(self.player, made, 1)
        sit(self.other_player, made, 2)
        take_bank(made)
        return ShoeCut.objects.select_related("live_table__table").get(live_table=made)

    @cached_property
    def event(self) -> int:
        """An event that a checkpoint covers, signed with `PENS`."""
        number = log.record("test.happened", by="system", on="table:1", data={})
        sealed.sign(PENS)
        return number

    @property
    def checkpoint(self) -> str:
        """The last checkpoint's name; there is one from then on."""
        return "checkpoint" if self.signed else ""

    @property
    def signed(self) -> int:
        """The number of leaves of the last checkpoint."""
        return Leaf.objects.get(event=self.event).leaf + 1

    @cached_property
    def report(self) -> int:
        """A report that is ready."""
        return made_here(asked("voids")).pk

    def api_client(self, role: str) -> ApiClient:
        """Return an API client of a user with this role."""
        if role == NOBODY:
            return ApiClient(None)
        if role in STAFF:
            return ApiClient(a_member_of_staff(role).user)
        if role == OTHER:
            return ApiClient(self.other_player.user)
        return ApiClient(self.player.user, *((Scope.READ,) if role == READER else ()))


@dataclass(frozen=True)
class Line:
    """One address (its name in the namespace "api"), one method, and the status that each role gets."""

    name: str
    method: str
    path: Callable[[World], str]
    answers: Mapping[str, int]
    body: Callable[[World], Any] = field(default=lambda world: {})
    media: str = "application/json"  # of an allowed answer


def for_players(
    name: str,
    method: str,
    path: str | Callable[[World], str],
    body: Callable[[World], Any] = lambda world: {},
    **others: int,
) -> Line:
    """Return a line that players reach: any token may read, only one with the scope may do anything else. *others* says
    who gets another status than 200.
    """
    answers = EVERYBODY | dict.fromkeys(PLAYERS, 200)
    if method != "GET":
        answers[READER] = 403
    return Line(name, method, (lambda world: path) if isinstance(path, str) else path, answers | others, body)


def for_staff(name: str, path: str | Callable[[World], str], *, media: str = "application/json") -> Line:
    """Return a line that staff with tokens read."""
    answers = EVERYBODY | {WITH_TOKENS: 200}
    return Line(name, "GET", (lambda world: path) if isinstance(path, str) else path, answers, media=media)


def at_table(rest: str) -> Callable[[World], str]:
    """Return the address of something at the solo table."""
    return lambda world: f"tables/{world.table.slug}/real/{rest}"


def at_golden(rest: str) -> Callable[[World], str]:
    """Return the address of something at the table that has its own balance."""
    return lambda world: f"tables/{world.golden.slug}/real/{rest}"


def at_seat(*shown: str, **said: Any) -> Callable[[World], Any]:
    """Return a function that makes a body for the player's seat: *said*, and the seat's values named in *told*."""

    def body(world: World) -> Any:
        seat = world.seat
        known = {"round_id": str(seat.round_id), "slip_version": seat.slip_version}
        return {"table_version": 1} | {name: known[name] for name in shown} | said

    return body


def at_live(rest: str) -> Callable[[World], str]:
    """Return the address of something at the shared table."""
    return lambda world: f"tables/{world.live_table.table.slug}/real/{rest}"


def at_cut(rest: str) -> Callable[[World], str]:
    """Return the address of something at the table whose shoe is being cut."""
    return lambda world: f"tables/{world.cut.live_table.table.slug}/real/{rest}"


def in_cut(**said: Any) -> Callable[[World], Any]:
    """Return a function that makes a body for the shoe that is being cut."""
    return lambda world: {"shoe": str(world.cut.shoe_id)} | said


def in_round(**said: Any) -> Callable[[World], Any]:
    """Return a function that makes a body for the round that takes bets."""
    return lambda world: {"round_id": str(round_at(world.live_table).pk)} | said


OF_SELF = [
    Line("self", "GET", lambda world: "self/", EVERYBODY | dict.fromkeys((*PLAYERS, WITH_TOKENS), 200)),
]
OF_PLAY = [
    for_players("games", "GET", "games/"),
    for_players("game_rules", "GET", "games/baccarat/rules/"),
    for_players("game_odds", "GET", "games/baccarat/odds/"),
    for_players("tables", "GET", "tables/"),
    for_players("table", "GET", at_table("")),
    for_players("solo_seat", "GET", lambda world: f"tables/{world.seat.table.slug}/real/solo-seat/"),
    for_players("solo_seat", "POST", at_table("solo-seat/")),
    for_players("solo_seat_chip", "POST", at_table("solo-seat/chips/"), at_seat(bet="tie", chip=CHIP)),
    for_players("solo_seat_change", "POST", at_table("solo-seat/changes/"), at_seat(change="clear")),
    for_players(
        "solo_seat_deal", "POST", at_table("solo-seat/deal/"), at_seat("round_id", "slip_version"), other_player=409
    ),
    for_players("round_play", "POST", at_table("rounds/"), at_seat("round_id", bets={"tie": CHIP}), other_player=409),
    for_players("purse_rebuy", "POST", at_golden("purse/re-buy/"), lambda world: {"amount": CHIP}),
    for_players("purse_leave", "POST", at_golden("purse/leave/")),
    for_players("rounds", "GET", "rounds/"),
    for_players("rounds_playing", "GET", "rounds/playing/"),
    for_players("round", "GET", lambda world: f"rounds/{world.round_id}/", other_player=404),
    for_players("round_receipt", "GET", lambda world: f"rounds/{world.round_id}/receipt/", other_player=404),
    replace(
        for_players(
            "round_log_proof",
            "GET",
            lambda world: f"rounds/{world.round_id}/log-proof/",
            player=404,
            reader=404,
            other_player=404,
        ),
        media="text/plain",
    ),  # not sealed yet
]
OF_LIVE_PLAY = [
    for_players("table_state", "GET", at_live("state/")),
    replace(for_players("table_stream", "GET", at_live("stream/")), media="text/event-stream"),
    for_players("seat", "POST", at_live("seat/")),
    for_players("bet", "POST", at_live("bets/"), in_round(table_version=1, bet="player", chip=CHIP)),
    for_players("bet_change", "POST", at_live("bets/changes/"), in_round(change="undo")),
    for_players("bet_slip", "POST", at_live("bets/slip/"), in_round(table_version=1, bets={"player": CHIP})),
    for_players("cut_digest", "POST", at_cut("cut/digest/"), in_cut(digest="0" * 64)),
    for_players(
        "cut_value", "POST", at_cut("cut/value/"), in_cut(value="0" * 32), player=409, other_player=409
    ),  # early
]
OF_MONEY = [
    for_players("balances", "GET", "balances/"),
    for_players("limits", "GET", "limits/"),
    for_players("limits", "POST", "limits/", lambda world: {"kind": "stake", "period": "day", "amount": MONEY}),
    for_players(
        "limit_withdraw",
        "POST",
        "limits/withdrawn/",
        lambda world: {"kind": "stake", "period": "day"},
        player=409,  # nothing waits
        other_player=409,
    ),
    for_players(
        "limit_confirm",
        "POST",
        "limits/confirmed/",
        lambda world: {"kind": "stake", "period": "day"},
        player=409,  # nothing waits
        other_player=409,
    ),
    for_players("limits_decline", "POST", "limits/declined/"),
    for_players("reality_check", "GET", "protection/check/"),
    for_players("reality_check", "POST", "protection/check/", lambda world: {"answer": "continue"}),
    for_players("pause", "POST", "protection/pause/"),
]
OF_STUDIOS = [
    for_players("studios", "GET", "studios/"),
    for_players(
        "studio_sessions",
        "POST",
        lambda world: f"studios/{a_partner().code}/sessions/",
        lambda world: {"mode": "real"},
        player=201,
        other_player=201,
    ),
]
OF_COMPLIANCE = [
    for_staff("events", "events/"),
    for_staff("event", lambda world: f"events/{world.event}/"),
    for_staff("event_proof", lambda world: f"events/{world.event}/proof/", media="text/plain"),
    for_staff("log_checkpoints", "log/checkpoints/"),
    for_staff("log_consistency", lambda world: f"log/consistency/?old=1&size={world.signed}"),
    for_staff("log_keys", "log/keys/"),
    for_staff("compliance_rounds", "compliance/rounds/"),
    for_staff("compliance_rounds_in_progress", "compliance/rounds/in-progress/"),
    for_staff("compliance_round", lambda world: f"compliance/rounds/{world.round_id}/"),
    for_staff("reports", "reports/"),
    for_staff("report_kinds", "reports/kinds/"),
    for_staff("report", lambda world: f"reports/{world.report}/"),
    for_staff("report_rows", lambda world: f"reports/{world.report}/rows/"),
    for_staff("report_file", lambda world: f"reports/{world.report}/file.csv", media="text/csv"),
    for_staff("significant_events", "significant/"),
]
LINES = [*OF_SELF, *OF_PLAY, *OF_LIVE_PLAY, *OF_MONEY, *OF_STUDIOS, *OF_COMPLIANCE]
SIGNED: frozenset[str] = frozenset({"operator_launch", "wallet_call"})
"""Addresses that authenticate the caller by a signature: they accept no token and have separate tests."""
