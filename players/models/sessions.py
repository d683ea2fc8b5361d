"""Sessions: from a log-in to its end, whatever ends it."""

from django.db import models
from django.db.models.functions import MD5, Now

from players.models.people import User


class Ended(models.TextChoices):
    """Why a session is over."""

    LOGGED_OUT = "logged out"
    IDLE = "timed out"
    ELSEWHERE = "ended from another session"
    PASSWORD = "password changed"  # noqa: S105  (a reason, no password)
    CLOSED = "account closed"
    HOUSE = "ended by the house"
    REVOKED = "token revoked"


class Session(models.Model):
    """One log-in at one browser, or what a program did with a token without a longer break. Rounds and events name it
    by its id, which Django's session holds, or the token.
    """

    id = models.UUIDField(primary_key=True)
    user = models.ForeignKey(User, models.PROTECT)
    ip = models.CharField(max_length=45)  # "" once erased
    browser = models.CharField(max_length=300)  # as it calls itself; "program: …"; "" once erased
    began_at = models.DateTimeField(db_default=Now())
    acted_at = models.DateTimeField(db_default=Now())  # the last action; up to `players.login.sessions.LAG` behind
    ended_at = models.DateTimeField(null=True)
    why = models.CharField(max_length=30, choices=Ended, default="")

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["acted_at"], condition=models.Q(ended_at=None), name="players_session_running"),
            models.Index(fields=["user", "-began_at", "-id"], name="players_session_of"),
            models.Index(fields=["-began_at", "-id"], name="players_session_newest"),
            # What staff find players by.
            models.Index(fields=["ip", "user"], condition=~models.Q(ip=""), name="players_session_ip"),
            models.Index(MD5("browser"), "user", condition=~models.Q(browser=""), name="players_session_browser"),
        ]
