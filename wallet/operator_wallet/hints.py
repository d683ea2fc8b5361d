"""Hints to workers that messages to operators are due. They may get lost: the periodic task finds the messages."""

from contextlib import suppress

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

EXPIRES = 60  # seconds; older hints are dropped


def tell_operators_soon() -> None:
    """Start the delivery task after the transaction has committed."""
    transaction.on_commit(_ask)


def _ask() -> None:
    with suppress(OperationalError):
        current_app.send_task("wallet.tasks.tell_operators", retry=False, expires=EXPIRES)
