"""App configuration of `players`."""

from django.apps import AppConfig


class PlayersConfig(AppConfig):
    name = "players"

    def ready(self) -> None:
        """Connect signal handlers and register this app's approvals, alarms, reports and permissions."""
        from audit import approvals  # importable only after models are loaded
        from audit.reports import kinds
        from audit.sealing import alarms  # importable only after models are loaded
        from players import alterations, reports, significant, staff
        from players.login import signals
        from players.mail import approvals as approval_mail
        from players.mail import log_alarms
        from players.protection import exclusion_lift

        signals.connect()
        alarms.register(log_alarms.tell)
        approvals.listen(approval_mail.keep)
        approvals.register(
            exclusion_lift.KIND,
            title="end of an exclusion",
            then="The exclusion ends at once, and its player may play again. Limits stay as they are.",
            execute=exclusion_lift.execute,
            permission=exclusion_lift.PERMISSION,
            describe=exclusion_lift.describe,
        )
        staff.register()
        alterations.ready()
        kinds.register(reports.KIND)
        significant.register()
