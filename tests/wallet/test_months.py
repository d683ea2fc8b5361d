"""The ledger works across the end of a month: journals and entries are in monthly tables."""

from collections.abc import Callable
from datetime import datetime
from threading import Thread
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from psycopg import IsolationLevel, errors

from audit import id_ranges
from players.models import LimitKind, Period
from players.protection import limits
from tests import old_months
from tests.builders import a_player, a_purse, a_verified_player
from tests.harness.sweeps import sample
from tests.old_months import beginning
from tests.start.support import wait_until
from tests.wallet import holds, payout_builders
from tests.wallet.adjusting import adjust
from tests.wallet.coups import Coup, a_bank, broken, coup_player
from tests.wallet.money_moves import a_round, cash, house, move, settle, stake, write
from tests.wallet.settling import settle_all
from tests.wallet.studios import a_game
from tests.wallet.test_at_once import is_whole
from wallet import ledger, tasks
from wallet.ledger import Journal, accounts, round_reversal
from wallet.models import Entry, Mode
from wallet.models import Journal as StoredJournal
from wallet.seamless_wallet import host

JULY, AUGUST, SEPTEMBER = (beginning(2026, month) for month in (7, 8, 9))
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"

GoTo = Callable[[datetime], None]


@pytest.fixture
def go_to(cloned_db, owner) -> GoTo:
    """Return a function that moves the house to another month; it starts in August."""
    old_months.make(owner, JULY)
    old_months.go_to(owner, AUGUST)
    return lambda month: old_months.go_to(owner, month)


def tables_of(journal_id: int) -> set[str]:
    """Return the tables of a journal and its entries."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tableoid::regclass::text FROM wallet_journal WHERE id = %s"
            " UNION ALL SELECT tableoid::regclass::text FROM wallet_entry WHERE journal_id = %s",
            [journal_id] * 2,
        )
        return {table for (table,) in cursor}


def balance(player: Any) -> int:
    return accounts.balance(player.pk, Mode.REAL)


def a_correction(player: Any) -> int:
    """Post a journal without balance accounts, so that nobody waits for a lock. Return its id."""
    lines = move((house("escrow", player), -5), (house("house", player), 5))
    (posted,) = write(Journal(uuid4(), "settle", lines))
    return posted.journal_id


class TestTheTurn:
    @pytest.mark.sweep
    def test_a_journal_and_its_entries_lie_in_one_month(self, go_to):
        player = a_player(real=1000)
        staked, _ = a_round(player, staked=100, paid=250)
        assert tables_of(staked.journal_id) == {"wallet_journal_2026_08", "wallet_entry_2026_08"}
        go_to(SEPTEMBER)
        staked, _ = a_round(player, staked=100, paid=250)
        assert tables_of(staked.journal_id) == {"wallet_journal_2026_09", "wallet_entry_2026_09"}

    def test_balances_and_numbers_of_an_account_go_on(self, go_to):
        player = a_player(real=1000)
        a_round(player, staked=100, paid=250)
        go_to(SEPTEMBER)
        a_round(player, staked=1150, paid=0)
        with pytest.raises(ledger.InsufficientFunds), transaction.atomic():
            write(stake(player, 1))
        shown = Entry.objects.filter(account_id=cash(player)).order_by("version")
        assert list(shown.values_list("version", "balance_after")) == [(1, 1000), (2, 900), (3, 1150), (4, 0)]
        assert is_whole()

    @pytest.mark.sweep
    def test_a_transaction_that_spans_it_is_whole(self, go_to):
        player, round_id = a_player(real=1000), uuid4()
        with transaction.atomic():
            (staked,) = write(stake(player, 100, round_id=round_id))
            go_to(SEPTEMBER)
            (settled,) = write(settle(player, 100, 195, round_id=round_id))
        assert tables_of(staked.journal_id) == {"wallet_journal_2026_08", "wallet_entry_2026_08"}
        assert tables_of(settled.journal_id) == {"wallet_journal_2026_09", "wallet_entry_2026_09"}
        assert balance(player) == 1095
        assert is_whole()

    @pytest.mark.sweep
    def test_one_call_that_spans_it_is_whole(self, go_to, owner):
        """The last id of August and the first of September, in one statement."""
        player = a_player(real=1000)
        owner.execute("SELECT setval('wallet_journal_id_seq', %s, false)", [id_ranges.block(SEPTEMBER) - 1])
        staked, settled = a_round(player, staked=100, paid=195)
        assert (staked.journal_id, settled.journal_id) == (id_ranges.block(SEPTEMBER) - 1, id_ranges.block(SEPTEMBER))
        assert balance(player) == 1095
        assert is_whole()

    @pytest.mark.sweep
    def test_one_call_that_spans_it_is_refused_as_a_whole(self, go_to, owner):
        player = a_player(real=100)
        owner.execute("SELECT setval('wallet_journal_id_seq', %s, false)", [id_ranges.block(SEPTEMBER) - 1])
        before = StoredJournal.objects.count()
        with pytest.raises(ledger.InsufficientFunds):
            write(stake(player, 60), stake(player, 60))
        assert (StoredJournal.objects.count(), balance(player)) == (before, 100)

    @pytest.mark.sweep
    def test_a_transaction_that_is_undone_leaves_nothing_in_either(self, go_to):
        player = a_player(real=1000)
        before = StoredJournal.objects.count()
        with transaction.atomic():
            write(stake(player, 100))
            go_to(SEPTEMBER)
            write(stake(player, 100))
            transaction.set_rollback(True)
        assert (StoredJournal.objects.count(), balance(player)) == (before, 1000)
        assert is_whole()

    def test_a_key_of_the_month_before_moves_nothing_again(self, go_to):
        player = a_player(real=1000)
        asked = stake(player, 100)
        (first,) = write(asked)
        go_to(SEPTEMBER)
        (again,) = write(asked)
        assert (again.journal_id, again.repeated, again.balances) == (first.journal_id, True, first.balances)
        with pytest.raises(ledger.PostingConflict), transaction.atomic():
            write(stake(player, 101, key=asked.key))
        assert balance(player) == 900

    @pytest.mark.sweep
    def test_what_was_held_before_it_is_settled_after_it(self, go_to):
        player, round_id = a_player(real=1000), uuid4()
        with transaction.atomic():
            holds.hold(round_id, cash(player), 300)
        go_to(SEPTEMBER)
        assert settle_all(round_id, {cash(player): 500})
        assert balance(player) == 1200
        assert is_whole()

    @pytest.mark.sweep
    def test_what_nobody_came_by_for_goes_on_in_the_month_before(self, go_to, owner):
        player = a_player(real=1000)
        for table in ("wallet_entry", "wallet_journal"):
            for (month,) in owner.execute(
                "SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = %s::regclass"
                " AND relname > %s AND relname <> %s",
                [table, f"{table}_2026_08", f"{table}_before"],
            ).fetchall():
                owner.execute(f"DROP TABLE {month}")
        staked, _ = a_round(player, staked=100, paid=250)
        assert tables_of(staked.journal_id) == {"wallet_journal_2026_08", "wallet_entry_2026_08"}
        tasks.keep_months()
        staked, _ = a_round(player, staked=100, paid=250)
        assert not tables_of(staked.journal_id) & {"wallet_journal_2026_08", "wallet_entry_2026_08"}
        assert balance(player) == 1300
        assert is_whole()


class TestKeeping:
    @pytest.mark.sweep
    def test_the_task_opens_months_of_both_and_begins_them(self, go_to, owner):
        tasks.keep_months()
        player = a_player(real=1000)
        staked, _ = a_round(player, staked=100, paid=250)
        ((suffix,),) = owner.execute("SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY_MM')").fetchall()
        assert tables_of(staked.journal_id) == {f"wallet_journal_{suffix}", f"wallet_entry_{suffix}"}

    @pytest.mark.sweep
    def test_journals_begin_no_month_that_entries_have_no_table_for(self, go_to, owner, cloned_db):
        """Another session locks the entries: the journals wait for the next run, and money moves in
        the month before.
        """
        ((suffix,),) = owner.execute("SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY_MM')").fetchall()
        owner.execute(f"DROP TABLE wallet_entry_{suffix}")
        player = a_player(real=1000)
        with psycopg.connect(cloned_db.superuser_url) as somebody:
            somebody.execute("LOCK TABLE wallet_entry IN SHARE UPDATE EXCLUSIVE MODE")
            with pytest.raises(DatabaseError):
                tasks.keep_months()
            staked, _ = a_round(player, staked=100, paid=250)
            assert tables_of(staked.journal_id) == {"wallet_journal_2026_08", "wallet_entry_2026_08"}
        tasks.keep_months()
        a_round(player, staked=100, paid=250)
        assert is_whole()


class TestReversals:
    @pytest.mark.sweep
    def test_what_was_posted_last_month_is_reversed_in_this_one(self, go_to, without_voids):
        player = a_player(real=1000)
        staked, settled = a_round(player, staked=100, paid=250)
        go_to(SEPTEMBER)
        ledger.reverse({settled.journal_id: uuid4(), staked.journal_id: uuid4()}, kind="void")
        without_voids()
        assert balance(player) == 1000
        assert is_whole()

    @pytest.mark.sweep
    def test_a_stake_that_is_reversed_in_the_next_month_gives_its_room_back(self, go_to, without_voids):
        player = a_player(real=1000)
        limits.set_limit(player=player, kind=LimitKind.STAKE, period=Period.DAY, amount=100, by=str(player))
        (staked,) = write(stake(player, 100, round_id=uuid4()))
        go_to(SEPTEMBER)
        with pytest.raises(ledger.LimitReached), transaction.atomic():
            write(stake(player, 1))
        ledger.reverse({staked.journal_id: uuid4()}, kind="void")
        without_voids()
        a_round(player, staked=100, paid=0)
        assert balance(player) == 900
        assert is_whole()

    def test_a_second_time_in_another_month_is_refused(self, go_to, without_voids):
        number = a_correction(a_player(real=1000))
        ledger.reverse({number: uuid4()}, kind="void")
        go_to(SEPTEMBER)
        with pytest.raises(ledger.AlreadyReversed), transaction.atomic():
            ledger.reverse({number: uuid4()}, kind="void")
        without_voids()
        assert is_whole()

    def test_of_two_at_once_in_two_months_one_is_refused(self, go_to, cloned_db, without_voids):
        number = a_correction(a_player(real=1000))
        assert reversed_twice(cloned_db, go_to, number) == [errors.UniqueViolation]
        assert StoredJournal.objects.filter(reverses=number).count() == 1
        without_voids()
        assert is_whole()

    @pytest.mark.sweep
    @pytest.mark.usefixtures("without_voids")
    def test_without_what_is_written_down_both_are_done(self, go_to, cloned_db, owner):
        """Neither transaction sees the other, and no index covers both months."""
        owner.execute("ALTER TABLE wallet_reversal DROP CONSTRAINT wallet_reversal_pkey")
        number = a_correction(a_player(real=1000))
        assert reversed_twice(cloned_db, go_to, number) == []
        assert StoredJournal.objects.filter(reverses=number).count() == 2


def reversed_twice(database: Any, go_to: GoTo, number: int) -> list[type[Exception]]:
    """Reverse a journal in August and in September in two transactions that both check first.

    Return the errors of the second.
    """
    refused: list[type[Exception]] = []

    def reverse(session: psycopg.Connection) -> None:
        keys: list[UUID] = [uuid4()]
        session.execute("SELECT * FROM wallet_reverse(%s::bigint[], %s::uuid[], 'void')", [[number], keys])

    def second() -> None:
        try:
            reverse(later)
            later.commit()
        except psycopg.Error as error:
            refused.append(type(error))

    with (
        psycopg.connect(database.web_url) as earlier,
        psycopg.connect(database.web_url) as later,
        psycopg.connect(database.superuser_url, autocommit=True) as superuser,
    ):
        for session in (earlier, later):
            session.isolation_level = IsolationLevel.REPEATABLE_READ
            assert session.execute(
                "SELECT count(*) FROM wallet_journal WHERE reverses_id = %s", [number]
            ).fetchone() == (0,)
        reverse(earlier)
        go_to(SEPTEMBER)
        thread = Thread(target=second)
        thread.start()
        wait_until(
            lambda: not thread.is_alive() or superuser.execute(WAITS, [later.info.backend_pid]).fetchone() == (1,),
            "the second neither waits nor ends",
        )
        earlier.commit()
        thread.join()
    return refused


class TestThingsThatStraddle:
    """Started in August, finished in September: every invariant of the ledger holds."""

    @pytest.fixture(autouse=True)
    def whole(self, go_to):
        yield
        assert broken() == {}

    @pytest.mark.sweep
    def test_an_void_with_a_shortfall(self, go_to, without_voids):
        player, round_id = a_player(real=1_000), uuid4()
        write(stake(player, 500, round_id=round_id), settle(player, 500, 2_000, round_id=round_id))
        a_round(player, 2_400, 0)
        go_to(SEPTEMBER)
        with transaction.atomic():
            round_reversal.undo_round(round_id)
        without_voids()

    @pytest.mark.sweep
    def test_a_bank_and_its_coup(self, go_to, without_voids):
        ada, ben = a_player(real=1_000), a_player(real=1_000)
        bank = a_bank(coup_player(ada), 400)
        coup = Coup(bank)
        coup.lay(coup_player(ben), 300)
        coup.lay(coup_player(ben), -100)
        go_to(SEPTEMBER)
        coup.settle({coup_player(ben): 400}, tax=0)
        bank.move("bank_back", -200)
        go_to(beginning(2026, 10))
        with transaction.atomic():
            round_reversal.undo_round(coup.id)
        without_voids()
        if bank.balance:
            bank.move("bank_back", -bank.balance)

    @pytest.mark.parametrize("end", sample([payout_builders.paid, payout_builders.returned], 1))
    def test_a_withdrawal(self, go_to, end):
        withdrawal = payout_builders.a_withdrawal(a_verified_player(real=100_000))
        go_to(SEPTEMBER)
        end(withdrawal)

    @pytest.mark.sweep
    def test_a_studios_round(self, go_to):
        game = a_game(a_player(real=10_000))
        bet, other = game.a_bet(500), game.a_bet(300, round="r2")
        host.bet(game.partner, bet)
        host.bet(game.partner, other)
        go_to(SEPTEMBER)
        game.win(800)
        game.roll_back(other.transaction, round="r2")

    @pytest.mark.sweep
    def test_adjustments_and_purses(self, go_to):
        player = a_player(real=10_000)
        adjust(player)
        a_purse(player, 1_000)
        go_to(SEPTEMBER)
        adjust(player, -200)
        a_purse(player, 500)
