"""Work of the ground floor that beat asks for."""

from celery import shared_task

from audit import approvals, hours, partitions
from audit.reports import daily, runner, verification
from audit.sealing import checkpoint_delivery, lag, sealer
from audit.significant import clock, detection, rescan

PAUSE = 60  # seconds after which the hint that a checkpoint is due is void: the next one comes sooner


@shared_task
def expire_approvals() -> None:
    """Enter the end of what nobody decided in time. A decision after that time is refused without it, too."""
    approvals.expire()


@shared_task
def keep_months() -> None:
    """See to it that events have a month to be written into."""
    partitions.keep("audit_event")


@shared_task
def count_months() -> None:
    """Have the planner know how events are spread over months."""
    partitions.count("audit_event")


@shared_task
def seal() -> None:
    """Enter what has happened in the tree, and have the tree signed."""
    sealer.seal()


@shared_task
def watch_the_seal() -> None:
    """Tell staff where the signed tree lags behind what happens."""
    lag.watch()


@shared_task
def watch_the_signer() -> None:
    """Tell staff where the signer has signed what is no longer there."""
    sealer.watch()


@shared_task
def send_checkpoints() -> None:
    """Ask for a checkpoint to be sent to every place that is due one, each on its own: one may take its time."""
    for place in checkpoint_delivery.due():
        send_checkpoint.apply_async((place,), expires=PAUSE)


@shared_task
def send_checkpoint(place: str) -> None:
    """Send the last checkpoint to one place."""
    checkpoint_delivery.send(place)


@shared_task
def set_mark() -> None:
    """Set a mark, by which it is known later what was written before it (`audit.hours`)."""
    hours.mark()


@shared_task
def sum_up() -> None:
    """Sum up what has settled."""
    hours.roll_due()


@shared_task
def verify_sums() -> None:
    """Look again at what the last day left: add up anew what was summed up, hash reports, and read for significant
    events. What differs is put on record.
    """
    try:
        hours.verify_last_day()
    finally:
        try:
            verification.verify_last_day()
        finally:
            rescan.look()


@shared_task
def find_significant() -> None:
    """Find what somebody has to look at in what was sealed since."""
    clock.beat("workers")
    detection.find()


@shared_task
def make_reports() -> None:
    """Make the reports that wait."""
    runner.make_open()


@shared_task
def ask_daily_reports() -> None:
    """Ask for the reports on the days before that were not asked for yet."""
    daily.ask_due()
