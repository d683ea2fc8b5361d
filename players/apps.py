"""App configuration of `players`."""

from django.apps import AppConfig
from django.utils.translation import gettext_noop


class PlayersConfig(AppConfig):
    name = "players"

    def ready(self) -> None:
        """Connect signal handlers and register this app's approvals, alarms, reports and permissions."""
        from audit import approvals  # importable only after models are loaded
        from audit.reports import kinds
        from audit.sealing import alarms  # importable only after models are loaded
        from players import mail, reports, significant, staff
        from players.login import credentials, locks
        from players.protection import borrowed_money, exclusions, national_rules, screening

        locks.connect()
        credentials.connect()
        alarms.register(mail.mail_alert)
        approvals.listen(mail.keep)
        approvals.register(
            exclusions.KIND,
            title=gettext_noop("lifting of an exclusion"),
            then=gettext_noop("The exclusion ends at once and the player can play again. Limits are unchanged."),
            execute=exclusions.execute,
            permission=exclusions.PERMISSION,
            describe=exclusions.describe,
        )
        national_rules.register()
        screening.register()
        approvals.register(
            borrowed_money.KIND,
            title=gettext_noop("removal of a mark of borrowed money"),
            then=gettext_noop("The player can deposit again at once."),
            execute=borrowed_money.execute,
            permission=borrowed_money.PERMISSION,
            describe=borrowed_money.describe,
            current_facts=borrowed_money.current_facts,
        )
        staff.register()
        reports.register_alterations()
        kinds.register(reports.KIND)
        significant.register()
