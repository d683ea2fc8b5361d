"""Work of the tables that beat asks for."""

from celery import shared_task

from games import purses, replay


@shared_task
def replay_finished_rounds() -> None:
    """Deal every finished round again once and act where its seed does not reproduce it."""
    replay.replay_finished_rounds()


@shared_task
def return_idle_purses() -> None:
    """Give back what lies in purses that nobody uses."""
    purses.return_idle_purses()
