"""Messages to the workers that there is something to tell operators. Hints only: beat sweeps."""

from contextlib import suppress

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

EXPIRES = 60  # seconds after which the hint is void


def tell_operators_soon() -> None:
    """Have what waits sent once the transaction is committed."""
    transaction.on_commit(_ask)


def _ask() -> None:
    with suppress(OperationalError):
        current_app.send_task("wallet.tasks.tell_operators", retry=False, expires=EXPIRES)
