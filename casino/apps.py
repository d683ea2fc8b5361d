"""Start-up of the project itself."""

from celery.signals import beat_init, worker_init
from django.apps import AppConfig

from casino import logs


class CasinoConfig(AppConfig):
    """Configures logs and registers the production checks, which worker and beat run before they begin."""

    name = "casino"

    def ready(self) -> None:
        """Runs once per process."""
        from audit.significant import finding  # imports models, so not before the apps are loaded
        from casino import checks

        logs.configure()
        worker_init.connect(checks.refuse_unsafe_start)
        beat_init.connect(checks.refuse_unsafe_start)
        finding.register_ordinary(("personal.exported", "retention.applied", "rows.exported"))
