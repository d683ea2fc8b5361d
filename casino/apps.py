"""Start-up of the project itself."""

from django.apps import AppConfig

from casino import logs


class CasinoConfig(AppConfig):
    """Configures logs and registers the production checks."""

    name = "casino"

    def ready(self) -> None:
        """Runs once per process."""
        from casino import checks  # noqa: F401, PLC0415  (registering checks needs loaded apps)

        logs.configure()
