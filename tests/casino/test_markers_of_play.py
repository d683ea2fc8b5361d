"""Markers of harm in rounds: raised exactly by their definitions."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from accounts import harm_markers
from players.models import Player
from players.protection.harm_markers import Definition, Found, find
from tests.builders import a_player, a_verified_player
from tests.casino.at_risk import banker_always_wins, deposit, rounds, the_table
from tests.voiding import void_unreproduced
from tests.wallet.payout_builders import a_withdrawal
from wallet import withdrawals

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 7, 8, 12, tzinfo=UTC)
MINUTE, HOUR, DAY, SECOND = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)
MONEY = 10_000_000


def look(definition: Definition, player: Player, seen: datetime = NOON) -> list[Found]:
    return find(definition, players=[player.pk], seen=seen)


def every(step: timedelta, times: int, start: datetime = NOON) -> list[datetime]:
    return [start + number * step for number in range(times)]


class TestRaisedStakes:
    def after(self, owner, before: list[dict[str, int]], then: list[int], lasts: timedelta = HOUR) -> list[Found]:
        player, table = a_player("GB", real=MONEY), the_table()
        step = lasts / (len(before) + len(then) - 1)
        with banker_always_wins():
            for number, bets in enumerate([*before, *({"player": stake} for stake in then)]):
                rounds(owner, player, table, [NOON + number * step], **bets)
        return look(harm_markers.RAISED_STAKES, player)

    LOST = ({"player": 500},) * 10

    def test_twice_the_stakes_after_losses(self, owner):
        (found,) = self.after(owner, [*self.LOST], [1000] * 10)
        assert (found.degree, len(found.rows), found.rows[0]["amount"]) == (2, 20, -500)
        assert "£50.00 lost in 10 rounds" in harm_markers.RAISED_STAKES.say(found)

    @pytest.mark.sweep
    def test_a_chip_less_than_twice_does_not_count(self, owner):
        assert self.after(owner, [*self.LOST], [1000] * 9 + [500]) == []

    @pytest.mark.sweep
    def test_nine_rounds_are_too_few(self, owner):
        assert self.after(owner, [*self.LOST], [1000] * 9) == []

    @pytest.mark.sweep
    def test_at_least_five_stakes_have_been_lost(self, owner):
        assert self.after(owner, [{"player": 500}] * 7 + [{"banker": 500}] * 3, [1000] * 10) == []
        assert self.after(owner, [{"player": 500}] * 8 + [{"banker": 500}] * 2, [1000] * 10) != []

    @pytest.mark.sweep
    def test_and_ten_pounds(self, owner):
        assert self.after(owner, [{"player": 100}] * 10, [500] * 10) != []
        assert self.after(owner, [{"player": 100}] * 9 + [{"banker": 100}], [500] * 10) == []

    @pytest.mark.sweep
    @pytest.mark.parametrize(("lasts", "flags"), [(6 * HOUR, 1), (6 * HOUR + 19 * SECOND, 0)])
    def test_everything_within_six_hours(self, owner, lasts, flags):
        assert len(self.after(owner, [*self.LOST], [1000] * 10, lasts)) == flags


class TestADepositAfterLosses:
    def after(self, owner, waits: timedelta, *more: dict[str, int]) -> list[Found]:
        player, table = a_player("GB", real=MONEY), the_table()
        with banker_always_wins():
            rounds(owner, player, table, [NOON], player=10_000)
            for bets in more:
                rounds(owner, player, table, [NOON], **bets)
        deposit(owner, player, NOON + waits)
        return look(harm_markers.LOSS_DEPOSIT, player)

    def test_within_an_hour_of_losing_much(self, owner):
        (found,) = self.after(owner, HOUR)
        assert [row["table"] for row in found.rows] == ["games_round", "wallet_payment"]
        assert harm_markers.LOSS_DEPOSIT.say(found) == (
            "Deposited once within an hour of losing: £10.00, £100.00 lost in the previous days."
        )

    @pytest.mark.sweep
    def test_a_second_later_does_not_count(self, owner):
        assert self.after(owner, HOUR + SECOND) == []

    @pytest.mark.sweep
    def test_nor_where_less_was_lost(self, owner):
        assert self.after(owner, HOUR, {"banker": 100}) == []


class TestAnEmptyBalance:
    def after(self, owner, left: int, times: int, apart: timedelta = HOUR, waits: timedelta = HOUR) -> list[Found]:
        player, table = a_player("GB", real=1000 + left), the_table()
        for number in range(times):
            moment = NOON + number * apart
            with banker_always_wins():
                rounds(owner, player, table, [moment - waits], player=1000)
            deposit(owner, player, moment)
        return look(harm_markers.EMPTIED, player)

    def test_filled_twice_in_a_day(self, owner):
        (found,) = self.after(owner, 99, 2, apart=DAY)
        assert (found.degree, len(found.rows)) == (2, 4)

    @pytest.mark.sweep
    def test_only_once_does_not_count(self, owner):
        assert self.after(owner, 0, 1) == []

    @pytest.mark.sweep
    def test_a_pound_left_is_not_empty(self, owner):
        assert self.after(owner, 100, 2) == []

    @pytest.mark.sweep
    def test_two_within_more_than_a_day_are_none(self, owner):
        assert self.after(owner, 0, 2, apart=DAY + SECOND) == []

    @pytest.mark.sweep
    def test_nor_what_comes_more_than_an_hour_after_the_last_round(self, owner):
        assert self.after(owner, 0, 2, waits=HOUR + SECOND) == []


class TestNights:
    """Bucharest is three hours ahead of UTC in July: its night is from 21:00 to 02:00."""

    def in_nights(self, owner, *nights: int, at: timedelta = timedelta()) -> list[Found]:
        player, table = a_player("RO", real=MONEY), the_table()
        midnight = datetime(2026, 7, 7, 21, tzinfo=UTC)
        rounds(owner, player, table, [midnight + night * DAY + at for night in nights], player=5000)
        return look(harm_markers.NIGHTS, player, midnight)

    def test_four_of_fourteen(self, owner):
        (found,) = self.in_nights(owner, 1, 2, 9, 14)
        assert (found.degree, len(found.rows)) == (4, 4)
        assert harm_markers.NIGHTS.say(found) == (
            "Played for real money on 4 nights of 14, between 00:00 and 05:00 in Europe/Bucharest."
        )

    @pytest.mark.sweep
    def test_three_are_none(self, owner):
        assert self.in_nights(owner, 1, 2, 14) == []

    @pytest.mark.sweep
    def test_nor_four_of_fifteen(self, owner):
        assert self.in_nights(owner, 1, 2, 9, 15) == []

    @pytest.mark.sweep
    def test_a_night_counts_once(self, owner):
        assert self.in_nights(owner, 1, 1, 2, 2, 3) == []

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("at", "flags"), [(timedelta(), 1), (-SECOND, 0), (5 * HOUR - SECOND, 1), (5 * HOUR, 0)], ids=str
    )
    def test_from_midnight_to_five_where_the_player_is(self, owner, at, flags):
        assert len(self.in_nights(owner, 1, 2, 3, 4, at=at)) == flags

    @pytest.mark.sweep
    def test_free_money_does_not_count(self, owner):
        player, table = a_player("RO", real=MONEY, free=MONEY), the_table()
        played = rounds(owner, player, table, every(DAY, 4, datetime(2026, 7, 7, 22, tzinfo=UTC)), player=5000)
        owner.execute("UPDATE games_participation SET mode = 'F' WHERE round_id = %s", [played[0]])
        assert look(harm_markers.NIGHTS, player, NOON - 2 * DAY) == []


class TestALongNight:
    def night(self, owner, code: str, start: datetime, *steps: timedelta) -> list[Found]:
        player, table = a_player(code, real=MONEY), the_table()
        moments = [start]
        for step in steps:
            moments.append(moments[-1] + step)
        rounds(owner, player, table, moments, player=5000)
        return look(harm_markers.LONG_NIGHT, player, start - DAY / 2)

    STEPS = (9 * MINUTE,) * 13  # 117 minutes

    @pytest.mark.parametrize(("more", "flags"), [(3 * MINUTE, 0), (3 * MINUTE + SECOND, 1)], ids=str)
    def test_is_more_than_two_hours(self, owner, more, flags):
        found = self.night(owner, "RO", datetime(2026, 7, 7, 21, tzinfo=UTC), *self.STEPS, more)
        assert [each.degree for each in found] == [2] * flags

    @pytest.mark.sweep
    def test_says_when_by_the_players_clock(self, owner):
        (found,) = self.night(owner, "RO", datetime(2026, 7, 7, 21, tzinfo=UTC), *self.STEPS, 4 * MINUTE)
        assert harm_markers.LONG_NIGHT.say(found) == (
            "More than 2 hours of play in one night, from 2026-07-08 00:00 to 2026-07-08 02:01 in Europe/Bucharest."
        )

    @pytest.mark.sweep
    def test_a_pause_is_no_play(self, owner):
        steps = (*self.STEPS, 9 * MINUTE + SECOND)
        assert self.night(owner, "RO", datetime(2026, 7, 7, 21, tzinfo=UTC), *steps) == []

    @pytest.mark.sweep
    def test_in_autumn_it_has_six_hours(self, owner):
        """The last round is at 04:50 standard time, which is 05:50 in the summer time of the
        night's start.
        """
        start = datetime(2026, 10, 25, 1, 50, tzinfo=UTC)
        (found,) = self.night(owner, "SE", start, *self.STEPS, 3 * MINUTE + SECOND)
        assert found.local(found.ended) == "2026-10-25 04:50"
        assert self.night(owner, "RO", start + 2 * HOUR, *self.STEPS, 3 * MINUTE + SECOND) == []

    @pytest.mark.sweep
    def test_in_spring_the_clock_leaps_and_nobody_has_played_for_it(self, owner):
        start = datetime(2026, 3, 29, 0, 0, tzinfo=UTC)  # 01:00; an hour later it is 03:00
        assert self.night(owner, "SE", start, *self.STEPS[:9]) == []


class TestWithdrawalsTakenBack:
    def after(self, owner, times: int, apart: timedelta = DAY, waits: timedelta = DAY) -> list[Found]:
        player, table = a_verified_player("RO", real=MONEY), the_table()
        owner.execute("ALTER TABLE wallet_withdrawal_step DISABLE TRIGGER USER")
        for number in range(times):
            moment = NOON + number * apart
            withdrawal = a_withdrawal(player)
            withdrawals.cancel(player=player, withdrawal_id=withdrawal.pk)
            owner.execute("UPDATE wallet_withdrawal_step SET at = %s WHERE withdrawal_id = %s", [moment, withdrawal.pk])
            rounds(owner, player, table, [moment + waits], player=5000)
        owner.execute("ALTER TABLE wallet_withdrawal_step ENABLE TRIGGER USER")
        return look(harm_markers.WITHDRAWALS_UNDONE, player)

    def test_and_played_with_twice(self, owner):
        (found,) = self.after(owner, 2, apart=30 * DAY)
        assert (found.degree, len(found.rows)) == (2, 4)

    @pytest.mark.sweep
    def test_only_once_does_not_count(self, owner):
        assert self.after(owner, 1) == []

    @pytest.mark.sweep
    def test_nor_twice_in_more_than_thirty_days(self, owner):
        assert self.after(owner, 2, apart=30 * DAY + SECOND) == []

    @pytest.mark.sweep
    def test_nor_where_nothing_was_played_within_a_day(self, owner):
        assert self.after(owner, 2, apart=3 * DAY, waits=DAY + SECOND) == []


def test_a_voided_round_does_not_count(owner):
    player, table = a_player("RO", real=MONEY), the_table()
    played = rounds(owner, player, table, every(DAY, 4, datetime(2026, 7, 7, 22, tzinfo=UTC)), player=5000)
    assert look(harm_markers.NIGHTS, player, NOON - 2 * DAY) != []
    void_unreproduced(UUID(played[0]))
    assert look(harm_markers.NIGHTS, player, NOON - 2 * DAY) == []
