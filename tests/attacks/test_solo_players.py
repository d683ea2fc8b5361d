"""The role of web and workers finishes a solo round for a player who may not play.

``games_finish_solo_round`` refuses each, and accepts it once its refusal is removed.
"""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import date
from uuid import uuid4

import psycopg
import pytest
from django.db import ProgrammingError, connection, transaction

from games import deals
from games.engine.commitments import Purpose
from games.models import Participation, SoloSeat
from games.rounds.database_refusals import MayNotPlay
from games.solo import seats
from games.variants import VARIANTS
from players.account import closures
from players.login import locks
from players.models import Player
from players.protection import exclusions, play_sessions
from tests.builders import a_player, a_seat, a_table
from tests.games.test_rounds_are_written_by_functions import (
    FUNCTION,
    MONEY,
    STAKE,
    Asked,
    as_played,
    weaken,
    without_refusal,
)
from tests.harness.owner import OwnerWithin, as_owner
from tests.people import a_member_of_staff
from wallet.models import Mode


def exclude(player: Player) -> None:
    exclusions.exclude_self(player=player, months=None, by=str(player))


def pause(player: Player) -> None:
    as_owner(
        "INSERT INTO players_exclusion (player_id, kind, begun, until, by) VALUES (%s, 'pause', now(), %s, %s)",
        [player.pk, date(2100, 1, 1), str(player)],
    )


def lock(player: Player) -> None:
    locks.lock(player=player, reason="for a test", by=a_member_of_staff("compliance"))


def close(player: Player) -> None:
    closures.begin(player=player, ip="192.0.2.1")


@pytest.mark.django_db
@pytest.mark.parametrize("bar", [exclude, pause, lock, close])
def test_is_not_finished_for_a_player_who_may_not_play(owner: OwnerWithin, bar: Callable[[Player], None]) -> None:
    seat: SoloSeat = a_seat(a_player(real=MONEY), a_table(), player=STAKE)
    asked = as_played(seat, player=STAKE)
    bar(seat.player)
    is_refused_until_dropped(owner, asked)
    assert Participation.objects.get().player == seat.player


def is_refused_until_dropped(owner: OwnerWithin | psycopg.Connection, asked: Asked) -> None:
    with pytest.raises(MayNotPlay):
        asked.send()
    assert not Participation.objects.exists()
    without_refusal(owner, FUNCTION, "SB102")
    asked.send()


@pytest.mark.django_db
def test_is_not_finished_without_agreement_to_the_terms(owner: OwnerWithin) -> None:
    asked = as_played(a_seat(a_player(real=MONEY), a_table(), player=STAKE), player=STAKE)
    is_refused_until_dropped(owner, replace(asked, terms="another version"))


@pytest.mark.django_db
def test_is_not_finished_while_limits_must_be_set(owner: OwnerWithin) -> None:
    asked = as_played(a_seat(a_player("SE", real=MONEY), a_table(), player=STAKE), player=STAKE)
    for table in ("players_limitchange", "players_limitoffer"):
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        owner.execute(f"TRUNCATE {table} CASCADE")
    is_refused_until_dropped(owner, asked)


@pytest.mark.django_db
def test_is_not_finished_while_a_reality_check_is_due(owner: OwnerWithin) -> None:
    player, session = a_player(real=MONEY), uuid4()
    asked = as_played(a_seat(player, a_table(), player=STAKE), player=STAKE)
    play_sessions.read_session(player, session)
    as_owner("UPDATE players_playsession SET began = began - interval '1 day'")
    is_refused_until_dropped(owner, replace(asked, session=session))


class Undone(Exception):
    """Raised to go back to a savepoint."""


def lock_to_deal(seat: SoloSeat, *, is_released: bool = False) -> None:
    """Lock the seat as a click does. *is_released*: within a savepoint that is rolled back."""
    with suppress(Undone), transaction.atomic():
        locked = seats.lock(seat.player, seat.table_id, Mode(seat.mode), deals=True)
        assert locked is not None
        assert locked.ineligibility is None
        if is_released:
            raise Undone


@pytest.mark.django_db
@pytest.mark.parametrize("is_released", [False, True])
def test_what_the_lock_found_counts_as_long_as_it_is_kept(*, is_released: bool) -> None:
    """Others exclude a player after the round (tests/players/test_exclusions_kept.py); here it is this transaction."""
    seat: SoloSeat = a_seat(a_player(real=MONEY), a_table(), player=STAKE)
    asked = as_played(seat, player=STAKE)
    with transaction.atomic():
        lock_to_deal(seat, is_released=is_released)
        exclude(seat.player)
        with pytest.raises(MayNotPlay) if is_released else nullcontext():
            asked.send()
    assert Participation.objects.exists() is not is_released


def test_what_the_lock_found_counts_in_its_transaction_alone(owner: psycopg.Connection) -> None:
    seat: SoloSeat = a_seat(a_player(real=MONEY), a_table(), player=STAKE)
    asked = as_played(seat, player=STAKE)
    lock_to_deal(seat)
    exclude(seat.player)
    is_refused_until_dropped(owner, asked)


@pytest.mark.django_db
def test_what_the_lock_found_counts_for_one_round() -> None:
    seat: SoloSeat = a_seat(a_player(real=MONEY), a_table(), player=STAKE)
    asked = as_played(seat, player=STAKE)
    following = deals.commit(Purpose.SOLO, seat.table_id, VARIANTS[seat.table.variant])
    with transaction.atomic():
        lock_to_deal(seat)
        replace(
            asked, next_round=following.round_id, next_commitment=following.commitment, next_seed=following.sealed
        ).send()
        exclude(seat.player)
        seat.refresh_from_db()
        with pytest.raises(MayNotPlay):
            as_played(seat, player=STAKE).send()
    assert Participation.objects.get().round_id == asked.round_id


@pytest.mark.django_db
def test_what_the_lock_found_counts_for_seconds(owner: OwnerWithin) -> None:
    seat: SoloSeat = a_seat(a_player(real=MONEY), a_table(), player=STAKE)
    asked = as_played(seat, player=STAKE)
    weaken(owner, FUNCTION, ("interval '5 seconds'", "interval '0'"))
    with transaction.atomic():
        lock_to_deal(seat)
        exclude(seat.player)
        with pytest.raises(MayNotPlay):
            asked.send()


@pytest.mark.django_db
def test_nobody_but_the_lock_says_that_a_player_may_play() -> None:
    seat: SoloSeat = a_seat(a_player(real=MONEY), a_table(), player=STAKE)
    with connection.cursor() as cursor, pytest.raises(ProgrammingError, match="permission denied"):
        cursor.execute("UPDATE games_soloseat SET xid = pg_current_xact_id() WHERE id = %s", [seat.pk])


@pytest.mark.django_db
def test_a_lock_for_a_chip_says_nothing_of_a_deal() -> None:
    seat: SoloSeat = a_seat(a_player(real=MONEY), a_table(), player=STAKE)
    with transaction.atomic(), connection.cursor() as cursor:
        seats.lock(seat.player, seat.table_id, Mode(seat.mode))
        cursor.execute("SELECT xid FROM games_soloseat")
        assert cursor.fetchall() == [(None,)]
