"""Work of the tables that beat asks for."""

from celery import shared_task

from games import purses, replay
from games.chemin import tick as guests
from games.letters import parts
from games.live import phases
from games.randomness import judging
from games.returns import watching
from games.versions import executing, schedule

EXPIRES = 5  # seconds: a message that comes later says nothing that a younger one does not


@shared_task
def replay_finished_rounds() -> None:
    """Deal every finished round again once and act where its seed does not reproduce it."""
    replay.replay_finished_rounds()


@shared_task
def return_idle_purses() -> None:
    """Give back what lies in purses that nobody uses."""
    purses.return_idle_purses()


@shared_task
def write_letters() -> None:
    """Write what is left of letters to the players of incidents."""
    parts.write_due()


@shared_task
def watch_returns() -> None:
    """Raise an alarm where the returns of a game cannot be chance."""
    watching.watch()


@shared_task
def watch_randomness() -> None:
    """Test the cards and shuffles of every week that is over, once."""
    judging.watch()


@shared_task
def put_versions_live() -> None:
    """Put live what was approved for a moment that has come."""
    for approval_id in schedule.due():
        executing.go_live(approval_id)


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
