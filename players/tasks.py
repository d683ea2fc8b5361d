"""Housekeeping that needs no one to ask for it."""

from celery import shared_task
from django.core.management import call_command

from players import mail
from players.api import calls
from players.login import locks, sessions
from players.mail import alerts, approvals
from players.support import complaints


@shared_task
def clear_expired_sessions() -> None:
    """Delete the rows of sessions that are over."""
    call_command("clearsessions")


@shared_task
def forget_old_tries() -> None:
    """Delete the count of wrong passwords that no longer count."""
    locks.forget_old_tries()


@shared_task
def forget_old_calls() -> None:
    """Forget the answers to programs that nobody can ask for again."""
    calls.forget_old()


@shared_task
def send_mail() -> None:
    """Send the mail that is due."""
    mail.send_due()


@shared_task
def end_idle_sessions() -> None:
    """End the sessions in which nobody has done anything for too long."""
    sessions.end_idle()


@shared_task
def mail_approvals() -> None:
    """Mail staff what waits for their decision, and what became of what they asked for."""
    approvals.mail_due()


@shared_task
def mail_alerts() -> None:
    """Mail staff what has to be looked into."""
    alerts.mail_alerts()


@shared_task
def tell_overdue_complaints() -> None:
    """Have staff told of complaints that were not decided in time."""
    complaints.tell_overdue()
