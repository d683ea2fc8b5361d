"""The application of people."""

from django.apps import AppConfig


class PlayersConfig(AppConfig):
    name = "players"

    def ready(self) -> None:
        """Have failures of second factors recorded; say what of players takes two people."""
        from audit import approvals  # models are loaded by now, and not before
        from players import lifting, signals

        signals.connect()
        approvals.register(
            lifting.KIND, execute=lifting.execute, permission=lifting.PERMISSION, describe=lifting.describe
        )
