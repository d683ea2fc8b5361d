"""What staff are still to be told of approvals."""

from django.db import models

from audit.models import Approval, Clock


class ApprovalNews(models.Model):
    """An approval that was asked for, or that ended, of which nobody has been mailed yet; gone once they were.

    A queue and not a mark reached: requests commit in another order than they began.
    """

    approval = models.ForeignKey(Approval, models.PROTECT, db_index=False)
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_approval_news"
        default_permissions = ()
