"""Users, players, jurisdictions, agreements and staff."""

from typing import ClassVar

from django.apps import apps
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.functions import RandomUUID
from django.db import models, transaction
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy as _


class UserManager(BaseUserManager["User"]):
    """Creates users. E-mail addresses are stored in lower case, so that each is unique."""

    @transaction.atomic
    def create_user(
        self, email: str, password: str | None = None, *, verified: bool = False, **fields: object
    ) -> "User":
        """Store a user with a hashed *password* (None: cannot log in) and allauth's row of the address.

        allauth's row says whether the address is *verified*.
        """
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        addresses = apps.get_model("account", "EmailAddress").objects.using(self._db)
        addresses.create(user=user, email=user.email, primary=True, verified=verified)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        """Return the user with this e-mail address, ignoring case."""
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser, PermissionsMixin):
    """A log-in: e-mail address and password. A `Player` or `Staff` row says who it belongs to."""

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
            # Permissions come from roles, which two people grant.
            models.CheckConstraint(condition=models.Q(is_superuser=False), name="players_user_no_superuser"),
        ]

    def __str__(self) -> str:
        return self.email


class LimitsAsked(models.TextChoices):
    """Whether and when a player is asked for deposit limits."""

    REQUIRED = "required"  # before play, all of them must be set
    OFFERED = "offered"  # asked once, before the first game
    PROMPTED = "prompted"  # asked once, at registration or the first deposit


class Jurisdiction(models.Model):
    """Rules of a jurisdiction. Read by all apps, changed by migrations only.

    ``docs/national-rules.md`` gives the source of each figure.
    """

    code = models.CharField(max_length=2, primary_key=True)
    language = models.CharField(max_length=2)
    currencies = models.JSONField()  # the first one is the default
    minimum_age = models.PositiveSmallIntegerField()  # whole years
    time_zone = models.CharField(max_length=40)  # defines its days, weeks and months
    deposit_limits = models.CharField(max_length=10, choices=LimitsAsked)
    deposit_periods = models.JSONField()  # the required or offered periods: "day", "week", "month"
    highest_month_deposit = models.BigIntegerField(null=True)  # minor units of the first currency; None: no such law
    raise_after_hours = models.PositiveSmallIntegerField()  # delay before a looser limit takes effect
    raise_after_period = models.BooleanField()  # and not before the current period ends
    contact_above_month = models.BigIntegerField(null=True)  # minor units: above it, staff contact the player
    pause_hours = models.PositiveSmallIntegerField()
    pause_asks = models.BooleanField()  # whether the pause button may ask for confirmation
    exclusion_days = models.PositiveSmallIntegerField()  # the shortest self-exclusion
    permanent_days = models.PositiveSmallIntegerField()  # after which a permanent one may be lifted on request
    may_cancel_withdrawals = models.BooleanField()  # whether a player may cancel a withdrawal
    may_play_in_parallel = models.BooleanField()  # at more than one table at a time
    complaint_days = models.PositiveSmallIntegerField()  # deadline for deciding a complaint
    reopen_days = models.PositiveSmallIntegerField()  # period in which a player may reopen a complaint

    class Meta:
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.code


class Player(models.Model):
    """A player: one jurisdiction and one currency, permanently."""

    user = models.OneToOneField(User, models.PROTECT)
    jurisdiction = models.ForeignKey(Jurisdiction, models.PROTECT, db_index=False)
    currency = models.CharField(max_length=3)
    birth_date = models.DateField()
    is_remote = models.BooleanField(default=False, db_default=False)  # plays with an operator wallet, permanently

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
    """A staff account. Roles are groups of permissions, stored as data.

    ``person`` identifies the human. A person with two accounts cannot approve their own requests.
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
