"""People: log-ins, players with their jurisdiction, staff with their roles."""

from typing import ClassVar

from django.apps import apps
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.functions import RandomUUID
from django.db import models, transaction
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy as _


class UserManager(BaseUserManager["User"]):
    """Makes log-ins; an e-mail address is kept in lower case, so that one person has one."""

    @transaction.atomic
    def create_user(
        self, email: str, password: str | None = None, *, verified: bool = False, **fields: object
    ) -> "User":
        """Store a log-in with its hashed *password* (None: cannot log in), and its address in allauth's table too,
        which keeps whether it is *verified*.
        """
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        addresses = apps.get_model("account", "EmailAddress").objects.using(self._db)
        addresses.create(user=user, email=user.email, primary=True, verified=verified)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        """Find a log-in by its e-mail address, however it is capitalised."""
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser, PermissionsMixin):
    """A log-in: an e-mail address and a password. What it is for, a `Player` or a `Staff` row says."""

    email = models.EmailField(_("E-mail address"), unique=True)
    language = models.CharField(max_length=2, default="en")
    is_active = models.BooleanField(default=True)
    is_demo = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    objects: ClassVar[UserManager] = UserManager()

    EMAIL_FIELD = "email"
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="players_user_email_lower"),
            # Rights come by roles, which two people give.
            models.CheckConstraint(condition=models.Q(is_superuser=False), name="players_user_no_superuser"),
        ]

    def __str__(self) -> str:
        return self.email


class LimitsAsked(models.TextChoices):
    """What becomes of deposit limits before the first game."""

    REQUIRED = "required"  # nobody plays without all of them
    OFFERED = "offered"  # asked once, before the first game
    PROMPTED = "prompted"  # asked once, at registration or the first deposit


class Jurisdiction(models.Model):
    """Where a player plays under the law of: data, read by all, changed by migration only.

    Where each figure comes from stands in ``docs/national-rules.md``.
    """

    code = models.CharField(max_length=2, primary_key=True)
    language = models.CharField(max_length=2)
    currencies = models.JSONField()  # the first one is offered first
    minimum_age = models.PositiveSmallIntegerField()  # whole years
    time_zone = models.CharField(max_length=40)  # where its days, weeks and months begin
    deposit_limits = models.CharField(max_length=10, choices=LimitsAsked)
    deposit_periods = models.JSONField()  # the periods that are asked for: "day", "week", "month"
    highest_month_deposit = models.BigIntegerField(null=True)  # minor units of the first currency; None: no such law
    raise_after_hours = models.PositiveSmallIntegerField()  # how long a looser limit waits
    raise_after_period = models.BooleanField()  # and not before the running period ends
    contact_above_month = models.BigIntegerField(null=True)  # minor units: above it staff get in touch
    pause_hours = models.PositiveSmallIntegerField()
    pause_asks = models.BooleanField()  # whether the pause button may ask before it pauses
    exclusion_days = models.PositiveSmallIntegerField()  # the shortest self-exclusion
    permanent_days = models.PositiveSmallIntegerField()  # after which a permanent one may be reopened on request
    may_cancel_withdrawals = models.BooleanField()  # whether a player may take one back into play
    may_play_in_parallel = models.BooleanField()  # at more than one table at a time
    complaint_days = models.PositiveSmallIntegerField()  # within which a complaint is decided
    reopen_days = models.PositiveSmallIntegerField()  # within which a player may have one opened again

    class Meta:
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.code


class Player(models.Model):
    """Someone who plays: one jurisdiction and one currency, for good."""

    user = models.OneToOneField(User, models.PROTECT)
    jurisdiction = models.ForeignKey(Jurisdiction, models.PROTECT, db_index=False)
    currency = models.CharField(max_length=3)
    birth_date = models.DateField()
    is_remote = models.BooleanField(default=False, db_default=False)  # plays with an operator's wallet, for good

    class Meta:
        default_permissions = ("view",)
        indexes = [models.Index(fields=["jurisdiction", "-id"], name="players_player_where")]

    def __str__(self) -> str:
        return f"player:{self.pk}"


class Agreement(models.Model):
    """A player's agreement to one version of the terms (GLI-19 v3.0, 2.8.5)."""

    player = models.ForeignKey(Player, models.PROTECT)
    terms_version = models.CharField(max_length=20)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        constraints = [models.UniqueConstraint(fields=["player", "terms_version"], name="players_agreement_once")]


class Staff(models.Model):
    """Someone who works here. Roles are groups of permissions, kept as data.

    ``person`` is the human: whoever has two accounts is one person, and never a second pair of eyes to themselves.
    """

    user = models.OneToOneField(User, models.PROTECT)
    name = models.CharField(max_length=120)
    person = models.UUIDField(db_default=RandomUUID())

    class Meta:
        default_permissions = ()
        permissions = [
            ("work", "Can enter the back office"),
            ("ask_staff", "Can ask for changes of staff"),
            ("decide_staff", "Can decide changes of staff"),
        ]

    def __str__(self) -> str:
        return f"staff:{self.pk}"
