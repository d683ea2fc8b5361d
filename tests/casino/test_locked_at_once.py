"""An account lock and a request admitted just before it: each race is shown first, then prevented.

The race uses the database functions from before the introduction of locks at tables.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Barrier, Event

import psycopg
import pytest
from django.db import DatabaseError, transaction

from accounts.protection_views import give_back
from games.errors import PlayError
from games.models import LiveTable, Participation
from games.shared import seats
from games.solo import play_round, solo_seat_at
from players.login import locks
from players.models import AccountLock, Player
from players.protection import exclusions
from tests.builders import a_golden_table, a_player, a_purse, a_seat, a_table
from tests.harness.databases import Database
from tests.live.at_table import a_live_table
from tests.live.betting import chip, held
from tests.live.test_bets_at_once import (
    PATIENCE,
    blocked,
    in_a_thread,
    outcome,
    somebody_is_blocked,
    stopped_before_the_hold,
    until,
)
from tests.people import a_member_of_staff
from tests.wallet.at_the_bank import a_payment
from tests.wallet.test_at_once import at_once, is_whole
from wallet.ledger import purse
from wallet.ledger.accounts import balance
from wallet.models import Mode
from wallet.payments import deposits, providers

MONEY = 100_000_00
CHIP = 20_00
THREADS = 8
ROUNDS = 5  # attempts of each thread


def as_it_was(owner: psycopg.Connection) -> None:
    """Restore the functions without locks."""
    owner.execute(Path(__file__).with_name("before_locks.sql").read_text())


def lock(player: Player) -> str:
    locks.lock(player=player, reason="stolen card", by=a_member_of_staff("compliance"))
    return "locked"


def bettor() -> tuple[Player, LiveTable]:
    player, table = a_player("RO", real=MONEY), a_live_table()
    seats.seat_at(player, table)
    return player, table


class TestAClickThatWasLetInBeforeTheLock:
    """The page has checked the session, and staff lock the account before the stake."""

    def click(self) -> tuple[str, Player]:
        player, table = bettor()
        lock(player)
        return outcome(partial(chip, player, table, "player", CHIP)), player

    def test_before_the_database_knew_of_locks_it_staked(self, owner):
        as_it_was(owner)
        came, player = self.click()
        assert (came, held(player)) == ("accepted", CHIP)

    def test_gli19_2_4_1_stakes_nothing(self, cloned_db):
        came, player = self.click()
        assert (came, held(player)) == ("NotEligible", 0)


class TestALockWhileABetIsBeingPlaced:
    def test_before_the_database_knew_of_locks_the_bet_was_placed_after_the_lock(self, owner):
        as_it_was(owner)
        player, table = bettor()
        with stopped_before_the_hold(player):
            bet = in_a_thread(lambda: outcome(partial(chip, player, table, "player", CHIP)))
            until(somebody_is_blocked)
            assert in_a_thread(partial(lock, player)).result(PATIENCE) == "locked"
            assert held(player) == 0
        assert bet.result(PATIENCE) == "accepted"
        assert held(player) == CHIP

    def test_the_lock_waits_for_it_and_no_bet_comes_after(self, cloned_db):
        player, table = bettor()
        with stopped_before_the_hold(player):
            bet = in_a_thread(lambda: outcome(partial(chip, player, table, "player", CHIP)))
            until(somebody_is_blocked)
            locking = in_a_thread(partial(lock, player))
            until(lambda: blocked() > 1)
            assert not locking.done()
        assert (bet.result(PATIENCE), locking.result(PATIENCE)) == ("accepted", "locked")
        assert outcome(partial(chip, player, table, "player", CHIP)) == "NotEligible"
        assert held(player) == CHIP


class TestWhileADepositBegins:
    """It locks the player's account, which a lock and a pause need to return the purse."""

    @pytest.fixture
    def checked(self, monkeypatch: pytest.MonkeyPatch) -> tuple[Event, Event]:
        """Make a deposit wait after it locked the account; return the events for locked and
        continue.
        """
        has_locked, may_go_on = Event(), Event()

        def wait_then_choose(player: Player) -> str:
            has_locked.set()
            assert may_go_on.wait(PATIENCE)
            return providers.first_variant(player)

        monkeypatch.setattr(deposits, "first_variant", wait_then_choose)
        return has_locked, may_go_on

    def lock(self, player: Player) -> str:
        staff = a_member_of_staff("compliance")
        with transaction.atomic():
            locks.lock(player=player, reason="stolen card", by=staff)
            give_back(player, why=purse.Leaving.LOCKED, by=staff)
        return "stopped"

    def pause(self, player: Player) -> str:
        staff = a_member_of_staff("compliance")
        with transaction.atomic():
            exclusions.pause_for_the_house(player=player, reason="called us", by=staff)
            give_back(player, by=staff)
        return "stopped"

    @pytest.mark.parametrize("action", ["lock", "pause"])
    def test_a_player_is_stopped_when_it_has_begun_and_neither_waits_for_the_other(self, cloned_db, checked, action):
        has_locked, may_go_on = checked
        player = a_player(real=MONEY)
        a_golden_table()
        a_purse(player, CHIP, Mode.REAL)
        deposit = in_a_thread(lambda: str(a_payment(player).state))
        assert has_locked.wait(PATIENCE)
        stopping = in_a_thread(partial(getattr(self, action), player))
        until(somebody_is_blocked)
        may_go_on.set()
        assert (deposit.result(PATIENCE), stopping.result(PATIENCE)) == ("waiting", "stopped")
        assert (purse.balance(player, Mode.REAL), balance(player.pk, Mode.REAL)) == (0, MONEY)
        with pytest.raises(deposits.DepositNotEligible):
            a_payment(player)


@pytest.mark.parametrize("mode", [Mode.REAL, Mode.FREE], ids=["real", "free"])
def test_gli19_2_4_1_no_round_begins_after_a_lock_however_many_are_asked_for(cloned_db: Database, mode: Mode) -> None:
    player, table = a_player(real=MONEY, free=MONEY), a_table()
    a_seat(player, table, mode, player=1000)
    together = Barrier(THREADS + 1)

    def deal() -> str:
        together.wait(PATIENCE)
        came = ""
        for _ in range(ROUNDS):
            seat = solo_seat_at(player=player, table_id=table.pk, mode=mode)
            try:
                play_round(
                    player=player,
                    table_id=table.pk,
                    mode=mode,
                    round_id=seat.round_id,
                    slip_version=seat.slip_version,
                )
            except PlayError as refusal:
                came = type(refusal).__name__
        return came

    def lock_it() -> str:
        together.wait(PATIENCE)
        return lock(player)

    jobs: list[Callable[[], str]] = [deal] * THREADS
    at_once([*jobs, lock_it])
    locked = AccountLock.objects.get(player=player)
    assert not Participation.objects.filter(player=player, at__gte=locked.at).exists()
    assert outcome(partial(bet_and_deal, player, table.pk, mode)) == "NotEligible"
    part = Participation.objects.filter(player=player)
    assert balance(player.pk, mode) == MONEY + sum(each.paid - each.staked for each in part)
    assert is_whole()


def bet_and_deal(player: Player, table_id: int, mode: Mode) -> None:
    seat = solo_seat_at(player=player, table_id=table_id, mode=mode)
    play_round(player=player, table_id=table_id, mode=mode, round_id=seat.round_id, slip_version=seat.slip_version)


def test_the_right_to_lock_something_else_does_not_lock_accounts(cloned_db, owner):
    owner.execute(
        "WITH held AS (INSERT INTO auth_permission (name, content_type_id, codename)"
        " SELECT 'Can lock a conversation away', id, 'lock_player' FROM django_content_type"
        " WHERE app_label = 'audit' ORDER BY id LIMIT 1 RETURNING id)"
        " INSERT INTO auth_group_permissions (group_id, permission_id)"
        " SELECT auth_group.id, held.id FROM auth_group, held WHERE auth_group.name = 'finance'"
    )
    by = a_member_of_staff("finance")
    with pytest.raises(DatabaseError, match="may not lock accounts"), transaction.atomic():
        AccountLock.objects.create(player=a_player(), locks=True, reason="for a test", by=by)
