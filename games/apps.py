"""The Django application of the games."""

from django.apps import AppConfig


class GamesConfig(AppConfig):
    name = "games"

    def ready(self) -> None:
        """Register approvals, hourly totals, reports and significant events of games."""
        from audit import approvals, hours  # models must be loaded first
        from games import alterations, ledger_invariants, reports, significant
        from games.change_requests import requests
        from games.chat import letters
        from games.fairness import hourly_totals, registration
        from games.reports import reconciliation
        from games.shared import malfunction
        from wallet.ledger import hourly_totals as ledger_totals

        approvals.register(
            malfunction.KIND,
            title="void of a round",
            then="All stakes are returned, all payouts are reversed, the shoe is retired and the players are informed.",
            execute=malfunction.execute,
            permission=malfunction.PERMISSION,
            describe=malfunction.describe,
        )
        alterations.ready()
        ledger_invariants.register()
        letters.register()
        hours.register(
            hourly_totals.HOURLY_TOTALS,
            roll=hourly_totals.roll,
            first=hourly_totals.first_played,
            differences=hourly_totals.differences,
        )
        # After the totals that it reads.
        hours.register(reconciliation.HOURS, roll=reconciliation.reconcile_hour, first=ledger_totals.first)
        reports.register()
        significant.register()
        registration.register_randomness()
        registration.register_returns()
        requests.ready()
