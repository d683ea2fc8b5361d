"""Messages to players about decisions of staff in the chat, in the active language.

They give the reason by its kind only, and times in the player's time zone.
"""

from datetime import datetime

from django.utils.translation import gettext as _

from games.models import Grounds
from players.datetime_format import written_until
from players.models import Player


def because(grounds: str) -> str:
    """Return the reason as a sentence. Notes of staff are not shown to the player."""
    return _("Reason: %(why)s.") % {"why": reason(grounds)}


def reason(grounds: str) -> str:
    """Return the reason, to follow a colon."""
    return {
        Grounds.ABUSE.value: _("insults or threats"),
        Grounds.SPAM.value: _("the same again and again"),
        Grounds.ADVERTISING.value: _("begging, selling or advertising"),
        Grounds.PRIVATE.value: _("somebody’s private details"),
        Grounds.CHEATING.value: _("playing together against others"),
        Grounds.IMPOSTOR.value: _("passing for somebody else"),
        Grounds.OTHER.value: _("something that is not wanted in the chat"),
    }[grounds]


def removed(table: str) -> str:
    """Return the message that a message of the reader was removed at a table."""
    return _("We have removed a message that you wrote in the chat of the table %(table)s.") % {"table": table}


def banned(until: datetime | None, player: Player) -> str:
    """Return the message that a player may not write at any table."""
    return _("You cannot write in any chat %(until)s. You can read it.") % {
        "until": written_until(until, player.jurisdiction.time_zone)
    }


def muted(table: str, until: datetime | None, player: Player) -> str:
    """Return the message that a player may not write at one table."""
    words = _("You cannot write in the chat of the table %(table)s %(until)s. You can read it.")
    return words % {"table": table, "until": written_until(until, player.jurisdiction.time_zone)}


def nameless() -> str:
    """Return the message that a name was taken away."""
    return _("We have taken your name in the chat away. Choose another one before you write again.")
