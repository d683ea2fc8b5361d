"""Who hears that something is wrong with the event log: whoever may read it."""

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
    """Write to everybody whose role reads the event log, as part of the current transaction."""
    for user in readers():
        mail.write_to_staff(user=user, template=TEMPLATES[kind], context={"data": data})


def readers() -> list[User]:
    """Return the staff whose roles let them read the event log."""
    return list(
        User.objects.filter(
            is_active=True,
            staff__isnull=False,
            groups__permissions__codename="view_event",
            groups__permissions__content_type__app_label="audit",
        )
        .distinct()
        .order_by("pk")
    )
