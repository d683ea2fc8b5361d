"""Start-up of the project itself."""

from celery.signals import beat_init, worker_init
from django.apps import AppConfig

from casino import logs


class CasinoConfig(AppConfig):
    """Configures logs and registers the production checks, which worker and beat run before they begin."""

    name = "casino"

    def ready(self) -> None:
        """Runs once per process."""
        from audit.models import Category, Weight  # not before the apps are loaded
        from audit.reports import alterations
        from audit.significant import finding
        from casino import checks

        logs.configure()
        worker_init.connect(checks.refuse_unsafe_start)
        beat_init.connect(checks.refuse_unsafe_start)
        finding.register_ordinary(("house.backed_up", "personal.exported", "retention.applied", "rows.exported"))
        finding.register_kinds(
            {"house.restored": (Category.CORRECTION, Weight.ALERT, "The house was put up again from a copy")}
        )
        parts = alterations.added("until", "leaves", "settled", "cancelled", "shoes", "places", "sessions")
        alterations.register("House", {"house.restored": ("The house was put up again from a copy", parts)})
