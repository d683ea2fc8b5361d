"""Periodic tasks of the tables, started by beat."""

from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.db.models.query import QuerySet

from games.change_requests import execution
from games.chemin import tick as chemin_tick
from games.fairness.randomness import judgement
from games.fairness.returns import monitor
from games.incidents import letters
from games.models import LiveSeat, SoloSeat
from games.shared import phases
from games.solo.seats import ON_A_PURSE
from games.verification import verification_task
from players.models import Player, Session
from wallet.ledger import accounts, purse
from wallet.models import Account, AccountKind, Mode

IDLE = timedelta(seconds=settings.PLAYER_IDLE_SECONDS)  # equals the idle time of a session


def return_all_idle_purses() -> int:
    """Return the money of every idle purse (`IDLE`); return the number of purses."""
    idle = list(_idle().values_list("owner_id", "mode"))
    return sum(_return_if_idle(owner_id, Mode(mode)) for owner_id, mode in idle)


@transaction.atomic
def _return_if_idle(owner_id: int, mode: Mode) -> bool:
    """Check again with the purse locked, because its owner may have come back."""
    accounts.lock_cash_and(AccountKind.PURSE, owner_id, mode)
    if not _idle().filter(owner_id=owner_id, mode=mode).exists():
        return False
    player = Player.objects.get(pk=owner_id)
    return purse.give_back(player=player, mode=mode, why=purse.Leaving.IDLE, by="system") > 0


def _idle() -> QuerySet[Account]:
    """Return purses with money whose owner was idle by the database clock.

    A player with a seat at a shared table may be waiting for the next round; there the session
    decides.
    """
    used = SoloSeat.objects.filter(player=OuterRef("owner"), used_at__gt=Now() - IDLE)
    seat = LiveSeat.objects.filter(
        player=OuterRef("owner"), live_table__mode=OuterRef("mode"), live_table__table__variant__in=ON_A_PURSE
    )
    there = Session.objects.filter(user__player=OuterRef("owner"), ended_at=None, acted_at__gt=Now() - IDLE)
    found = Account.objects.filter(kind=AccountKind.PURSE, balance__gt=0, held=0).order_by("pk")
    return found.exclude(Exists(used)).exclude(Exists(seat), Exists(there))


EXPIRES = 5  # seconds; a later message is obsolete


@shared_task
def verify_finished_rounds() -> None:
    """Verify every finished round once and act if its seed does not reproduce it."""
    verification_task.verify_finished_rounds()


@shared_task
def publish_seeds() -> None:
    """Publish the seeds of ended shoes, where the dealer did not answer at once, and act on what does not follow."""
    verification_task.publish_seeds()


@shared_task
def return_idle_purses() -> None:
    """Return the money in idle purses."""
    return_all_idle_purses()


@shared_task
def write_letters() -> None:
    """Write the pending letters to the players of incidents."""
    letters.write_due()


@shared_task
def check_returns() -> None:
    """Raise an alarm if the returns of a game are not explained by chance."""
    monitor.check_returns()


@shared_task
def check_randomness() -> None:
    """Test the cards and shuffles of every finished week once."""
    judgement.check_randomness()


@shared_task
def put_versions_live() -> None:
    """Put approved changes live whose time has come."""
    for approval_id in execution.due():
        execution.go_live(approval_id)


@shared_task
def tick() -> list[int]:
    """Start a task for every shared table whose next phase is due.

    Return the tables, for the worker's log.

    The first worker advances a table; others find nothing to do.
    """
    due = phases.due()
    for live_table_id in due:
        advance_live_table.apply_async((live_table_id,), expires=EXPIRES)
    return due


@shared_task
def advance_live_table(live_table_id: int) -> bool:
    """Advance a shared table by one phase if it is due. Return whether it was advanced."""
    return phases.advance(live_table_id)


@shared_task
def tick_chemin() -> list[int]:
    """Start a task for every Chemin de Fer table with a due step. Return the tables."""
    due = chemin_tick.due()
    for live_table_id in due:
        advance_chemin_table.apply_async((live_table_id,), expires=EXPIRES)
    return due


@shared_task
def advance_chemin_table(live_table_id: int) -> bool:
    """Do the next due step at a Chemin de Fer table. Return whether there was one."""
    return chemin_tick.advance(live_table_id)
