"""Periodic Celery tasks of players."""

from celery import shared_task

from players import cases, mail
from players.api import calls
from players.identity import requested_documents
from players.login import locks, sessions
from players.login.sessions import SessionStore
from players.protection import screening
from players.staff import report_schedules


@shared_task
def clear_expired_sessions() -> None:
    """Delete what is kept for session cookies that have expired."""
    SessionStore.clear_expired()


@shared_task
def forget_old_tries() -> None:
    """Delete counts of wrong passwords that no longer matter."""
    locks.forget_old_tries()


@shared_task
def forget_old_calls() -> None:
    """Delete stored answers of old API calls."""
    calls.forget_old()


@shared_task
def send_mail() -> None:
    """Send the mail that is due."""
    mail.send_due()


@shared_task
def end_idle_sessions() -> None:
    """End sessions that have been idle too long."""
    sessions.end_idle()


@shared_task
def mail_approvals() -> None:
    """Mail staff about pending and ended approvals."""
    mail.mail_due()


@shared_task
def mail_alerts() -> None:
    """Mail staff about new alerts."""
    mail.mail_alerts()


@shared_task
def make_scheduled_reports() -> None:
    """Request the scheduled reports that are due, and deliver those that are ready."""
    report_schedules.ask_due()
    report_schedules.deliver_due()


@shared_task
def notify_overdue_cases() -> None:
    """Record cases that are newly overdue."""
    cases.enter_overdue()


@shared_task
def remind_of_documents() -> None:
    """Remind players of documents that they were asked for."""
    requested_documents.remind()


@shared_task
def read_screening_lists() -> None:
    """Read the lists of sanctioned and politically exposed people that are due, and compare all players with them."""
    screening.read_due()
