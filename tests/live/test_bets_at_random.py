"""Random clicks of several players: held amounts always match the accepted bets."""

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from games.betting.limits import Limits, StoredLimits
from games.betting.rules import Change
from games.engine.bets import SettlementError
from games.engine.settle import largest_win
from games.errors import PlayError
from games.models import LiveTable, Phase
from games.shared.seats import open_seat
from games.tables.default_tables import no_commission_limits
from games.variants import VARIANTS
from players.models import Player
from tests.builders import a_player
from tests.harness.sweeps import examples
from tests.live.at_table import a_live_table, advance_to, round_at
from tests.live.betting import chip, held, held_for, press, stakes_of, total_of
from wallet.models import Mode

pytestmark = pytest.mark.django_db

VARIANT = VARIANTS["no_commission"]
MONEY, LIABILITY = 300_00, 1_200_00  # small enough that both limits are reached
CHIPS = (5_00, 20_00, 60_00)

MAIN = ("player", "banker", "tie")
# Most rounds begin with main bets, otherwise few clicks would be accepted.
main_bets = st.tuples(st.sampled_from(MAIN), st.sampled_from(CHIPS[1:]))
side_bets = st.tuples(st.sampled_from([bet.code for bet in VARIANT.bets]), st.sampled_from(CHIPS))
buttons = st.tuples(st.sampled_from([Change.UNDO, Change.DOUBLE, Change.REPEAT]), st.none())
players = st.integers(0, 2)
moves = [st.tuples(players, clicks) for clicks in (main_bets, side_bets, side_bets, buttons)]
rounds = st.lists(
    st.tuples(
        st.tuples(players, main_bets), st.tuples(players, main_bets), st.lists(st.one_of(moves), min_size=5, max_size=9)
    ),
    min_size=2,
    max_size=2,
)


def limits() -> StoredLimits:
    stored = deepcopy(no_commission_limits())
    for currency in ("RON", "EUR"):
        bets = {bet: [5_00, 20_00] for bet in stored[currency]["bets"]}
        bets |= {
            "player": [20_00, 200_00],
            "banker": [20_00, 200_00],
            "tie": [5_00, 100_00],
            "perfect_pair": [5_00, 5_00],
        }
        stored[currency] = {"step": 5_00, "chips": list(CHIPS), "bets": bets, "liability": LIABILITY}
    return stored


Move = tuple[int, tuple[str | Change, int | None]]


@dataclass
class Expected:
    """The expected bets of a player, from accepted clicks only."""

    player: Player
    stakes: dict[str, int] = field(default_factory=dict)
    earlier: list[dict[str, int]] = field(default_factory=list)
    last: dict[str, int] = field(default_factory=dict)

    def accept(self, what: str | Change, value: int | None) -> None:
        """Apply an accepted click."""
        if what is Change.UNDO:
            self.stakes = self.earlier.pop() if self.earlier else self.stakes
            return
        before = self.stakes
        if what is Change.DOUBLE:
            self.stakes = {bet: 2 * stake for bet, stake in before.items()}
        elif what is Change.REPEAT:
            self.stakes = self.last
        else:
            self.stakes = {**before, str(what): before.get(str(what), 0) + (value or 0)}
        if self.stakes != before:
            self.earlier.append(before)

    def refresh_all(self) -> None:
        """Go to the table's next round."""
        self.last = self.stakes or self.last
        self.stakes, self.earlier = {}, []


@given(rounds)
@settings(max_examples=examples(2, 6))
def test_held_money_equals_the_bets_on_the_table_and_the_clicks(chosen):
    with transaction.atomic():
        play(chosen)
        transaction.set_rollback(True)


def play(chosen: list[tuple[Move, Move, list[Move]]]) -> None:
    table = a_live_table(limits=limits())
    people = [Expected(a_player(code, real=MONEY)) for code in ("RO", "RO", "DE")]
    for each in people:
        open_seat(each.player, table)
    for one, other, more in chosen:
        for who, (what, value) in (one, other, *more):
            click(table, people[who], what, value)
            check(table, people)
        if any(each.stakes for each in people):  # otherwise the same round continues
            for each in people:
                each.refresh_all()
        advance_to(table, Phase.BETTING)
        check(table, people)


def click(table: LiveTable, expected: Expected, what: str | Change, value: int | None) -> None:
    try:
        if isinstance(what, Change):
            press(expected.player, table, what)
        else:
            chip(expected.player, table, what, value or 0)
    except (PlayError, SettlementError):
        return
    expected.accept(what, value)


def check(table: LiveTable, people: list[Expected]) -> None:
    live_round = round_at(table)
    together: dict[str, Counter[str]] = {"RON": Counter(), "EUR": Counter()}
    for each in people:
        stakes = stakes_of(each.player, table)
        assert stakes == each.stakes
        assert held(each.player, Mode.REAL) == sum(stakes.values())
        if stakes:
            VARIANT.check(stakes)
            Limits.of(limits(), each.player.currency).check(stakes)
        together[each.player.currency].update(stakes)
    assert held_for(live_round.pk) == sum(stakes.total() for stakes in together.values())
    for currency, stakes in together.items():
        assert total_of(live_round.pk, currency) == stakes
        assert largest_win(VARIANT, stakes) <= LIABILITY
