"""Housekeeping that needs no one to ask for it."""

from celery import shared_task
from django.core.management import call_command

from players import mail


@shared_task
def clear_expired_sessions() -> None:
    """Delete the rows of sessions that are over."""
    call_command("clearsessions")


@shared_task
def send_mail() -> None:
    """Send the mail that is due."""
    mail.send_due()
