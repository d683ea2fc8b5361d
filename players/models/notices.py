"""What the house tells everybody of work on it: a row for each notice, added and withdrawn, never changed
(``sql/functions/notices.sql``).
"""

from django.db import models

from audit.models import Clock
from players.models.people import Staff


class Notice(models.Model):
    """A notice of maintenance. It is shown from ``shown_from`` until ``shown_until``, and speaks of work planned from
    ``begins_at`` to ``ends_at``. Its words have the mark `players.staff.notices.WHEN`, for which each reader gets those
    times as their clocks show them.
    """

    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    shown_from = models.DateTimeField()
    shown_until = models.DateTimeField()
    texts = models.JSONField()  # the words in each language of the house
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False, related_name="+")
    at = models.DateTimeField(db_default=Clock())
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.ForeignKey(Staff, models.PROTECT, null=True, db_index=False, related_name="+")
    reason = models.CharField(max_length=300, blank=True)  # why it was withdrawn

    class Meta:
        db_table = "players_notice"
        default_permissions = ()
        permissions = [("publish_notices", "Can publish and withdraw notices to everybody")]

    def __str__(self) -> str:
        return f"notice:{self.pk}"
