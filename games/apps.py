"""The application of games."""

from django.apps import AppConfig


class GamesConfig(AppConfig):
    name = "games"

    def ready(self) -> None:
        """Say what of games takes two people, and what is summed up."""
        from audit import approvals, hours  # models are loaded by now, and not before
        from games import alterations, reports, significant, tallies
        from games.live import chat_given, malfunction
        from games.randomness import registering as randomness
        from games.returns import registering as returns
        from games.versions import registering as versions

        approvals.register(
            malfunction.KIND,
            title="annulment of a round",
            then="Every stake goes back and every payout is taken back, the shoe is retired, and the players are told.",
            execute=malfunction.execute,
            permission=malfunction.PERMISSION,
            describe=malfunction.describe,
        )
        alterations.ready()
        chat_given.register()
        hours.register(tallies.SUMS, roll=tallies.roll, first=tallies.first_played, differences=tallies.differences)
        reports.register()
        significant.register()
        randomness.register()
        returns.ready()
        versions.ready()
