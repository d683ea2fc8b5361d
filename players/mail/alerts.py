"""Mail alerts to staff: about significant events, and about the event log.

One mail about significant events collects several alerts; the next follows after at least `PAUSE`.
It says only kinds and counts. Players and amounts are shown only in the back office.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from django.db import connection, transaction

from audit.log import Json
from audit.models import Category, Clock, Significant, Weight
from audit.significant import workflow
from players import mail
from players.models import User

TEMPLATES = {
    "log.refused": "log_refused",
    "log.accepted": "log_signed_again",
    "log.lags": "log_lags",
    "log.caught_up": "log_signed_again",
}


def mail_alert(kind: str, data: Mapping[str, Json]) -> None:
    """Mail an alarm to all staff who may read the event log, in the current transaction."""
    for user in holders("audit.view_event"):
        mail.write_to_staff(user=user, template=TEMPLATES[kind], context={"data": data})


def holders(permission: str) -> list[User]:
    """Return the active staff whose roles have a permission (``app.codename``)."""
    app, _dot, codename = permission.partition(".")
    return list(
        User.objects.filter(
            is_active=True,
            staff__isnull=False,
            groups__permissions__codename=codename,
            groups__permissions__content_type__app_label=app,
        )
        .select_related("staff")
        .distinct()
        .order_by("pk")
    )


PAUSE: Final = timedelta(minutes=5)  # between two mails
MOST: Final = 1000  # alerts per mail
LOCK: Final = 1021  # advisory lock, so that only one worker mails


@transaction.atomic
def mail_alerts() -> int:
    """Mail the alerts that have not been mailed, at most once per `PAUSE`. Return the number of alerts.

    An advisory lock prevents two workers from mailing the same alerts. Staff who muted a category
    get no alerts of it.
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
    for user in holders(workflow.PERMISSION):
        unwanted = workflow.muted(str(user.staff))
        lines = [
            (category.label, title, count) for (category, title), count in counted.items() if category not in unwanted
        ]
        if lines:
            count = sum(number for _category, _title, number in lines)
            mail.write_to_staff(user=user, template="significant", context={"lines": lines, "count": count})
    return len(found)
