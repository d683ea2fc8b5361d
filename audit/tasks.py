"""Celery tasks of the event log, scheduled by beat."""

from contextlib import suppress

from celery import shared_task

from audit import approvals, hours, id_ranges
from audit.reports import requests, runner
from audit.sealing import alarms, checkpoint_delivery, sealer, witnesses
from audit.significant import builtin, detection
from audit.verification import house

PAUSE = 60  # seconds after which a queued delivery is dropped; beat asks again sooner


@shared_task
def expire_approvals() -> None:
    """Expire approvals that nobody decided in time. Late decisions are refused even before this runs."""
    approvals.expire()


@shared_task
def keep_months() -> None:
    """Create upcoming monthly partitions of events."""
    id_ranges.keep("audit_event")


@shared_task
def count_months() -> None:
    """Update the planner's statistics of events."""
    id_ranges.count("audit_event")


@shared_task
def seal() -> None:
    """Assign leaves to new events and have the tree signed."""
    sealer.seal()


@shared_task
def check_the_seal() -> None:
    """Notify staff if the signed tree lags behind."""
    alarms.check_seal()


@shared_task
def check_the_signer() -> None:
    """Notify staff if the signer has signed leaves that no longer exist."""
    sealer.check_signer()


@shared_task
def send_checkpoints() -> None:
    """Queue a delivery for every destination that is due a checkpoint, each on its own because one may be slow."""
    for destination in checkpoint_delivery.due():
        send_checkpoint.apply_async((destination,), expires=PAUSE)


@shared_task
def send_checkpoint(destination: str) -> None:
    """Deliver the last checkpoint to one destination."""
    checkpoint_delivery.send(destination)


@shared_task
def ask_witnesses() -> None:
    """Queue a request to every witness that has not cosigned the last checkpoint, and notify staff if
    too few cosign.
    """
    size, due = witnesses.due()
    for name in due:
        ask_witness.apply_async((name, size), expires=PAUSE)
    witnesses.check()


@shared_task
def ask_witness(name: str, size: int) -> None:
    """Ask one witness to cosign the checkpoint of *size* leaves."""
    witnesses.ask(name, size)


@shared_task
def set_watermark() -> None:
    """Write a mark, which later shows what was written before it (`audit.hours`)."""
    hours.write_watermark()


@shared_task
def sum_up() -> None:
    """Compute hourly totals of settled hours."""
    hours.roll_due()


@shared_task
def scan_significant() -> None:
    """Search the last day again for significant events."""
    detection.scan()


@shared_task
def verify_new() -> None:
    """Verify what is new in the house, and some older leaves (`audit.verification.house`)."""
    with suppress(house.AlreadyRunning):
        house.run(is_whole=False)


@shared_task
def verify_house() -> None:
    """Verify the whole house."""
    with suppress(house.AlreadyRunning):
        house.run(is_whole=True)


@shared_task
def find_significant() -> None:
    """Find significant events among newly sealed leaves."""
    builtin.beat("workers")
    detection.find()


@shared_task
def make_reports() -> None:
    """Make the reports that were requested."""
    runner.make_open()


@shared_task
def ask_daily_reports() -> None:
    """Request the daily reports that are missing for past days."""
    requests.ask_due()
