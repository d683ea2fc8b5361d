"""Work of the ground floor that beat asks for."""

from celery import shared_task

from audit import approvals, lag, sealing, sending

PAUSE = 60  # seconds after which the hint that a checkpoint is due is void: the next one comes sooner


@shared_task
def expire_approvals() -> None:
    """Enter the end of what nobody decided in time. A decision after that time is refused without it, too."""
    approvals.expire()


@shared_task
def seal() -> None:
    """Enter what has happened in the tree, and have the tree signed."""
    sealing.seal()


@shared_task
def watch_the_seal() -> None:
    """Tell staff where the signed tree lags behind what happens."""
    lag.watch()


@shared_task
def send_checkpoints() -> None:
    """Ask for a checkpoint to be sent to every place that is due one, each on its own: one may take its time."""
    for place in sending.due():
        send_checkpoint.apply_async((place,), expires=PAUSE)


@shared_task
def send_checkpoint(place: str) -> None:
    """Send the last checkpoint to one place."""
    sending.send(place)
