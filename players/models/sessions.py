"""Log-in sessions, log-in locks and account locks."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import MD5, Now

from audit.models import Clock
from players.models.people import Player, Staff, User


class AccountLock(models.Model):
    """An account lock by staff, or its removal. A player's newest row holds.

    Rows are inserted and never changed.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    at = models.DateTimeField(db_default=Clock())
    locks = models.BooleanField()
    reason = models.CharField(max_length=500)
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False)

    class Meta:
        default_permissions = ()
        permissions = [("lock_player", "Can lock accounts of players, and open them")]
        constraints = [models.CheckConstraint(condition=~models.Q(reason=""), name="players_accountlock_reason")]
        indexes = [models.Index(fields=["player", "-id"], name="players_accountlock_of")]


class LogInLock(models.Model):
    """Wrong passwords for one e-mail address, whether or not an account has it (GLI-19 v3.0, 2.5.3).

    ``name`` is a keyed hash of the address, so that the table is not a list of addresses. All times
    are the database's.
    """

    name = models.CharField(max_length=64, primary_key=True)
    tries = ArrayField(models.DateTimeField())  # an attempt counts before the password is checked
    locked_at = models.DateTimeField(null=True)
    code_hash = models.CharField(max_length=64, blank=True, db_default="")  # of the last mailed code
    code_ends_at = models.DateTimeField(null=True)
    code_tries = models.PositiveSmallIntegerField(db_default=0)
    codes_sent = ArrayField(models.DateTimeField(), db_default=[])

    class Meta:
        db_table = "players_log_in_lock"
        default_permissions = ()


class Ended(models.TextChoices):
    """Reasons for the end of a session."""

    LOGGED_OUT = "logged out"
    IDLE = "timed out"
    ELSEWHERE = "ended from another session"
    PASSWORD = "password changed"  # noqa: S105  (a reason, no password)
    CLOSED = "account closed"
    HOUSE = "ended by the house"
    REVOKED = "token revoked"


class Session(models.Model):
    """A log-in at one browser, or a period of API calls without a longer pause.

    Rounds and events refer to its id, which Django's session or the API token holds.
    """

    id = models.UUIDField(primary_key=True)
    user = models.ForeignKey(User, models.PROTECT)
    ip = models.CharField(max_length=45)  # "" once erased
    browser = models.CharField(max_length=300)  # User-Agent; "program: …" for API clients; "" once erased
    began_at = models.DateTimeField(db_default=Now())
    acted_at = models.DateTimeField(db_default=Now())  # last action; up to `players.login.sessions.LAG` behind
    ended_at = models.DateTimeField(null=True)
    why = models.CharField(max_length=30, choices=Ended, default="")

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["acted_at"], condition=models.Q(ended_at=None), name="players_session_running"),
            models.Index(fields=["user", "-began_at", "-id"], name="players_session_of"),
            models.Index(fields=["-began_at", "-id"], name="players_session_newest"),
            # Staff search players by these.
            models.Index(fields=["ip", "user"], condition=~models.Q(ip=""), name="players_session_ip"),
            models.Index(MD5("browser"), "user", condition=~models.Q(browser=""), name="players_session_browser"),
        ]
