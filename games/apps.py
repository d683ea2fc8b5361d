"""The application of games."""

from django.apps import AppConfig


class GamesConfig(AppConfig):
    name = "games"

    def ready(self) -> None:
        """Say what of games takes two people."""
        from audit import approvals  # models are loaded by now, and not before
        from games.live import malfunction

        approvals.register(
            malfunction.KIND,
            execute=malfunction.execute,
            permission=malfunction.PERMISSION,
            describe=malfunction.describe,
        )
