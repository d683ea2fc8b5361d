"""`manage.py beat`: send what is due when it is due. Two of them are safe: one works, the other waits to take over."""

from functools import partial

from django.conf import settings
from django.core.management.base import BaseCommand

from casino.beat import GuardedScheduler, take_turn
from casino.celery import app

LONGEST_SLEEP = 5  # seconds; after each, beat makes sure that it is still its turn


class Command(BaseCommand):
    """Runs Celery's beat in this process."""

    help = __doc__ or ""

    def handle(self, *args: object, **options: object) -> None:
        """Run until stopped."""
        if settings.METRICS:
            from casino import measures_port  # a house without metrics does without their library

            measures_port.serve()
        guard = take_turn(self.stdout.write)
        app.Beat(
            scheduler=partial(GuardedScheduler, guard),  # type: ignore[arg-type]  # any callable will do
            schedule=str(settings.VAR_DIR / "beat-schedule"),
            max_interval=LONGEST_SLEEP,
            loglevel="INFO",
            quiet=True,
        ).run()
