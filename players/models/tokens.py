"""API tokens, and stored answers of API calls by idempotency key."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from audit.models import Clock
from players.models.people import User
from players.models.sessions import Session


class Scope(models.TextChoices):
    """Scopes of tokens: the first three for players, the others for staff."""

    READ = "read"
    PLAY = "play"
    LIMITS = "limits"
    EVENTS = "events"
    ROUNDS = "rounds"
    REPORTS = "reports"
    CHECKPOINTS = "checkpoints"


class ApiToken(models.Model):
    """An API token of a player or staff member. Only its hash is stored."""

    user = models.ForeignKey(User, models.PROTECT, db_index=False, related_name="tokens")
    name = models.CharField(max_length=60)
    start = models.CharField(max_length=14)  # of the key, to recognise the token
    digest = models.BinaryField(unique=True)  # SHA-256 of the key
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope))
    per_minute = models.PositiveIntegerField()  # calls per minute
    made_at = models.DateTimeField(db_default=Clock())
    ends_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)  # up to `players.login.sessions.LAG` behind
    used_from = models.CharField(max_length=45, blank=True)  # IP address; "" once erased
    revoked_at = models.DateTimeField(null=True)
    session = models.ForeignKey(Session, models.PROTECT, null=True, db_index=False, related_name="+")

    class Meta:
        db_table = "players_api_token"
        default_permissions = ()
        permissions = [("use_tokens", "Can give tokens to programs")]
        indexes = [models.Index(fields=["user", "-id"], name="players_api_token_of")]

    def __str__(self) -> str:
        return f"token:{self.pk}"


class ApiCall(models.Model):
    """A call that changed something, and its answer. The same idempotency key gets the same answer."""

    token = models.ForeignKey(ApiToken, models.PROTECT, db_index=False, related_name="+")
    key = models.CharField(max_length=100)  # idempotency key, chosen by the client
    request_hash = models.BinaryField()  # SHA-256 of method, path and body
    status = models.PositiveSmallIntegerField()
    body = models.TextField()  # JSON, as it was sent
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_api_call"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["token", "key"], name="players_api_call_once")]
        indexes = [models.Index(fields=["at"], name="players_api_call_at")]
