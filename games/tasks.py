"""Work of the tables that beat asks for."""

from celery import shared_task

from games.change_requests import execution, schedule
from games.chemin import tick as guests
from games.fairness.randomness import judgement
from games.fairness.returns import monitor
from games.incidents.letters import delivery
from games.shared import phases
from games.solo import idle_purses
from games.verification import replay_task

EXPIRES = 5  # seconds: a message that comes later says nothing that a younger one does not


@shared_task
def replay_finished_rounds() -> None:
    """Deal every finished round again once and act where its seed does not reproduce it."""
    replay_task.replay_finished_rounds()


@shared_task
def return_idle_purses() -> None:
    """Give back what lies in purses that nobody uses."""
    idle_purses.return_idle_purses()


@shared_task
def write_letters() -> None:
    """Write what is left of letters to the players of incidents."""
    delivery.write_due()


@shared_task
def watch_returns() -> None:
    """Raise an alarm where the returns of a game cannot be chance."""
    monitor.watch()


@shared_task
def watch_randomness() -> None:
    """Test the cards and shuffles of every week that is over, once."""
    judgement.watch()


@shared_task
def put_versions_live() -> None:
    """Put live what was approved for a moment that has come."""
    for approval_id in schedule.due():
        execution.go_live(approval_id)


@shared_task
def tick() -> list[int]:
    """Ask for every shared table whose next move is due that it be moved, by whichever worker comes first. Which those
    are stands in the worker's log.
    """
    due = phases.due()
    for live_table_id in due:
        advance_live_table.apply_async((live_table_id,), expires=EXPIRES)
    return due


@shared_task
def advance_live_table(live_table_id: int) -> bool:
    """Move a shared table one phase on, if nobody has yet; say whether it was moved."""
    return phases.advance(live_table_id)


@shared_task
def tick_guests() -> list[int]:
    """Ask for every table of guests against each other at which something is to be done that it be done."""
    due = guests.due()
    for live_table_id in due:
        advance_guest_table.apply_async((live_table_id,), expires=EXPIRES)
    return due


@shared_task
def advance_guest_table(live_table_id: int) -> bool:
    """Do the one thing that is due at a guests' table, if nobody has yet; say whether there was one."""
    return guests.advance(live_table_id)
