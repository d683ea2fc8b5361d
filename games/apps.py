"""The Django application of the games."""

from django.apps import AppConfig


class GamesConfig(AppConfig):
    name = "games"

    def ready(self) -> None:
        """Register approvals, hourly totals, reports and significant events of games."""
        from audit import staff_text
        from games import labels, registration, reports, significant  # models must be loaded first
        from games.change_requests import requests
        from games.chat import letters
        from games.verification import house

        staff_text.register_format("game", labels.write_game)
        registration.register_voids()
        registration.register_alterations()
        registration.register_invariants()
        letters.register()
        registration.register_hours()
        reports.register()
        significant.register()
        registration.register_randomness()
        registration.register_returns()
        requests.ready()
        house.add()
