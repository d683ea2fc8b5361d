"""One table at a time holds at solo and shared tables, at Chemin de Fer, with studios and through the API: the table
that was opened last waits for the round in progress at another one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any

import pytest

from games.errors import RoundElsewhere, TableWaits
from games.models import LiveTable, OpenTable, Participation, Phase, SoloSeat
from games.shared.seats import open_seat
from games.solo import open_table, play_round
from players.models import Player
from tests.api.at_live import client_of
from tests.api.client import ApiClient
from tests.builders import a_player, a_seat, a_table
from tests.chemin.at_table import a_chemin_table, answer, play_out, seen_of, sit
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, advance_to, bet
from tests.live.test_bets import stop
from tests.wallet.studios import Game, a_game
from wallet.models import Mode
from wallet.seamless_wallet.host import Refused

pytestmark = pytest.mark.django_db

MONEY = 50_000  # minor units
STAKE = 1_000


@dataclass
class House:
    """A German player, and a table of each kind."""

    player: Player = field(default_factory=lambda: a_player("DE", real=MONEY))

    @cached_property
    def solo(self) -> SoloSeat:
        return a_seat(self.player, a_table("solo"), Mode.REAL, player=STAKE)

    @cached_property
    def shared(self) -> LiveTable:
        return a_live_table()

    @cached_property
    def chemin(self) -> LiveTable:
        made = a_chemin_table(currency="EUR")
        sit(self.player, made, 1)
        sit(a_player("DE", real=MONEY), made, 2)
        return made

    @cached_property
    def studio(self) -> Game:
        return a_game(self.player)

    @cached_property
    def api(self) -> ApiClient:
        a_table("by-api")
        return client_of(self.player)


def open_solo(house: House) -> None:
    open_table(player=house.player, table_id=house.solo.table_id, mode=Mode.REAL)


def deal(house: House) -> None:
    seat = SoloSeat.objects.get(pk=house.solo.pk)
    play_round(
        player=house.player, table_id=seat.table_id, mode=Mode.REAL, round_id=seat.round_id, slip_version=None,
        bets={"player": STAKE},
    )  # fmt: skip


def open_shared(house: House) -> None:
    open_seat(house.player, house.shared)


def bet_there(house: House) -> None:
    bet(house.player, house.shared, player=STAKE)


def open_chemin(house: House) -> None:
    house.chemin  # noqa: B018  (sitting down opens it)
    OpenTable.objects.filter(player=house.player).update(table=house.chemin.table, game_session_id=None)


def take_bank(house: House) -> None:
    answer(house.player, house.chemin, "take_bank", STAKE)


def open_studio(house: House) -> None:
    vars(house).pop("studio", None)
    house.studio  # noqa: B018  (a session opens it)


def bet_with_studio(house: House) -> None:
    house.studio.bet(STAKE)


def open_by_api(house: House) -> None:
    assert house.api.post("tables/by-api/real/solo-seat/").status_code == 200


def play_by_api(house: House) -> None:
    seat = house.api.get("tables/by-api/real/solo-seat/").json()
    asked = {"round_id": seat["round_id"], "table_version": 1, "bets": {"player": STAKE}}
    answered = house.api.post("tables/by-api/real/rounds/", asked)
    if answered.status_code != 200:
        code = answered.json()["code"]
        raise {"table-waits": TableWaits, "round-elsewhere": RoundElsewhere}[code](code)


@dataclass(frozen=True)
class Way:
    """A way to play: how its table is opened, and how a game begins there."""

    opens: Callable[[House], Any]
    begins: Callable[[House], Any]
    ends: Callable[[House], Any] | None = None  # a round that is in progress after it began


WAYS = {
    "solo": Way(open_solo, deal),
    "shared": Way(open_shared, bet_there, lambda house: advance_to(house.shared, Phase.SETTLED)),
    "chemin": Way(open_chemin, take_bank, lambda house: play_out(house.chemin)),
    "studio": Way(open_studio, bet_with_studio, lambda house: house.studio.win(0)),
    "api": Way(open_by_api, play_by_api),
}
PAIRS = list(permutations(WAYS, 2))


def refused(start: Callable[[House], Any], house: House, error: type[Exception], code: str) -> None:
    with pytest.raises((error, Refused)) as refusal:
        start(house)
    if isinstance(refusal.value, Refused):
        assert refusal.value.code == code


@pytest.mark.parametrize(("one", "other"), sample(PAIRS, 6))
def test_de_a_table_waits_once_another_was_opened(one, other):
    house, first, second = House(), WAYS[one], WAYS[other]
    first.opens(house)
    second.opens(house)
    refused(first.begins, house, TableWaits, "table-waits")
    second.begins(house)


@pytest.mark.parametrize(("one", "other"), sample([pair for pair in PAIRS if WAYS[pair[0]].ends], 6))
def test_de_and_the_other_waits_until_the_round_in_progress_has_ended(one, other):
    house, first, second = House(), WAYS[one], WAYS[other]
    second.opens(house)
    first.opens(house)
    first.begins(house)
    second.opens(house)
    refused(second.begins, house, RoundElsewhere, "round-elsewhere")
    assert not Participation.objects.exists()
    assert first.ends
    first.ends(house)
    second.begins(house)


def test_de_a_round_that_waits_for_a_ruling_keeps_nobody_from_another_table():
    house = House()
    open_shared(house)
    bet_there(house)
    stop(house.shared)
    open_solo(house)
    deal(house)
    assert Participation.objects.filter(player=house.player).count() == 1


def test_a_studio_s_round_is_in_progress_again_after_a_bet_that_follows_a_win():
    house = House()
    open_solo(house)
    open_studio(house)
    bet_with_studio(house)
    house.studio.win(0)
    bet_with_studio(house)
    open_solo(house)
    refused(deal, house, RoundElsewhere, "round-elsewhere")


def test_a_bank_whose_coup_is_over_keeps_nobody_from_another_table():
    house = House()
    open_chemin(house)
    take_bank(house)
    play_out(house.chemin)
    assert seen_of(house.chemin).phase
    open_solo(house)
    deal(house)
    assert Participation.objects.filter(player=house.player).count() >= 1
