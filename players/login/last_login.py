"""Message after a log-in: time of the last log-in and number of failed attempts since then."""

from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from audit.models import Event
from players.datetime_format import written_day, written_time
from players.login.current_user import actor_of, player_of
from players.models import User

FAILED = "login.failed"


def tell(request: HttpRequest, user: User) -> None:
    """Add the message to the next page, in the user's language. Call it before the log-in is recorded.

    A first log-in has no message.
    """
    if user.last_login:
        with override(user.language):
            messages.info(request, sentence(user, user.last_login))


def sentence(user: User, last: datetime) -> str:
    """Return the message: the time of the last log-in and the failures since then."""
    player = player_of(user)
    zone = player.jurisdiction.time_zone if player else "UTC"
    with timezone.override(zone):
        when = {"day": written_day(last, user.language), "time": written_time(last, user.language), "zone": zone}
    told = _("Last log-in: %(day)s, %(time)s (%(zone)s).") % when
    failures = Event.objects.filter(kind=FAILED, on=actor_of(user), at__gt=last).count()
    if not failures:
        return told
    since = ngettext("%d failed attempt since then.", "%d failed attempts since then.", failures)
    return f"{told} {since % failures}"
