"""Markers of harm in limits and deposits: raised exactly by their definitions."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts import harm_markers
from players.models import LimitKind, LimitSource, Period, Player
from players.protection.harm_markers import Definition, Found, find
from players.protection.limits import set_limit, withdraw_change
from tests.builders import a_player
from tests.casino.at_risk import deposit
from tests.people import events
from tests.players.limit_clock import let_pass
from tests.players.test_limits import a_newcomer
from wallet.models import OrderState

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 7, 8, 12, tzinfo=UTC)
HOUR, DAY, SECOND = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)
DEPOSIT, LOSS = LimitKind.DEPOSIT, LimitKind.LOSS
WEEK, MONTH = Period.WEEK, Period.MONTH


def look(definition: Definition, player: Player, seen: datetime = NOON) -> list[Found]:
    return find(definition, players=[player.pk], seen=seen)


def ask(player, amount, *, kind=DEPOSIT, period=WEEK, source=LimitSource.PLAYER):
    set_limit(player=player, kind=kind, period=period, amount=amount, by=str(player), source=source, reason="x")


class TestRapidDeposits:
    def made(self, owner, *moments: timedelta, state: OrderState = OrderState.APPROVED) -> list[Found]:
        player = a_player("GB")
        for moment in moments:
            deposit(owner, player, NOON + moment, state=state)
        return look(harm_markers.RAPID_DEPOSITS, player)

    def test_three_within_a_day(self, owner):
        (found,) = self.made(owner, 0 * HOUR, HOUR, DAY)
        assert harm_markers.RAPID_DEPOSITS.say(found) == "3 deposits within 24 hours, £30.00 together."
        assert {row["table"] for row in found.rows} == {"wallet_payment"}

    @pytest.mark.sweep
    def test_two_are_none(self, owner):
        assert self.made(owner, 0 * HOUR, HOUR) == []

    @pytest.mark.sweep
    def test_nor_three_within_a_second_more(self, owner):
        assert self.made(owner, 0 * HOUR, HOUR, DAY + SECOND) == []

    @pytest.mark.sweep
    def test_declined_ones_do_not_count(self, owner):
        assert self.made(owner, 0 * HOUR, HOUR, 2 * HOUR, state=OrderState.DECLINED) == []


class TestDeclinedDepositsTriedAgain:
    def made(self, owner, again: timedelta, times: int = 2, apart: timedelta = DAY) -> list[Found]:
        player = a_player("GB")
        for number in range(times):
            moment = NOON + number * apart
            deposit(owner, player, moment, state=OrderState.DECLINED)
            deposit(owner, player, moment + again)
        return look(harm_markers.RETRIED_DEPOSITS, player)

    def test_twice_in_a_day(self, owner):
        (found,) = self.made(owner, HOUR)
        assert (found.degree, len(found.rows)) == (2, 4)

    @pytest.mark.sweep
    def test_only_once_does_not_count(self, owner):
        assert self.made(owner, HOUR, times=1) == []

    @pytest.mark.sweep
    def test_nor_where_more_than_an_hour_goes_by(self, owner):
        assert self.made(owner, HOUR + SECOND) == []

    @pytest.mark.sweep
    def test_nor_twice_in_more_than_a_day(self, owner):
        assert self.made(owner, HOUR, apart=DAY + SECOND) == []


class TestChangesOfLimitsTakenBack:
    def settled(self, owner) -> Player:
        """Return a player with an old limit."""
        player = a_player("GB")
        ask(player, 50_000)
        let_pass(owner, player, 100)
        return player

    def withdraw(self, player):
        ask(player, 100_000)
        withdraw_change(player=player, kind=DEPOSIT, period=WEEK, by=str(player))

    def seen(self, player):
        return look(harm_markers.LIMITS_UNDONE, player, datetime.now(UTC))

    def test_two_withdrawn(self, owner):
        player = self.settled(owner)
        self.withdraw(player)
        assert self.seen(player) == []
        self.withdraw(player)
        (found,) = self.seen(player)
        assert (found.degree, len(found.rows)) == (2, 2)
        assert harm_markers.LIMITS_UNDONE.say(found) == "2 limit changes were withdrawn within 30 days."

    @pytest.mark.parametrize(("hours", "flags"), [(30 * 24 - 1, 1), (30 * 24, 0)])
    def test_within_thirty_days(self, owner, hours, flags):
        player = self.settled(owner)
        self.withdraw(player)
        let_pass(owner, player, hours)
        self.withdraw(player)
        assert len(look(harm_markers.LIMITS_UNDONE, player, datetime.now(UTC) - 40 * DAY)) == flags

    @pytest.mark.parametrize(("hours", "flags"), [(23, 1), (24, 0)])
    def test_looser_within_a_day_of_stricter_is_one(self, owner, hours, flags):
        player = self.settled(owner)
        self.withdraw(player)
        ask(player, 20_000)
        let_pass(owner, player, hours)
        ask(player, 30_000)
        assert len(self.seen(player)) == flags

    def test_the_houses_changes_do_not_count(self, owner):
        player = a_player("GB")
        for amount in (1000, None, 1000, None, 1000):
            ask(player, amount, kind=LOSS, source=LimitSource.HOUSE)
        assert self.seen(player) == []


class TestALimitThatAsksForContact:
    def seen(self, player):
        return look(harm_markers.CONTACT_DUE, player, datetime.now(UTC))

    def test_above_10_000_kronor_a_month_in_sweden(self):
        player = a_newcomer("SE")
        ask(player, 5_000_000)
        ask(player, 1_000_000, period=MONTH)
        assert self.seen(player) == []
        ask(player, 1_000_001, period=MONTH)
        (found,) = self.seen(player)
        assert [row["amount"] for row in found.rows] == [1_000_001]
        assert harm_markers.CONTACT_DUE.say(found).startswith("The player requested a limit of SEK 10,000.01 ")
        assert len(events("limits.contact_due", on=str(player))) == 1

    def test_what_the_house_sets_does_not(self):
        player = a_newcomer("SE")
        ask(player, 1_000_001, period=MONTH, source=LimitSource.HOUSE)
        assert self.seen(player) == []
        assert events("limits.contact_due", on=str(player)) == []

    def test_no_other_profile(self):
        player = a_newcomer("RO")
        ask(player, 10**9, period=MONTH)
        assert self.seen(player) == []
