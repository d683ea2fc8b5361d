"""The solo service: one click plays one round, and all its records agree."""

from threading import Barrier, Thread
from uuid import uuid4

import psycopg
import pytest
from django.db import ProgrammingError, connection, connections, transaction

from audit.models import Event
from games import solo
from games.betting.rules import Change, Deal
from games.engine.cards import Card
from games.engine.commitments import Binding, Purpose
from games.engine.coup import deal
from games.engine.settle import settle
from games.engine.shoe import shuffle
from games.errors import (
    BalanceTooLow,
    NothingStaked,
    NothingToRepeat,
    OverMaximum,
    SlipChanged,
    StalePage,
    TableClosed,
    UnderMinimum,
    UnknownChip,
)
from games.models import Participation, Round, SoloSeat
from games.tables.default_tables import baccarat_limits
from games.tables.status import close_table
from games.variants import VARIANTS
from tests.builders import a_player, a_round, a_seat, a_table
from wallet.ledger import accounts
from wallet.models import Mode

MONEY = 1_000_000


def play(player, table, seat, **how):
    return solo.play_round(
        player=player,
        table_id=table.pk,
        mode=Mode(seat.mode),
        round_id=seat.round_id,
        slip_version=seat.slip_version,
        **how,
    )


def balance(player, mode=Mode.REAL):
    return accounts.balance(player.pk, mode)


@pytest.mark.django_db
class TestARound:
    @pytest.mark.parametrize("mode", Mode)
    def test_gli19_4_9_1_moves_the_balance_by_what_the_engine_pays_in_either_mode(self, mode):
        player, table = a_player(real=MONEY, free=MONEY), a_table()
        played = a_round(player, table, mode, player=1000, banker=5000, tie=1000)
        part = Participation.objects.get(round_id=played.round_id)
        coup = deal([Card.parse(code) for code in part.round.cards.split()])
        settled = settle(VARIANTS["baccarat"], coup, {"player": 1000, "banker": 5000, "tie": 1000})
        assert (part.staked, part.paid) == (settled.staked, settled.paid)
        assert part.balance_before == MONEY
        assert part.balance_after == balance(player, mode) == MONEY - settled.staked + settled.paid
        assert part.round.table_version == table.version
        assert {wager.bet: wager.payout for wager in part.wagers.all()} == {
            line.bet: line.payout for line in settled.lines
        }

    def test_gli19_4_5_2_is_dealt_from_the_seed_that_was_committed_to_before_the_click(self):
        player, table = a_player(real=MONEY), a_table()
        seat = a_seat(player, table, player=1000)
        played = Round.objects.get(pk=play(player, table, seat).round_id)
        variant = VARIANTS["baccarat"]
        binding = Binding(Purpose.SOLO, str(seat.round_id), table.pk, variant.decks, variant.digest)
        assert binding.commitment(bytes(played.seed or b"")) == seat.commitment == played.commitment
        coup = deal(shuffle(bytes(played.seed or b""), 1))
        assert played.cards == " ".join(card.code for card in coup.cards)

    def test_mixes_in_the_value_the_player_chose(self):
        player, table = a_player(real=MONEY), a_table()
        seat = a_seat(player, table, player=1000)
        played = Round.objects.get(pk=play(player, table, seat, player_value="snö i Umeå").round_id)
        coup = deal(shuffle(bytes(played.seed or b""), 1, "snö i Umeå"))
        assert played.cards == " ".join(card.code for card in coup.cards)

    def test_is_recorded_in_the_event_log(self):
        player, table = a_player(real=MONEY), a_table()
        played = a_round(player, table, player=1000)
        event = Event.objects.get(kind="round.settled", on=f"round:{played.round_id}")
        assert event.by == f"player:{player.pk}"
        assert Round.objects.get(pk=played.round_id).cards in bytes(event.body).decode()

    def test_leaves_an_empty_table_and_a_new_commitment(self):
        player, table = a_player(real=MONEY), a_table()
        before = a_seat(player, table, player=1000)
        play(player, table, before)
        after = a_seat(player, table)
        assert after.slip == {}
        assert after.last_stakes == {"player": 1000}
        assert after.round_id != before.round_id
        assert after.commitment != before.commitment

    def test_in_free_mode_moves_free_money_only(self):
        player, table = a_player(real=MONEY, free=MONEY), a_table()
        played = a_round(player, table, Mode.FREE, player=1000)
        part = Participation.objects.get(round_id=played.round_id)
        assert balance(player, Mode.FREE) == part.balance_after == MONEY - part.staked + part.paid
        assert balance(player) == MONEY

    def test_goes_to_the_very_last_cent(self):
        player, table = a_player(real=1000), a_table()
        played = a_round(player, table, tie=1000)
        part = Participation.objects.get(round_id=played.round_id)
        assert balance(player) == part.paid


@pytest.mark.django_db
class TestTheSameRoundAgain:
    def test_returns_the_round_and_moves_nothing(self):
        player, table = a_player(real=MONEY), a_table()
        seat = a_seat(player, table, player=1000)
        first = play(player, table, seat)
        after = balance(player)
        again = play(player, table, seat)
        assert (again.round_id, again.repeated) == (first.round_id, True)
        assert balance(player) == after
        assert Round.objects.count() == 1

    def test_is_answered_at_a_table_closed_in_the_meantime(self):
        player, table = a_player(real=MONEY), a_table()
        seat = a_seat(player, table, player=1000)
        first = play(player, table, seat)
        close_table(table_id=table.pk, reason="test", by="staff:1")
        again = play(player, table, seat)
        assert (again.round_id, again.repeated) == (first.round_id, True)

    def test_of_another_player_is_a_stale_page(self):
        table = a_table()
        theirs = a_round(a_player(real=MONEY), table, player=1000)
        me = a_player(real=MONEY)
        a_seat(me, table, player=1000)
        with pytest.raises(StalePage):
            solo.play_round(player=me, table_id=table.pk, mode=Mode.REAL, round_id=theirs.round_id, slip_version=1)
        assert balance(me) == MONEY

    def test_that_never_was_is_a_stale_page(self):
        player, table = a_player(real=MONEY), a_table()
        a_seat(player, table, player=1000)
        with pytest.raises(StalePage):
            solo.play_round(player=player, table_id=table.pk, mode=Mode.REAL, round_id=uuid4(), slip_version=1)


@pytest.mark.django_db
class TestRefusals:
    def refused(self, error, player, table, seat, **how):
        before = balance(player)
        with pytest.raises(error):
            play(player, table, seat, **how)
        assert balance(player) == before
        assert not Round.objects.exists()
        assert a_seat(player, table).round_id == seat.round_id  # the next round has not changed
        assert Event.objects.filter(kind="round.refused", by=f"player:{player.pk}").count() == 1

    def test_without_a_bet_nothing_is_dealt(self):
        player, table = a_player(real=MONEY), a_table()
        self.refused(NothingStaked, player, table, a_seat(player, table))

    def test_bets_changed_in_another_tab_are_not_dealt(self):
        player, table = a_player(real=MONEY), a_table()
        seat = a_seat(player, table, player=1000)
        solo.add_chip(player=player, table_id=table.pk, mode=Mode.REAL, bet="tie", chip=1000)
        self.refused(SlipChanged, player, table, seat)

    def test_a_balance_spent_elsewhere_in_the_meantime_covers_nothing(self):
        player, table, other = a_player(real=1000), a_table(), a_table("other")
        seat = a_seat(player, table, player=1000)
        while balance(player):
            a_round(player, other, tie=1000)
        before = Round.objects.count()
        with pytest.raises(BalanceTooLow):
            play(player, table, seat)
        assert Round.objects.count() == before
        assert balance(player) == 0

    def test_doubling_beyond_the_balance_deals_nothing_and_keeps_the_slip(self):
        player, table = a_player(real=1500), a_table()
        seat = a_seat(player, table, player=1000)
        self.refused(BalanceTooLow, player, table, seat, how=Deal.DOUBLED)
        assert a_seat(player, table).slip == {"player": 1000}

    def test_what_the_balance_does_not_cover_is_refused_with_the_seed_still_sealed(self, monkeypatch):
        player, table = a_player(real=1500), a_table()
        seat = a_seat(player, table, player=1000)
        monkeypatch.setattr(solo, "deal", lambda *_, **__: pytest.fail("The cards of a refused round were looked at."))
        self.refused(BalanceTooLow, player, table, seat, how=Deal.DOUBLED)

    def test_a_stake_under_the_minimum_is_not_dealt(self):
        limits = baccarat_limits()
        limits["SEK"]["bets"]["player"] = [5000, 100_000]
        player, table = a_player(real=MONEY), a_table(limits=limits)
        self.refused(UnderMinimum, player, table, a_seat(player, table, player=1000))

    def test_gli19_2_4_1_a_closed_table_deals_nothing(self):
        player, table = a_player(real=MONEY), a_table()
        seat = a_seat(player, table, player=1000)
        close_table(table_id=table.pk, reason="test", by="staff:1")
        self.refused(TableClosed, player, table, seat)

    def test_there_is_nothing_to_bet_again_before_the_first_round(self):
        player, table = a_player(real=MONEY), a_table()
        self.refused(NothingToRepeat, player, table, a_seat(player, table), how=Deal.REPEATED)


@pytest.mark.django_db
class TestTheSlip:
    def test_survives_in_the_database_for_every_tab(self):
        player, table = a_player(real=MONEY), a_table()
        a_seat(player, table, player=1000, tie=5000)
        assert SoloSeat.objects.get(player=player, table=table, mode="R").slip == {"player": 1000, "tie": 5000}

    def test_takes_only_chips_of_the_tray(self):
        player, table = a_player(real=MONEY), a_table()
        with pytest.raises(UnknownChip):
            a_seat(player, table, player=1234)

    def test_takes_no_chip_the_balance_does_not_cover(self):
        player, table = a_player(real=1500), a_table()
        a_seat(player, table, player=1000)
        with pytest.raises(BalanceTooLow):
            a_seat(player, table, tie=1000)

    def test_takes_no_chip_over_the_maximum(self):
        limits = baccarat_limits()
        limits["SEK"]["bets"]["tie"] = [1000, 1000]
        player, table = a_player(real=MONEY), a_table(limits=limits)
        a_seat(player, table, tie=1000)
        with pytest.raises(OverMaximum):
            a_seat(player, table, tie=1000)

    def test_takes_no_chip_at_a_closed_table(self):
        player, table = a_player(real=MONEY), a_table(is_open=False)
        with pytest.raises(TableClosed):
            a_seat(player, table, player=1000)

    def test_double_and_deal_stakes_twice_the_slip(self):
        player, table = a_player(real=MONEY), a_table()
        played = play(player, table, a_seat(player, table, player=1000), how=Deal.DOUBLED)
        assert Participation.objects.get(round_id=played.round_id).staked == 2000

    def test_rebet_and_deal_stakes_the_last_round_again(self):
        player, table = a_player(real=MONEY), a_table()
        a_round(player, table, player=1000, tie=5000)
        played = play(player, table, a_seat(player, table), how=Deal.REPEATED)
        wagers = Participation.objects.get(round_id=played.round_id).wagers
        assert dict(wagers.values_list("bet", "stake")) == {"player": 1000, "tie": 5000}

    @pytest.mark.parametrize("change", [Change.UNDO, Change.CLEAR, Change.DOUBLE, Change.REPEAT])
    def test_changes_are_stored_and_undone(self, change):
        player, table = a_player(real=MONEY), a_table()
        a_round(player, table, banker=5000)
        a_seat(player, table, player=1000)
        after = solo.change_slip(player=player, table_id=table.pk, mode=Mode.REAL, change=change)
        expected = {
            Change.UNDO: {},
            Change.CLEAR: {},
            Change.DOUBLE: {"player": 2000},
            Change.REPEAT: {"banker": 5000},
        }
        assert after.slip == expected[change]


@pytest.mark.django_db
def test_the_login_role_cannot_change_a_finished_round():
    a_round(a_player(real=MONEY), a_table(), player=1000)
    for table in ("games_round", "games_participation", "games_wager"):
        for statement in (f"UPDATE {table} SET id = id", f"DELETE FROM {table}"):
            refused = pytest.raises(ProgrammingError, match="permission denied")
            with refused, transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)


class TestTogether:
    """Uses real threads on its own database: sixteen equal clicks do the same as one."""

    CLICKS = 16

    def at_once(self, work):
        barrier, results = Barrier(self.CLICKS), []

        def run():
            barrier.wait()
            try:
                results.append(work())
            except Exception as error:  # noqa: BLE001  (the test looks at every outcome)
                results.append(error)
            finally:
                connections.close_all()

        threads = [Thread(target=run) for _ in range(self.CLICKS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def test_the_same_click_plays_once(self, cloned_db):
        player, table = a_player(real=MONEY), a_table()
        seat = a_seat(player, table, player=1000)
        results = self.at_once(lambda: play(player, table, seat))
        assert {result.round_id for result in results} == {seat.round_id}
        assert sum(not result.repeated for result in results) == 1
        part = Participation.objects.get()
        assert balance(player) == MONEY - part.staked + part.paid

    def test_tabs_that_open_a_table_together_share_one_seat(self, cloned_db):
        player, table = a_player(real=MONEY), a_table()
        results = self.at_once(lambda: solo.solo_seat_at(player=player, table_id=table.pk, mode=Mode.REAL).round_id)
        assert len(set(results)) == 1
        assert SoloSeat.objects.count() == 1

    @pytest.mark.sweep
    def test_chips_from_many_tabs_all_land(self, cloned_db):
        player, table = a_player(real=MONEY), a_table()
        a_seat(player, table)
        self.at_once(lambda: solo.add_chip(player=player, table_id=table.pk, mode=Mode.REAL, bet="player", chip=1000))
        assert a_seat(player, table).slip == {"player": 1000 * self.CLICKS}


def test_what_is_held_covers_no_stake_and_the_seed_stays_sealed(cloned_db, monkeypatch):
    player, table = a_player(real=1500), a_table()
    seat = a_seat(player, table, player=1000)
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("UPDATE wallet_account SET held = 600 WHERE owner_id = %s AND mode = 'R'", [player.pk])
    monkeypatch.setattr(solo, "deal", lambda *_, **__: pytest.fail("The cards of a refused round were looked at."))
    with pytest.raises(BalanceTooLow):
        play(player, table, seat)
