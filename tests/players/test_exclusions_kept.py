"""Exclusions with real commits: immutable rows, an old permanent exclusion, and deals during a new
pause.
"""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psycopg
import pytest
from django.db import connection
from psycopg import errors

from audit import approvals
from games.errors import NotEligible, PlayError
from games.models import Participation
from games.solo import play_round, solo_seat_at
from players.models import Exclusion, LimitKind, LimitSource, Period, Player
from players.protection import eligibility, exclusions, play_sessions
from players.protection.limits import limits_of, set_limit
from tests.builders import a_player, a_round, a_seat, a_table
from tests.harness.databases import Database
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff
from wallet.models import Mode

THREADS = 16
ROUNDS = 6  # attempts of each thread
WAITING = """
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1009 AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@pytest.fixture
def kept(cloned_db: Database) -> Player:
    """A player with a row of every kind."""
    player = a_player()
    exclusions.exclude_self(player=player, months=None, by=str(player))
    play_sessions.choose_interval(player=player, minutes=15)
    return player


@pytest.mark.parametrize("table", ["exclusion", "exclusionlift", "registercheck", "realitycheck"])
def test_nobody_changes_a_row(kept: Player, owner: psycopg.Connection, table: str) -> None:
    for statement in ("UPDATE {} SET id = id", "DELETE FROM {}", "TRUNCATE {} CASCADE"):
        with pytest.raises(errors.RestrictViolation):
            owner.execute(statement.format(f"players_{table}"))


@pytest.mark.parametrize(("days", "may"), sample([(365, False), (367, True)], 1))
def test_one_for_good_may_be_lifted_by_two_after_the_days_of_the_law(
    kept: Player, owner: psycopg.Connection, days: int, may: bool
) -> None:
    owner.execute("ALTER TABLE players_exclusion DISABLE TRIGGER USER")
    owner.execute("UPDATE players_exclusion SET begun = begun - make_interval(days => %s)", [days])
    owner.execute("ALTER TABLE players_exclusion ENABLE TRIGGER USER")
    made = Exclusion.objects.get()
    assert exclusions.may_be_lifted(made) is may
    if not may:
        with pytest.raises(exclusions.EndsAtItsTime):
            exclusions.lift(exclusion_id=made.pk, reason="asked for", asked_by="staff:1", decided_by="staff:2")
        return
    asked = exclusions.ask(exclusion=made, reason="asked for", by=a_member_of_staff("support"))
    other = a_member_of_staff("compliance")
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(other), person=other.person, reason="seen", may=other.user.has_perm
    )
    assert eligibility.check_play(kept, real=True) is None


def test_gli19_2_5_5_an_exclusion_ends_by_itself_and_lifts_no_limit(
    cloned_db: Database, owner: psycopg.Connection
) -> None:
    player = a_player("GB")
    set_limit(
        player=player,
        kind=LimitKind.LOSS,
        period=Period.WEEK,
        amount=500,
        by=str(player),
        source=LimitSource.PLAYER,
        reason="",
    )
    before = limits_of(player)
    exclusions.pause(player=player, by=str(player))
    assert eligibility.check_play(player, real=False)
    owner.execute("ALTER TABLE players_exclusion DISABLE TRIGGER USER")
    owner.execute("UPDATE players_exclusion SET begun = begun - interval '1 day', until = until - interval '1 day'")
    owner.execute("ALTER TABLE players_exclusion ENABLE TRIGGER USER")
    assert eligibility.check_play(player, real=False) is None
    assert limits_of(player) == before
    assert before[LimitKind.LOSS, Period.WEEK].amount == 500


@pytest.mark.parametrize("mode", sample([Mode.REAL, Mode.FREE], 1), ids=["real", "free"])
def test_gli19_a_3_7_no_round_begins_after_a_pause_however_many_are_asked_for(cloned_db: Database, mode: Mode) -> None:
    player, table = a_player(real=10_000_000, free=10_000_000), a_table()
    a_round(player, table, mode, player=1000)
    together = Barrier(THREADS + 1)

    def deal() -> None:
        together.wait()
        try:
            for _ in range(ROUNDS):
                seat = solo_seat_at(player=player, table_id=table.pk, mode=mode)
                try:
                    a_seat(player, table, mode, player=1000)
                    seat = solo_seat_at(player=player, table_id=table.pk, mode=mode)
                    play_round(
                        player=player,
                        table_id=table.pk,
                        mode=mode,
                        round_id=seat.round_id,
                        slip_version=seat.slip_version,
                    )
                except NotEligible:
                    return
                except PlayError:
                    continue  # another thread was first at this round
        finally:
            connection.close()

    def pause() -> Exclusion:
        together.wait()
        try:
            return exclusions.pause(player=player, by=str(player))
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS + 1) as pool:
        deals = [pool.submit(deal) for _ in range(THREADS)]
        paused = pool.submit(pause).result()
        for each in deals:
            each.result()
    rounds = Participation.objects.filter(player=player)
    assert rounds.exists()
    assert not rounds.filter(at__gte=paused.begun).exists()
    with pytest.raises(NotEligible):
        a_round(player, table, mode, player=1000)


def test_a_pause_waits_for_the_round_in_progress(cloned_db: Database) -> None:
    player = a_player()
    with psycopg.connect(cloned_db.web_url) as playing, psycopg.connect(cloned_db.web_url) as viewing:
        playing.execute("SELECT players_hold_off_exclusions(%s)", [player.pk])
        with ThreadPoolExecutor(1) as pool:

            def pause() -> Exclusion:
                try:
                    return exclusions.pause(player=player, by=str(player))
                finally:
                    connection.close()

            pausing = pool.submit(pause)
            while viewing.execute(WAITING).fetchone() != (1,):
                viewing.rollback()
            assert not Exclusion.objects.exists()
            (finished,) = playing.execute("SELECT clock_timestamp()").fetchone() or (None,)
            playing.commit()
            assert pausing.result().begun > finished
