"""Messages to the workers that there is something to ask. Hints only: beat sweeps."""

from contextlib import suppress

from celery import current_app
from kombu.exceptions import OperationalError

EXPIRES = 60  # seconds after which the hint is void


def ask_for_an_answer() -> None:
    """Have undecided payments looked at soon."""
    with suppress(OperationalError):
        current_app.send_task("wallet.tasks.ask_undecided_payments", retry=False, expires=EXPIRES)
