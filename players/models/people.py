"""Models of users, players, staff and jurisdictions, with agreements, sessions, tokens, mail, staff
changes, notices, search words, notes, what staff keep of their lists, and scheduled reports.

Notes are inserted and never changed (``sql/functions/notes.sql``). They are erased together with
the player's data.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, ClassVar

from django.apps import apps
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import Group, PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models, transaction
from django.db.models.functions import MD5, Lower, Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from audit.models import Approval, Clock, Report
from players import encryption


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


CHANGEABLE = ("password", "email", "last_login", "language")  # as in `ops.privileges`


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

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        """Write only the columns that web and workers may change, unless the user is new."""
        if update_fields is None and not self._state.adding:
            update_fields = CHANGEABLE
        super().save(*args, update_fields=update_fields, **kwargs)


class LimitsAsked(models.TextChoices):
    """Rule for asking a player for deposit limits."""

    REQUIRED = "required", pgettext_lazy("limits asked", "Required")  # before play, all of them must be set
    OFFERED = "offered", pgettext_lazy("limits asked", "Offered")  # asked once, before the first game
    PROMPTED = "prompted", pgettext_lazy("limits asked", "Prompted")  # asked once, at registration or the first deposit


class Jurisdiction(models.Model):
    """Rules of a jurisdiction, read by all apps. Two people change a rule (`players.protection.national_rules`).

    Each field is a row of the back office's page and of ``docs/national-rules.md``: its verbose name
    is the rule, its help text the unit. A `BigIntegerField` holds minor units of the first currency,
    and None means that there is no such rule.
    """

    code = models.CharField(max_length=2, primary_key=True)
    language = models.CharField(_("default language"), max_length=2)
    currencies = models.JSONField(_("currencies, default first"))
    minimum_age = models.PositiveSmallIntegerField(_("minimum age"), help_text=_("years"))
    time_zone = models.CharField(_("time zone for days, weeks (from Monday) and months"), max_length=40)
    deposit_limits = models.CharField(_("deposit limits before play"), max_length=10, choices=LimitsAsked)
    deposit_periods = models.JSONField(_("periods of deposit limits"))  # "day", "week", "month"
    highest_month_deposit = models.BigIntegerField(_("maximum deposits per month"), null=True)
    raise_after_hours = models.PositiveSmallIntegerField(_("waiting period for a higher limit"), help_text="h")
    raise_after_period = models.BooleanField(_("a higher limit also waits for the end of the current period"))
    contact_above_month = models.BigIntegerField(_("staff contact the player when monthly deposits exceed"), null=True)
    pause_hours = models.PositiveSmallIntegerField(_("pause button"), help_text="h")
    pause_asks = models.BooleanField(_("the pause button asks for confirmation"))
    exclusion_days = models.PositiveSmallIntegerField(_("shortest self-exclusion"), help_text=_("days"))
    permanent_days = models.PositiveSmallIntegerField(
        _("a permanent self-exclusion can be lifted after"), help_text=_("days")
    )
    may_cancel_withdrawals = models.BooleanField(_("a player can cancel a withdrawal"))
    may_play_in_parallel = models.BooleanField(_("play at several tables at once"))
    may_show_tables_together = models.BooleanField(_("several tables in one window"))
    complaint_days = models.PositiveSmallIntegerField(_("a complaint is decided within"), help_text=_("days"))
    reopen_days = models.PositiveSmallIntegerField(_("a complaint can be reopened for"), help_text=_("days"))
    seconds_between_games = models.PositiveSmallIntegerField(
        _("minimum time between the starts of real-money games"), help_text="s"
    )
    may_hurry_results = models.BooleanField(_("a player can skip to the result"))
    api_clients_may_play = models.BooleanField(_("API clients can play for real money"))
    asks_licence = models.BooleanField(_("real-money play requires a licence of a German state"))
    licence = models.CharField(max_length=120, default="", db_default="", blank=True)  # `settings.LAND_LICENCE`
    limit_reminder_days = models.PositiveSmallIntegerField(
        _("reminder to review limits every"), null=True, help_text=_("days")
    )
    identity_before_play = models.BooleanField(_("identity must be confirmed before real-money play"))
    credit_forbidden = models.BooleanField(
        _("deposits by credit are forbidden")
    )  # credit card, invoice, deferred payment
    raise_confirmed = models.BooleanField(_("a higher limit must be confirmed after the waiting period"))

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(minimum_age__gte=18),
                name="players_jurisdiction_adults",
                violation_error_message="Players must be at least 18 years old.",
            ),
            models.CheckConstraint(
                condition=models.Q(deposit_limits__in=["required", "offered", "prompted"])
                & models.Q(deposit_periods__contained_by=["day", "week", "month"])
                & ~models.Q(deposit_periods=[]),
                name="players_jurisdiction_limits",
                violation_error_message="The periods are day, week and month, at least one of them.",
            ),
            models.CheckConstraint(  # GLI-19 v3.0, A.3.8
                condition=models.Q(raise_after_hours__gte=24),
                name="players_jurisdiction_waits",
                violation_error_message="A looser limit waits at least 24 hours.",
            ),
            models.CheckConstraint(
                condition=models.Q(highest_month_deposit__gt=0) | models.Q(highest_month_deposit=None),
                name="players_jurisdiction_highest",
                violation_error_message="The amount must be more than zero.",
            ),
            models.CheckConstraint(
                condition=models.Q(contact_above_month__gt=0) | models.Q(contact_above_month=None),
                name="players_jurisdiction_contact",
                violation_error_message="The amount must be more than zero.",
            ),
            models.CheckConstraint(
                condition=models.Q(pause_hours__gte=1, exclusion_days__gte=1, complaint_days__gte=1),
                name="players_jurisdiction_lasts",
                violation_error_message="The time must be more than zero.",
            ),
            models.CheckConstraint(
                condition=models.Q(permanent_days__gte=models.F("exclusion_days")),
                name="players_jurisdiction_permanent",
                violation_error_message="A permanent exclusion is not reopened before the shortest one ends.",
            ),
            models.CheckConstraint(
                condition=models.Q(limit_reminder_days__gt=0) | models.Q(limit_reminder_days=None),
                name="players_jurisdiction_reminders",
                violation_error_message="The time must be more than zero.",
            ),
        ]

    def __str__(self) -> str:
        return self.code


class RuleSource(models.TextChoices):
    """Source of a national rule: the marks of ``docs/national-rules.md``."""

    READ = "R", _("from the text of the rule")
    SECOND_HAND = "S", _("second-hand, from summaries")
    CHOICE = "c", pgettext_lazy("rule source", "our choice")


class NationalRuleChange(models.Model):
    """A rule of a jurisdiction, as it was shipped (without approval) or as two people changed it.

    The newest row of a rule has its source; a rule without a row is our choice. Only
    `players_change_national_rule` inserts rows, and they are never changed.
    """

    jurisdiction = models.ForeignKey(Jurisdiction, models.PROTECT, db_index=False)
    rule = models.CharField(max_length=40)  # a field of `Jurisdiction`
    before = models.JSONField(null=True)  # None without approval
    after = models.JSONField()
    source = models.CharField(max_length=1, choices=RuleSource)
    approval = models.OneToOneField(Approval, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_national_rule_change"
        default_permissions = ()
        permissions = [
            ("ask_national_rules", "Can request changes of national rules"),
            ("decide_national_rules", "Can decide changes of national rules"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(source__in=["R", "S", "c"]), name="players_national_rule_change_source"
            ),
        ]
        indexes = [models.Index(fields=["jurisdiction", "rule", "-id"], name="players_national_rule_newest")]

    def __str__(self) -> str:
        return f"rule:{self.jurisdiction_id}:{self.rule}"


class Player(models.Model):
    """A player: one jurisdiction and one currency, permanently."""

    user = models.OneToOneField(User, models.PROTECT)
    jurisdiction = models.ForeignKey(Jurisdiction, models.PROTECT, db_index=False)
    currency = models.CharField(max_length=3)
    birth_date = models.DateField()
    uses_operator_wallet = models.BooleanField(
        default=False, db_default=False
    )  # plays with an operator wallet, permanently

    class Meta:
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["jurisdiction", "id"], name="players_player_where"),
            models.Index(fields=["currency", "id"], name="players_player_currency"),
        ]

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
            ("ask_staff", "Can request changes to staff accounts"),
            ("decide_staff", "Can decide changes to staff accounts"),
        ]

    def __str__(self) -> str:
        return f"staff:{self.pk}"


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
        permissions = [("lock_player", "Can lock and unlock player accounts")]
        constraints = [models.CheckConstraint(condition=~models.Q(reason=""), name="players_accountlock_reason")]
        indexes = [models.Index(fields=["player", "-id"], name="players_accountlock_of")]


class BorrowedMoney(models.Model):
    """A mark by staff that a player deposits borrowed money, or its removal by two people.

    A player's newest row holds. Rows are inserted and never changed.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    at = models.DateTimeField(db_default=Clock())
    is_marked = models.BooleanField()
    reason = models.CharField(max_length=500)
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False)
    approval = models.ForeignKey(Approval, models.PROTECT, null=True, db_index=False)  # of the removal

    class Meta:
        db_table = "players_borrowed_money"
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=~models.Q(reason=""), name="players_borrowed_money_reason")]
        indexes = [models.Index(fields=["player", "-id"], name="players_borrowed_money_of")]


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

    LOGGED_OUT = "logged out", pgettext_lazy("session ended", "logged out")
    IDLE = "timed out", pgettext_lazy("session ended", "timed out")
    ELSEWHERE = "ended from another session", pgettext_lazy("session ended", "ended from another session")
    PASSWORD = "password changed", pgettext_lazy("session ended", "password changed")
    CLOSED = "account closed", pgettext_lazy("session ended", "account closed")
    HOUSE = "ended by the house", pgettext_lazy("session ended", "ended by the house")
    REVOKED = "token revoked", pgettext_lazy("session ended", "token revoked")


class Session(models.Model):
    """A log-in at one browser, or a period of API calls without a longer pause.

    Rounds and events refer to its id, which Django's session or the API token holds.
    """

    id = models.UUIDField(primary_key=True)
    user = models.ForeignKey(User, models.PROTECT)
    ip = models.CharField(max_length=45)  # "" once erased
    browser = models.CharField(max_length=300)  # User-Agent; "API client: …" for API clients; "" once erased
    began_at = models.DateTimeField(db_default=Now())
    acted_at = models.DateTimeField(db_default=Now())  # last action; up to `players.login.who_asks.LAG` behind
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


class BrowserSession(AbstractBaseSession):
    """Server-side data of a browser's session cookie, under a digest of the cookie's key.

    *log_in* is the `Session` that the data names too, so that one statement reads both.
    """

    log_in = models.UUIDField(null=True)

    class Meta:
        default_permissions = ()


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
    """An API token of a player or staff member. Only its hash is stored.

    A token that a call brought (`players.login.who_asks.by_token`) also has *owner*, None where the account is
    closed or locked, *unused_for*, the time since its last use, and *state*, that of its session.
    """

    owner: User | None = None
    unused_for: timedelta | None = None
    state: Any = None

    user = models.ForeignKey(User, models.PROTECT, db_index=False, related_name="tokens")
    name = models.CharField(max_length=60)
    start = models.CharField(max_length=14)  # of the key, to recognise the token
    digest = models.BinaryField(unique=True)  # SHA-256 of the key
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope))
    per_minute = models.PositiveIntegerField()  # calls per minute
    made_at = models.DateTimeField(db_default=Clock())
    ends_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)  # up to `players.login.who_asks.LAG` behind
    used_from = models.CharField(max_length=45, blank=True)  # IP address; "" once erased
    revoked_at = models.DateTimeField(null=True)
    session = models.ForeignKey(Session, models.PROTECT, null=True, db_index=False, related_name="+")

    class Meta:
        db_table = "players_api_token"
        default_permissions = ()
        permissions = [("use_tokens", "Can create API tokens")]
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


class ClosureState(models.TextChoices):
    """State of a closure. An account without a row is open."""

    # no play, no deposits; the balance is being paid out
    CLOSING = "closing", pgettext_lazy("closure state", "Closing")
    CLOSED = "closed", pgettext_lazy("closure state", "Closed")  # paid out, except for late payments; nobody can log in
    ERASED = "erased", pgettext_lazy("closure state", "Erased")  # the personal data is erased


class Closure(models.Model):
    """One step of closing an account. The newest row holds; rows are inserted and never changed."""

    player = models.ForeignKey(Player, models.PROTECT)
    state = models.CharField(max_length=10, choices=ClosureState)
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        constraints = [models.UniqueConstraint(fields=["player", "state"], name="players_closure_once")]
        indexes = [
            models.Index(fields=["state", "-id"], name="players_closure_state"),
            models.Index(fields=["state", "-player"], name="players_closure_whose"),
        ]


class Mail(models.Model):
    """One mail. Its text is encrypted, because it may hold a code, and in production erased after sending."""

    user = models.ForeignKey(User, models.PROTECT, null=True)  # None: to an address without a user
    address = models.EmailField()
    language = models.CharField(max_length=2)
    template = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    sealed_body = models.BinaryField(default=b"")  # as `players.encryption.seal_mail` writes it; empty: erased
    written_at = models.DateTimeField(db_default=Now())
    next_try_at = models.DateTimeField(null=True, db_default=Now())  # None: sent, or given up
    attempts = models.PositiveSmallIntegerField(default=0)
    last_error = models.CharField(max_length=200, blank=True)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "players_mail"
        default_permissions = ()
        indexes = [
            models.Index(
                fields=["next_try_at"], condition=models.Q(next_try_at__isnull=False), name="players_mail_due"
            ),
            models.Index(fields=["address", "id"], name="players_mail_address"),
            models.Index(
                fields=["-id"], condition=models.Q(sent_at=None, next_try_at=None), name="players_mail_given_up"
            ),
        ]

    def __str__(self) -> str:
        return f"mail:{self.pk}"

    @property
    def body(self) -> str:
        """The text. Raises cryptography's InvalidTag where no key opens it, or it was moved to another row."""
        return encryption.unseal_mail(self.address, self.template, bytes(self.sealed_body)) if self.sealed_body else ""

    @body.setter
    def body(self, text: str) -> None:
        self.sealed_body = encryption.seal_mail(self.address, self.template, text) if text else b""


class Notice(models.Model):
    """A maintenance notice.

    It is shown from ``shown_from`` until ``shown_until`` and announces work from ``begins_at`` to
    ``ends_at``. Its text contains the placeholder `players.staff.notices.WHEN`, which is replaced
    by those times in the reader's time zone.
    """

    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    shown_from = models.DateTimeField()
    shown_until = models.DateTimeField()
    texts = models.JSONField()  # the text in each language
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False, related_name="+")
    at = models.DateTimeField(db_default=Clock())
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.ForeignKey(Staff, models.PROTECT, null=True, db_index=False, related_name="+")
    reason = models.CharField(max_length=300, blank=True)  # of the withdrawal

    class Meta:
        db_table = "players_notice"
        default_permissions = ()
        permissions = [("publish_notices", "Can publish and withdraw notices")]

    def __str__(self) -> str:
        return f"notice:{self.pk}"


class ApprovalNotification(models.Model):
    """An approval that was requested or ended, not yet mailed. The row is deleted after mailing.

    It is a queue and not a high-water mark, because transactions commit in a different order than
    they began.
    """

    approval = models.ForeignKey(Approval, models.PROTECT, db_index=False)
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_approval_notification"
        default_permissions = ()


class StaffAction(models.TextChoices):
    """Actions on staff accounts that take two people. The value is the kind of the approval."""

    MAKE = "staff.make", pgettext_lazy("staff action", "account created")
    ROLES = "staff.roles", pgettext_lazy("staff action", "roles changed")
    SUSPEND = "staff.suspend", pgettext_lazy("staff action", "account suspended")
    DISABLE = "staff.disable", pgettext_lazy("staff action", "account disabled")
    ENABLE = "staff.enable", pgettext_lazy("staff action", "account enabled")
    FACTORS = "staff.factors", _("second factors reset")


class StaffChange(models.Model):
    """A change of one staff account.

    ``before`` and ``after`` hold activity, roles and number of second factors. ``approval`` is None
    if the database owner created the account by command. A suspension has two rows with the same
    approval: when it begins, and when a second person confirms or refuses it. Only
    ``sql/functions/staff.sql`` writes rows, in the transaction of the change; triggers refuse a change of
    a staff account without a row here.
    """

    user = models.ForeignKey(User, models.PROTECT)
    approval = models.ForeignKey(Approval, models.PROTECT, null=True, db_index=False)
    kind = models.CharField(max_length=20, choices=StaffAction)
    before = models.JSONField()
    after = models.JSONField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_staff_change"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["approval", "kind"], name="players_staff_change_once")]


LONGEST_NOTE = 2000  # characters


class Note(models.Model):
    """A note by staff about a player, for other staff; "" once erased.

    Only staff who handle significant events read a *restricted* note: suspicion under
    anti-money-laundering law must reach nobody else, least of all the player.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False)
    at = models.DateTimeField(db_default=Clock())
    text = models.CharField(max_length=LONGEST_NOTE)
    restricted = models.BooleanField(default=False)

    class Meta:
        default_permissions = ()
        permissions = [("note_players", "Can read and write notes about players")]
        indexes = [models.Index(fields=["player", "-id"], name="players_note_of")]


class Tag(models.Model):
    """A tag that players can have. Compliance keeps the list; a tag off it stays where it was given."""

    name = models.CharField(max_length=30)
    made_at = models.DateTimeField(db_default=Clock())
    retired_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["name"], condition=models.Q(retired_at=None), name="players_tag_once")
        ]

    def __str__(self) -> str:
        return f"tag:{self.pk}"


class PlayerTag(models.Model):
    """A tag of a player, from *at* until *removed_at*. Only ``players_tag_player`` writes it."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    tag = models.ForeignKey(Tag, models.PROTECT, db_index=False)
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False)
    at = models.DateTimeField(db_default=Clock())
    removed_at = models.DateTimeField(null=True)
    removed_by = models.ForeignKey(Staff, models.PROTECT, null=True, db_index=False, related_name="+")

    class Meta:
        db_table = "players_player_tag"
        default_permissions = ()
        indexes = [models.Index(fields=["player", "-id"], name="players_player_tag_of")]
        constraints = [
            models.UniqueConstraint(
                fields=["player", "tag"], condition=models.Q(removed_at=None), name="players_player_tag_once"
            )
        ]


class WordField(models.TextChoices):
    """Field that a word comes from."""

    NAME = "name"
    ADDRESS = "address"


class SearchWord(models.Model):
    """A word of a player's name or address, normalised (`players.identity.normalise.words`): "muller" for Müller.

    The column has collation "C", so that an index range finds a prefix, whatever the database's
    locale.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    field = models.CharField(max_length=7, choices=WordField)
    word = models.TextField(db_collation="C")

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["player", "field", "word"], name="players_searchword_once")]
        indexes = [models.Index(fields=["field", "word", "player"], name="players_searchword_find")]


class SavedFilter(models.Model):
    """A filter and order of a list under a name, shared with all who have *role* if there is one.

    It belongs to a staff account and a page, by the name of its URL. It holds no text that may
    identify a player (`backoffice.lists.filters.ListForm.query`).
    """

    staff = models.ForeignKey(Staff, models.PROTECT, db_index=False)
    page = models.CharField(max_length=100)
    name = models.CharField(max_length=40)
    query = models.CharField(max_length=1000)
    role = models.ForeignKey(Group, models.PROTECT, null=True, db_index=False)

    class Meta:
        db_table = "players_saved_filter"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["page", "staff", "name"], name="players_saved_filter_name"),
            models.CheckConstraint(
                condition=~models.Q(name="") & ~models.Q(query=""), name="players_saved_filter_said"
            ),
        ]


class ChosenColumns(models.Model):
    """The columns that a staff account sees of a list, in the order of the list."""

    pk = models.CompositePrimaryKey("staff", "page")
    staff = models.ForeignKey(Staff, models.PROTECT, db_index=False)
    page = models.CharField(max_length=100)  # URL name, and the list on it as in events
    columns = ArrayField(models.CharField(max_length=100))

    class Meta:
        db_table = "players_chosen_columns"
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=~models.Q(columns=[]), name="players_chosen_columns_some")]


class Rhythm(models.TextChoices):
    """Frequency of a scheduled report. Each report covers the day, week or month that has just ended."""

    DAILY = "daily", pgettext_lazy("rhythm", "daily")
    WEEKLY = "weekly", pgettext_lazy("rhythm", "weekly")
    MONTHLY = "monthly", pgettext_lazy("rhythm", "monthly")


class Delivery(models.TextChoices):
    """Way in which a scheduled report reaches its reader."""

    MAIL = "mail", _("e-mail with a link")
    FOLDER = "folder", _("files in a folder")


class ScheduleState(models.TextChoices):
    """State of a schedule of reports."""

    ACTIVE = "active", pgettext_lazy("schedule", "active")
    PAUSED = "paused", pgettext_lazy("schedule", "paused")
    ENDED = "ended", pgettext_lazy("schedule", "ended")


class ReportSchedule(models.Model):
    """A schedule of reports of one kind (`audit.reports.kinds`), made for *staff* with their permissions."""

    staff = models.ForeignKey(Staff, models.PROTECT)
    kind = models.TextField()
    rhythm = models.CharField(max_length=7, choices=Rhythm)
    zone = models.TextField()  # IANA time zone in which days begin
    choices = models.JSONField(default=dict)  # what the kind has to choose
    delivery = models.CharField(max_length=6, choices=Delivery)
    state = models.CharField(max_length=6, choices=ScheduleState, default=ScheduleState.ACTIVE)
    next_at = models.DateTimeField()  # end of the interval of the next report
    failure = models.TextField(blank=True, default="")  # why it ended by itself, a sentence for staff

    class Meta:
        db_table = "players_report_schedule"
        default_permissions = ()
        indexes = [
            models.Index(fields=["next_at"], condition=models.Q(state="active"), name="players_report_schedule_due")
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(rhythm__in=Rhythm.values), name="players_report_schedule_rhythm"),
            models.CheckConstraint(
                condition=models.Q(delivery__in=Delivery.values), name="players_report_schedule_delivery"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=ScheduleState.values), name="players_report_schedule_state"
            ),
        ]


class ScheduledReport(models.Model):
    """A report that was requested by a schedule, and its delivery."""

    report = models.OneToOneField(Report, models.PROTECT, primary_key=True)
    schedule = models.ForeignKey(ReportSchedule, models.PROTECT, related_name="reports")
    delivered_at = models.DateTimeField(null=True)  # also when the staff member was notified of a failed report
    failure = models.TextField(blank=True, default="")  # why it was not delivered, a sentence for staff

    class Meta:
        db_table = "players_scheduled_report"
        default_permissions = ()
        indexes = [
            models.Index(fields=["report"], condition=models.Q(delivered_at=None), name="players_scheduled_report_open")
        ]
