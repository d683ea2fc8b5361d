"""Application configuration of the event log."""

from django.apps import AppConfig
from django.utils.translation import gettext_noop


class AuditConfig(AppConfig):
    name = "audit"

    def ready(self) -> None:
        """Register the approval of retention changes, and the significant events of this app."""
        from audit import approvals, retention  # models are not loaded earlier
        from audit.reports import alterations
        from audit.significant import builtin
        from audit.verification import house_log

        approvals.register(
            retention.KIND,
            title=gettext_noop("retention period"),
            then=gettext_noop("The new period applies at once. Older data is deleted the next night."),
            execute=retention.execute,
            permission=retention.PERMISSION,
            describe=retention.describe,
        )
        builtin.register()
        house_log.add()
        alterations.ready()
