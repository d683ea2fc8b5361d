"""Sessions: from a log-in to its end, whatever ends it."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import MD5, Now

from audit.models import Clock
from players.models.people import Player, Staff, User


class AccountLock(models.Model):
    """A member of staff locked an account, or opened it again: the newest row of a player says which holds.

    Rows are added and never changed.
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
    """The passwords tried for one name that were not right, whether or not anybody has it (GLI-19 v3.0, 2.5.3).

    ``name`` is a keyed hash of the e-mail address, so that the table is no list of addresses. All times are the
    database's.
    """

    name = models.CharField(max_length=64, primary_key=True)
    tries = ArrayField(models.DateTimeField())  # a try counts from before the password is looked at
    locked_at = models.DateTimeField(null=True)
    code_hash = models.CharField(max_length=64, blank=True, db_default="")  # of the code that was mailed last
    code_ends_at = models.DateTimeField(null=True)
    code_tries = models.PositiveSmallIntegerField(db_default=0)
    codes_sent = ArrayField(models.DateTimeField(), db_default=[])

    class Meta:
        db_table = "players_log_in_lock"
        default_permissions = ()


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
