"""A house stop and concurrent play: each race is shown first without the shared lock, then
prevented.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from threading import Event
from uuid import uuid4

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from games.errors import PlayError
from games.models import LiveRound, Participation
from games.shared import phases, seats
from games.solo import play_round, solo_seat_at
from players.models import Player
from tests.builders import a_player, a_seat, a_shared_table, a_table
from tests.chemin.at_table import a_bank, a_chemin_table, seated_players
from tests.live.at_table import a_live_table, live_table_of
from tests.live.betting import balance, chip, held
from tests.live.test_bets_at_once import PATIENCE, in_a_thread, somebody_is_blocked, until
from tests.wallet import holds
from tests.wallet.at_the_bank import a_payment
from tests.wallet.stopped import go_on, stop
from tests.wallet.test_at_once import at_once, is_whole
from wallet import cashier, house_stop
from wallet.cashier import CashierError
from wallet.ledger import accounts
from wallet.models import Entry, HouseStop, Mode, Payment

MONEY = 100_000_00
CHIP = 20_00
THREADS = 6
REFUSED = {"HouseStopped", "DepositsStopped", "FreeMoneyStopped", "False"}  # a tick without a new round returns False

# Without waiting, everyone checks and continues.
WITHOUT_LOCKS = """
CREATE OR REPLACE FUNCTION wallet_hold_off_stops() RETURNS void LANGUAGE plpgsql VOLATILE AS $$ BEGIN END $$
"""


@dataclass(frozen=True)
class Beginning:
    """An action that begins, and the number of committed beginnings."""

    begin: Callable[[], object]
    count: Callable[[], int]


def a_chip() -> Beginning:
    player, table = a_player("RO", real=MONEY), a_live_table()
    seats.seat_at(player, table)
    return Beginning(partial(chip, player, table, "player", CHIP), lambda: held(player) // CHIP)


def a_deal() -> Beginning:
    player, table = a_player(real=MONEY), a_table()
    a_seat(player, table, Mode.REAL, player=1000)
    return Beginning(partial(deal, player, table.pk), Participation.objects.filter(player=player).count)


def a_round() -> Beginning:
    table = live_table_of(a_shared_table("no_commission"))
    return Beginning(partial(phases.advance, table.pk), LiveRound.objects.filter(live_table=table).count)


def a_player_s_bank() -> Beginning:
    table = a_chemin_table()
    seated_players(table, 2)
    return Beginning(partial(a_bank, table), Entry.objects.filter(journal__kind="bank", amount__lt=0).count)


def a_deposit() -> Beginning:
    player = a_player()
    return Beginning(partial(a_payment, player), Payment.objects.filter(player=player).count)


def free_money() -> Beginning:
    player = a_player()
    top_up = partial(cashier.top_up_free, player=player)
    return Beginning(lambda: top_up(key=uuid4()), lambda: int(accounts.balance(player.pk, Mode.FREE) > 0))


def deal(player: Player, table_id: int, mode: Mode = Mode.REAL) -> object:
    """Play the current slip and place the same bet again."""
    seat = solo_seat_at(player=player, table_id=table_id, mode=mode)
    return play_round(
        player=player, table_id=table_id, mode=mode, round_id=seat.round_id, slip_version=seat.slip_version
    )


def outcome(begin: Callable[[], object]) -> str:
    """Begin it and return the name of the result."""
    try:
        came = begin()
    except (PlayError, CashierError) as refusal:
        return type(refusal).__name__
    return "False" if came is False else "accepted"


def stop_it() -> str:
    stop()
    return "stopped"


@dataclass(frozen=True)
class Slowly:
    """A job that is executed now and committed on request."""

    job: Future[str]
    is_done: Event
    may_commit: Event


def slowly(job: Callable[[], str]) -> Slowly:
    is_done, may_commit = Event(), Event()

    def do() -> str:
        with transaction.atomic():
            came = job()
            is_done.set()
            assert may_commit.wait(PATIENCE)
        return came

    return Slowly(in_a_thread(do), is_done, may_commit)


@pytest.mark.parametrize("make", [a_chip, a_deal, a_round, a_player_s_bank, a_deposit, free_money])
class TestWhatIsOnItsWay:
    """It found the house open; before its commit, the house is stopped."""

    def test_without_the_lock_it_begins_after_the_house_was_stopped(
        self, owner: psycopg.Connection, make: Callable[[], Beginning]
    ) -> None:
        beginning = make()
        owner.execute(WITHOUT_LOCKS)
        under_way = slowly(partial(outcome, beginning.begin))
        assert under_way.is_done.wait(PATIENCE)
        assert in_a_thread(stop_it).result(PATIENCE) == "stopped"
        assert (house_stop.current() is not None, beginning.count()) == (True, 0)
        under_way.may_commit.set()
        assert under_way.job.result(PATIENCE) == "accepted"
        assert beginning.count() == 1

    def test_gli19_2_4_1_the_stop_waits_for_it_and_nothing_begins_after(
        self, cloned_db: object, make: Callable[[], Beginning]
    ) -> None:
        beginning = make()
        under_way = slowly(partial(outcome, beginning.begin))
        assert under_way.is_done.wait(PATIENCE)
        stopping = in_a_thread(stop_it)
        until(somebody_is_blocked)
        assert not stopping.done()
        under_way.may_commit.set()
        assert (under_way.job.result(PATIENCE), stopping.result(PATIENCE)) == ("accepted", "stopped")
        assert beginning.count() == 1
        assert outcome(beginning.begin) in REFUSED | {"StalePage", "QuestionPassed", "CheminRefused"}
        assert beginning.count() == 1
        assert is_whole()

    def test_what_comes_while_a_stop_is_on_its_way_waits_and_is_refused(
        self, cloned_db: object, make: Callable[[], Beginning]
    ) -> None:
        beginning = make()
        stopping = slowly(stop_it)
        assert stopping.is_done.wait(PATIENCE)
        late = in_a_thread(partial(outcome, beginning.begin))
        until(somebody_is_blocked)
        assert not late.done()
        stopping.may_commit.set()
        assert stopping.job.result(PATIENCE) == "stopped"
        assert late.result(PATIENCE) in REFUSED
        assert beginning.count() == 0
        go_on()
        assert outcome(beginning.begin) == "accepted"
        assert beginning.count() == 1


@pytest.mark.parametrize("mode", [Mode.REAL, Mode.FREE], ids=["real", "free"])
def test_gli19_2_4_1_no_round_is_played_after_a_stop_however_many_are_asked_for(cloned_db: object, mode: Mode) -> None:
    players = [a_player(real=MONEY, free=MONEY) for _ in range(THREADS)]
    table = a_table()
    for player in players:
        a_seat(player, table, mode, player=1000)

    def play_on(player: Player) -> str:
        """Play until the house is stopped."""
        while (came := outcome(partial(deal, player, table.pk, mode))) in ("accepted", "NothingStaked"):
            if came == "NothingStaked":
                try:
                    a_seat(player, table, mode, player=1000)
                except PlayError as refusal:
                    return type(refusal).__name__
        return came

    def stop_after_some() -> str:
        until(lambda: Participation.objects.count() > THREADS)
        return stop_it()

    jobs: list[Callable[[], str]] = [partial(play_on, player) for player in players]
    came = at_once([*jobs, stop_after_some])
    assert came == ["HouseStopped"] * THREADS + ["stopped"]
    stopped = HouseStop.objects.get()
    assert not Participation.objects.filter(at__gte=stopped.at).exists()
    for player in players:
        parts = Participation.objects.filter(player=player)
        assert balance(player, mode) == MONEY + sum(part.paid - part.staked for part in parts)
    assert is_whole()


def test_of_many_who_stop_it_at_once_one_does(cloned_db: object) -> None:
    def stop_it_too() -> str:
        try:
            return stop_it()
        except house_stop.AlreadyStopped:
            return "stopped already"

    assert sorted(at_once([stop_it_too] * THREADS)) == ["stopped"] + ["stopped already"] * (THREADS - 1)
    assert HouseStop.objects.count() == 1


def test_a_transaction_that_could_not_see_the_stop_begins_nothing(cloned_db: object) -> None:
    """It still sees an open house."""
    player = a_player(real=MONEY)
    account = accounts.player_account(player.pk, Mode.REAL)

    def hold_in_the_past() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("SELECT count(*) FROM wallet_housestop")
            assert in_a_thread(stop_it).result(PATIENCE) == "stopped"
            holds.hold(uuid4(), account, CHIP)

    with pytest.raises(DatabaseError, match="sees only what was before it"):
        hold_in_the_past()
    assert held(player) == 0
