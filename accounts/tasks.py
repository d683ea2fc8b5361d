"""Work of the house that beat asks for."""

from celery import shared_task

from accounts import closing, harm_marker_scan, retention


@shared_task
def finish_closing() -> None:
    """Close the accounts whose money has left, and have money leave that came to closed ones."""
    closing.finish_closing()
    closing.return_late_money()


@shared_task
def expire() -> None:
    """Let everything go that has been kept for as long as it is to be."""
    retention.expire()


@shared_task
def look_for_markers() -> None:
    """Flag for staff whose play may be doing them harm."""
    harm_marker_scan.look()
