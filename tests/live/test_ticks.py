"""Workers that move a shared table: several at once, dying, late, or without their database."""

from collections.abc import Callable
from functools import partial
from itertools import count
from threading import Barrier
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models import OuterRef, QuerySet, Subquery

from audit.models import Event
from casino.celery import app
from games import tasks
from games.models import (
    Incident,
    LiveRound,
    LiveSeat,
    LiveTable,
    Participation,
    Phase,
    Round,
    Shoe,
    ShoeCut,
    ShoeEnding,
    Void,
    VoidPart,
)
from games.shared import moves, phases
from players import notify
from players.models import Mail, PlaySession
from tests.builders import a_player, a_shared_table
from tests.concurrency.books import broken
from tests.concurrency.test_money_at_once import deadlocks
from tests.harness.killed import dies
from tests.harness.owner import as_owner, update_as_owner
from tests.live.at_table import a_live_table, hurry, lay, live_table_of, make_late, round_at, step
from tests.people import a_member_of_staff, events
from tests.wallet.test_at_once import at_once
from wallet.ledger import accounts
from wallet.models import Hold, Journal, Mode

WORKERS = 6
ROUNDS = 2
MONEY = 1_000_000
A_ROUND = (Phase.CLOSED, Phase.DEALT, Phase.SETTLED, Phase.BETTING)
PATIENCE = 60.0


def is_stopped(live_table: LiveTable) -> bool:
    return LiveTable.objects.get(pk=live_table.pk).stopped_by_id is not None


def kinds_of_journals() -> list[str]:
    """Return the kinds of journals of all rounds."""
    return list(Journal.objects.filter(round_id__isnull=False).order_by("pk").values_list("kind", flat=True))


class TestSeveralWorkersAtOnce:
    def test_without_the_table_s_locks_all_of_them_open_its_first_round(self, cloned_db, monkeypatch):
        """The race itself: there is no round row to lock yet, and all workers see that one is due.

        The database refuses the others, which would look like a malfunction.
        """
        monkeypatch.setattr(phases, "_is_alone_with", lambda live_table_id: True)
        monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_how: rows)
        have_read, look = Barrier(WORKERS), phases._due

        def check_together(live_table_id: int | None) -> list[int]:
            found = look(live_table_id)
            have_read.wait(timeout=PATIENCE)
            return found

        monkeypatch.setattr(phases, "_due", check_together)
        live_table = live_table_of(a_shared_table())

        def move() -> str:
            try:
                return str(phases.advance(live_table.pk))
            except moves.NothingOpensHere as error:
                return type(error).__name__

        assert sorted(at_once([move] * WORKERS)) == ["NothingOpensHere"] * (WORKERS - 1) + ["True"]

    def test_one_moves_the_table_in_every_phase(self, cloned_db):
        live_table, player = live_table_of(a_shared_table()), a_player(real=MONEY)
        changed = [at_once([partial(phases.advance, live_table.pk)] * WORKERS)]
        lay(player, live_table, {"player": 2500})
        for phase in A_ROUND:
            hurry(live_table)
            changed.append(at_once([partial(phases.advance, live_table.pk)] * WORKERS))
            assert round_at(live_table).phase == phase
        assert [each.count(True) for each in changed] == [1] * 5
        assert (Round.objects.count(), LiveRound.objects.count(), Shoe.objects.count()) == (1, 2, 1)
        assert kinds_of_journals() == ["held_stake", "settle"]
        assert not is_stopped(live_table)


class TestTablesAtOnce:
    def test_with_the_same_players_wait_for_each_other_and_not_in_a_circle(self, cloned_db):
        """Real-money tables lock the same accounts, a free-money one the same sessions and days."""
        first, second = a_live_table("no_commission", slug="first"), a_live_table("pairs", slug="second")
        free = live_table_of(second.table, Mode.FREE)
        step(free)
        tables = (first, second, free)
        players = [a_player(real=MONEY, free=MONEY) for _ in range(6)]
        as_owner(
            "INSERT INTO players_playsession (session, player_id) SELECT gen_random_uuid(), id FROM players_player"
        )
        for _ in range(ROUNDS):
            for table in tables:
                # Opposite order at the two tables, so that only the locks put them in one order.
                for player in players if table is first else players[::-1]:
                    lay(player, table, {"player": 100, "tie": 100})
                play_sessions = PlaySession.objects.filter(player=OuterRef("player")).values("session")
                update_as_owner(LiveSeat.objects.filter(live_table=table), session=Subquery(play_sessions))
            for _ in A_ROUND:
                for table in tables:
                    hurry(table)
                assert at_once([partial(phases.advance, table.pk) for table in tables]) == [True] * len(tables)
        assert Participation.objects.count() == ROUNDS * len(tables) * len(players)
        assert set(PlaySession.objects.values_list("rounds", flat=True)) == {ROUNDS * len(tables)}
        assert deadlocks(cloned_db) == 0
        assert not broken()


class TestAWorkerThatDies:
    """The worker is killed at every statement of every phase; a crash after a statement equals one before the next.

    The next worker finds the table due, and the result is the same as without a crash.
    """

    def test_has_advanced_the_table_or_has_not_all_through_the_last_round_of_a_shoe(self, cloned_db, owner, is_sweep):
        live_table, player = live_table_of(a_shared_table()), a_player(real=MONEY)
        live_round = step(live_table)
        be_last(owner, live_round)
        lay(player, live_table, {"player": 2500})
        *until_settled, begins = A_ROUND
        deaths = sum(deaths_before(phase, live_table, hurry, every=is_sweep) for phase in until_settled)
        deaths += deaths_before(Phase.SETTLED, live_table, hurry, every=is_sweep, is_done=ShoeCut.objects.exists)
        deaths += deaths_before(begins, live_table, hurry, every=is_sweep)
        assert deaths >= len(A_ROUND) * (9 if is_sweep else 2)  # statements of a phase
        part = Participation.objects.get()
        assert accounts.balance(player.pk, Mode.REAL) == MONEY - 2500 + part.paid
        assert kinds_of_journals() == ["held_stake", "settle"]
        assert [shoe.ending for shoe in Shoe.objects.order_by("number")] == [ShoeEnding.CUT_CARD, ""]
        assert round_at(live_table).shoe.number == 2
        assert [len(events(kind)) for kind in ("bets.closed", "round.dealt", "round.settled", "shoe.ended")] == [1] * 4
        assert not broken()
        assert not is_stopped(live_table)

    @pytest.mark.sweep
    def test_has_voided_an_overdue_round_and_stopped_the_table_or_has_not(self, cloned_db, settings, is_sweep):
        live_table, player = a_live_table(), a_player(real=MONEY)
        called = a_member_of_staff("supervisor").user.email
        lay(player, live_table, {"player": 2500})
        step(live_table)
        be_late = partial(make_late, seconds=settings.LIVE_LATE_SECONDS + 1)
        deaths = deaths_before(Phase.VOID, live_table, be_late, every=is_sweep)
        assert deaths > (15 if is_sweep else 1)  # refund, round, parts, shoe, incident, mail
        assert accounts.balance(player.pk, Mode.REAL) == MONEY
        assert is_stopped(live_table)
        assert Incident.objects.count() == Void.objects.count() == VoidPart.objects.count() == 1
        assert [len(events(kind)) for kind in ("round.voided", "incident.opened")] == [1, 1]
        assert Mail.objects.filter(address=called).count() == 1
        assert not broken()
        hurry(live_table)
        assert not phases.advance(live_table.pk)  # it waits for the supervisor


def deaths_before(
    phase: Phase,
    live_table: LiveTable,
    make_due: Callable[[LiveTable], None],
    *,
    every: bool,
    is_done: Callable[[], bool] = lambda: True,
) -> int:
    """Kill workers at the table, each one statement later, until one reaches the phase and *is_done*.

    Return how many died.
    """
    before, deaths = untouched(round_at(live_table)), 0
    for number in count(1):
        make_due(live_table)
        deaths += dies(partial(phases.advance, live_table.pk), "after", number, every=every)
        if (live_round := round_at(live_table)).phase == phase and is_done():
            return deaths
        assert untouched(live_round) == before
    raise AssertionError


def be_last(owner: psycopg.Connection, live_round: LiveRound) -> None:
    """Draw the cut card before a round, as only the owner of the tables can."""
    owner.execute("ALTER TABLE games_liveround DISABLE TRIGGER USER")
    owner.execute("UPDATE games_liveround SET is_last = true WHERE id = %s", [live_round.pk])
    owner.execute("ALTER TABLE games_liveround ENABLE TRIGGER USER")


def untouched(live_round: LiveRound) -> tuple[object, ...]:
    """Return what no phase may leave half done."""
    money = Journal.objects.filter(round_id=live_round.pk).count(), Hold.objects.count()
    shoe = Shoe.objects.get(pk=live_round.shoe_id)
    wrong = Incident.objects.count(), Void.objects.count(), Mail.objects.count(), is_stopped(live_round.live_table)
    logged = Event.objects.exclude(kind__startswith="table.").count()
    parts = Round.objects.count(), Participation.objects.count()
    return live_round.pk, live_round.phase, live_round.cards, shoe.gone, shoe.ending, parts, money, wrong, logged


class TestADatabaseThatIsAway:
    def test_stops_nothing_and_the_next_tick_goes_on(self, cloned_db):
        """Another transaction locks the round, and the database refuses the lock to this worker."""
        live_table, player = a_live_table(), a_player(real=MONEY)
        lay(player, live_table, {"player": 2500})
        hurry(live_table)
        with psycopg.connect(cloned_db.web_url) as somebody:
            somebody.execute("SELECT FROM games_liveround FOR SHARE")
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '100ms'")
            with pytest.raises(OperationalError):
                phases.advance(live_table.pk)
        assert not Incident.objects.exists()
        assert phases.advance(live_table.pk)
        assert round_at(live_table).phase == Phase.CLOSED

    @pytest.mark.sweep
    def test_nor_does_a_connection_that_is_cut_in_the_middle(self, cloned_db):
        live_table, player = a_live_table(), a_player(real=MONEY)
        lay(player, live_table, {"player": 2500})
        hurry(live_table)
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:

            def cut(execute: Callable[..., object], sql: str, *rest: Any) -> object:
                if "games_close_bets" in sql:
                    superuser.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                return execute(sql, *rest)

            with connection.execute_wrapper(cut), pytest.raises(DatabaseError) as raised:
                phases.advance(live_table.pk)
        assert isinstance(raised.value, OperationalError | InterfaceError)
        connection.close()
        assert not Incident.objects.exists()
        assert phases.advance(live_table.pk)
        assert round_at(live_table).phase == Phase.CLOSED


class TestTheNotification:
    def test_goes_out_when_the_phase_is_committed_and_not_before(self, cloned_db):
        live_table, player = a_live_table(), a_player(real=MONEY)
        lay(player, live_table, {"player": 2500})
        with psycopg.connect(cloned_db.web_url, autocommit=True) as listener:
            listener.execute(f"LISTEN {notify.CHANNEL}")
            for _ in A_ROUND:
                hurry(live_table)  # which is committed, as the dealer wants it
                with transaction.atomic():
                    assert phases.advance(live_table.pk)
                    # Other connections still see the previous phase, and no notification was sent.
                    assert heard(listener, seconds=0.1) == []
                assert heard(listener, seconds=PATIENCE) == [str(live_table.pk)]

    def test_of_a_phase_that_is_rolled_back_never_goes_out(self, cloned_db):
        live_table = a_live_table()
        with psycopg.connect(cloned_db.web_url, autocommit=True) as listener:
            listener.execute(f"LISTEN {notify.CHANNEL}")
            with transaction.atomic():
                step(live_table)
                transaction.set_rollback(True)
            notify.notify_table(0)  # notifications arrive in order
            assert heard(listener, seconds=PATIENCE) == ["0"]


def heard(listener: psycopg.Connection, *, seconds: float) -> list[str]:
    """Return the first notification if it arrives in this time."""
    return [each.payload for each in listener.notifies(timeout=seconds, stop_after=1)]


class TestTheClockOfTheHouse:
    def test_ticks_every_second_and_a_tick_that_comes_late_is_forgotten(self):
        (entry,) = (each for each in app.conf.beat_schedule.values() if each["task"] == tasks.tick.name)
        assert entry["schedule"] == 1.0
        assert entry["options"]["expires"] <= tasks.EXPIRES

    def test_a_tick_asks_for_every_table_that_is_due_and_for_no_other(self, cloned_db, monkeypatch):
        asked = []

        def note(args: tuple[int], **options: object) -> None:
            asked.append((args, options))

        monkeypatch.setattr(tasks.advance_live_table, "apply_async", note)
        table = a_shared_table()
        real, free = live_table_of(table), live_table_of(table, Mode.FREE)
        assert phases.advance(free.pk)
        tasks.tick()
        assert asked == [((real.pk,), {"expires": tasks.EXPIRES})]

    def test_what_it_asks_for_moves_the_table(self, cloned_db):
        live_table = live_table_of(a_shared_table())
        tasks.advance_live_table(live_table.pk)
        assert round_at(live_table).phase == Phase.BETTING
