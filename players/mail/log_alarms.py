"""Mail alarms about the event log to staff who may read it."""

from collections.abc import Mapping

from audit.log import Json
from players import mail
from players.models import User

TEMPLATES = {
    "log.refused": "log_refused",
    "log.accepted": "log_signed_again",
    "log.lags": "log_lags",
    "log.caught_up": "log_signed_again",
}


def tell(kind: str, data: Mapping[str, Json]) -> None:
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
