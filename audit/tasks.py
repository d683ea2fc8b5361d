"""Work of the ground floor that beat asks for."""

from celery import shared_task

from audit import approvals


@shared_task
def expire_approvals() -> None:
    """Enter the end of what nobody decided in time. A decision after that time is refused without it, too."""
    approvals.expire()
