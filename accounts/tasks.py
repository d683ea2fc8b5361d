"""Periodic Celery tasks of accounts."""

from celery import shared_task

from accounts import closing, harm_marker_scan, retention


@shared_task
def finish_closing() -> None:
    """Complete closings whose money has been paid out, and return money that arrived late."""
    closing.finish_closing()
    closing.return_late_money()


@shared_task
def expire() -> None:
    """Delete data past its retention period."""
    retention.expire()


@shared_task
def scan_harm_markers() -> None:
    """Scan for markers of harm."""
    harm_marker_scan.scan()
