"""The application of people."""

from django.apps import AppConfig


class PlayersConfig(AppConfig):
    name = "players"

    def ready(self) -> None:
        """Have failures of second factors recorded; say what of players takes two people, and who hears of the log."""
        from audit import alarms, approvals  # models are loaded by now, and not before
        from audit.reports import kinds
        from players import alterations, approval_mail, lifting, log_alarms, reports, signals, significant, staffing

        signals.connect()
        alarms.register(log_alarms.tell)
        approvals.listen(approval_mail.keep)
        approvals.register(
            lifting.KIND,
            title="end of an exclusion",
            then="The exclusion ends at once, and its player may play again. Limits stay as they are.",
            execute=lifting.execute,
            permission=lifting.PERMISSION,
            describe=lifting.describe,
        )
        staffing.register()
        alterations.ready()
        kinds.register(reports.KIND)
        significant.register()
