"""What has to be looked into is mailed at once to the staff whose role it is: one mail gathers all that was found, and
the next one follows some minutes later at the earliest.

A mail says of what kind they are and how many. Of whom and of how much, the back office says, to whoever logs in.
"""

from collections import Counter
from datetime import timedelta
from typing import Final

from django.db import connection, transaction

from audit.models import Category, Clock, Significant, Weight
from audit.significant import workflow
from players import mail
from players.mail import log_alarms

PAUSE: Final = timedelta(minutes=5)  # between two mails
MOST: Final = 1000  # alerts of one mail
LOCK: Final = 1021  # so that two workers mail it once


@transaction.atomic
def mail_alerts() -> int:
    """Mail what has not been mailed, unless that was done within `PAUSE`, and return how many alerts it was. Two
    workers mail it once. Whoever wants no mail of a category gets none of it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        (is_alone,) = cursor.fetchone()
    alerts = Significant.objects.filter(weight=Weight.ALERT)
    if not is_alone or alerts.filter(mailed_at__gt=Clock() - PAUSE).exists():
        return 0
    found = list(alerts.filter(mailed_at=None).order_by("pk")[:MOST])
    if not found:
        return 0
    Significant.objects.filter(pk__in=[each.pk for each in found]).update(mailed_at=Clock())
    counted = Counter((Category(each.category), each.title) for each in found)
    for user in log_alarms.holders(workflow.PERMISSION):
        unwanted = workflow.muted(str(user.staff))
        lines = [
            (category.label, title, count) for (category, title), count in counted.items() if category not in unwanted
        ]
        if lines:
            count = sum(number for _category, _title, number in lines)
            mail.write_to_staff(user=user, template="significant", context={"lines": lines, "count": count})
    return len(found)
