"""Models of player protection: exclusions, limits, reality checks, time played, markers of harm.

Exclusions, lifts, register checks and chosen intervals are inserted and never changed (triggers in
``sql/functions/exclusions.sql``). A longer exclusion is another row; none can be shortened. Limits
are in ``sql/functions/limits.sql``.

A player who reaches a marker of harm has a case (`players.models.service.Case`). Its sightings and contacts are
inserted and never changed (``sql/functions/harm_markers.sql``).
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from audit.models import Clock
from players.models.people import Player, Staff


class ExclusionKind(models.TextChoices):
    """Kinds of exclusion."""

    PAUSE = "pause", _("Pause")  # by the pause button, which is always visible
    TIME_OUT = "time_out", _("Time-out")  # days or weeks, by the player
    SELF = "self", _("Self-exclusion")  # months or permanent, by the player
    STAFF = "staff", _("Exclusion by the casino")


class Exclusion(models.Model):
    """The player may not play from *begun* to *until* (None: permanently).

    The database shifts both by the time that the insert had to wait.
    """

    player = models.ForeignKey(Player, models.PROTECT)
    kind = models.CharField(max_length=8, choices=ExclusionKind.choices)
    begun = models.DateTimeField(db_default=Now())
    until = models.DateTimeField(null=True)
    reason = models.CharField(max_length=500, db_default="", default="")  # of staff; players need none
    by = models.CharField(max_length=40)  # the actor, as in the event log

    class Meta:
        default_permissions = ()
        permissions = [("exclude_player", "Can exclude players")]
        indexes = [models.Index(fields=["kind", "-id"], name="players_exclusion_kind")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(until__isnull=True, kind__in=["self", "staff"])
                | models.Q(until__gt=models.F("begun")),
                name="players_exclusion_lasts",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind="staff") | ~models.Q(reason=""), name="players_exclusion_reason"
            ),
        ]

    @property
    def is_by_house(self) -> bool:
        """Return whether staff began it, and not the player."""
        return self.by.startswith("staff:")


class ExclusionLift(models.Model):
    """An exclusion ended early by two members of staff, if that is allowed."""

    exclusion = models.OneToOneField(Exclusion, models.PROTECT, related_name="lift")
    at = models.DateTimeField(db_default=Now())
    reason = models.CharField(max_length=500)
    asked_by = models.CharField(max_length=40)
    decided_by = models.CharField(max_length=40)

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(asked_by=models.F("decided_by")), name="players_exclusionlift_two_people"
            )
        ]


class Outcome(models.TextChoices):
    """Answers of a register."""

    CLEAR = "clear", pgettext_lazy("register check", "Clear")
    EXCLUDED = "excluded", pgettext_lazy("register check", "Excluded")
    UNREACHABLE = "unreachable", pgettext_lazy("register check", "Unreachable")
    # it could not be reached, and is no longer configured
    DROPPED = "dropped", pgettext_lazy("register check", "Dropped")


class RegisterCheck(models.Model):
    """Answer of an exclusion register about a player."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    register = models.CharField(max_length=40)
    outcome = models.CharField(max_length=11, choices=Outcome.choices)
    until = models.DateTimeField(null=True)  # end of the exclusion; None: unknown, or permanent
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["player", "register", "-id"], name="players_registercheck_last"),
            # Nearly all are clear, and nobody searches for those.
            models.Index(
                fields=["outcome", "-id"], condition=~models.Q(outcome="clear"), name="players_registercheck_hits"
            ),
        ]


class RealityCheck(models.Model):
    """Interval of the reality check that a player chose. The newest row holds."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    minutes = models.PositiveSmallIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["player", "-id"], name="players_realitycheck_last")]


class PlaySession(models.Model):
    """Totals of one player's play since a log-in. Amounts in minor units of the player's currency."""

    session = models.UUIDField(primary_key=True)
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    began = models.DateTimeField(db_default=Now())
    # From when the next reality check counts, if not from the log-in: the last answer, or an earlier log-in.
    checked_at = models.DateTimeField(null=True)
    rounds = models.PositiveIntegerField(db_default=0, default=0)
    staked_real = models.BigIntegerField(db_default=0, default=0)
    paid_real = models.BigIntegerField(db_default=0, default=0)
    staked_free = models.BigIntegerField(db_default=0, default=0)
    paid_free = models.BigIntegerField(db_default=0, default=0)

    class Meta:
        default_permissions = ()


class PlayTime(models.Model):
    """Seconds played per calendar day in the player's jurisdiction, in any mode and session."""

    pk = models.CompositePrimaryKey("player_id", "day")
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    day = models.DateField()
    seconds = models.PositiveIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        default_permissions = ()


class LimitKind(models.TextChoices):
    """Subject of a limit."""

    DEPOSIT = "deposit", pgettext_lazy("limit kind", "Deposit")
    LOSS = "loss", pgettext_lazy("limit kind", "Loss")  # stakes less payouts
    STAKE = "stake", pgettext_lazy("limit kind", "Stake")
    TIME = "time", pgettext_lazy("limit kind", "Time")


class Period(models.TextChoices):
    """Calendar period in the time zone of the player's jurisdiction. A week begins on Monday."""

    DAY = "day", pgettext_lazy("limit period", "Day")
    WEEK = "week", pgettext_lazy("limit period", "Week")
    MONTH = "month", pgettext_lazy("limit period", "Month")


class LimitSource(models.TextChoices):
    """Party that set a limit. Limits of the law have no rows: the jurisdiction holds them."""

    PLAYER = "player", pgettext_lazy("limit source", "Player")
    HOUSE = "house", pgettext_lazy("limit source", "House")


class LimitChange(models.Model):
    """A limit that was set, changed or removed, with the time when it takes effect.

    Only ``players_change_limit`` inserts rows. Amounts are minor units of the player's currency, or
    seconds for limits of time. None means no limit.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    source = models.CharField(max_length=10, choices=LimitSource)
    kind = models.CharField(max_length=10, choices=LimitKind)
    period = models.CharField(max_length=10, choices=Period)
    before = models.BigIntegerField(null=True)  # the limit in force at the request
    amount = models.BigIntegerField(null=True)
    asked_at = models.DateTimeField()
    effective_at = models.DateTimeField()  # or from when on the player may confirm it
    needs_confirmation = models.BooleanField(default=False, db_default=False)  # without it, it takes no effect
    asked_by = models.CharField(max_length=40)  # actor, as in the event log
    reason = models.CharField(max_length=500)  # of staff; a player needs none

    class Meta:
        default_permissions = ()
        permissions = [("set_limits", "Can set limits for a player")]
        indexes = [
            models.Index("player", "source", "kind", "period", models.F("id").desc(), name="players_limit_newest")
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(source__in=LimitSource.values), name="players_limit_source"),
            models.CheckConstraint(condition=models.Q(kind__in=LimitKind.values), name="players_limit_kind"),
            models.CheckConstraint(condition=models.Q(period__in=Period.values), name="players_limit_period"),
            models.CheckConstraint(condition=models.Q(amount__gte=0), name="players_limit_amount"),
            models.CheckConstraint(
                condition=models.Q(effective_at__gte=models.F("asked_at")), name="players_limit_order"
            ),
        ]


class LimitOffer(models.Model):
    """A player has answered the offer of deposit limits: set some, or declined."""

    player = models.OneToOneField(Player, models.PROTECT, related_name="limit_offer")
    answered_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class LimitReminder(models.Model):
    """The house has reminded a player of the limits, or the player has reviewed them since.

    Only functions insert rows (``sql/functions/limits.sql``), and they are never changed.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    is_review = models.BooleanField(default=False)  # by the player
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["player", "-id"], name="players_limitreminder_newest")]


class Marker(models.TextChoices):
    """Markers of harm. ``docs/markers.md`` describes each with its thresholds."""

    RAISED_STAKES = "raised_stakes", _("Stakes raised after losses")
    LOSS_DEPOSIT = "loss_deposit", _("Deposits soon after losses")
    EMPTIED = "emptied", _("Deposits on an empty balance")
    NIGHTS = "nights", _("Frequent night play")
    LONG_NIGHT = "long_night", _("Long night session")
    RAPID_DEPOSITS = "rapid_deposits", _("Many deposits in one day")
    RETRIED_DEPOSITS = "retried_deposits", _("Retries after declined deposits")
    LIMITS_UNDONE = "limits_undone", _("Limit changes withdrawn")
    WITHDRAWALS_UNDONE = "withdrawals_undone", _("Cancelled withdrawals, then play")
    CONTACT_DUE = "contact_due", _("Limit that requires contact")


class Sighting(models.Model):
    """Signs of harm found when the case of a marker was opened, and again each time the degree rose."""

    case = models.ForeignKey("Case", models.PROTECT, related_name="sightings")
    at = models.DateTimeField(db_default=Clock())
    began = models.DateTimeField()  # time of the first and the last row
    ended = models.DateTimeField()
    degree = models.BigIntegerField()  # the number that the marker counts: higher is worse
    message = models.TextField()  # for staff
    rows = models.JSONField()  # [{"table": …, "id": …, "at": …, "amount": …}, …], amounts in minor units

    class Meta:
        default_permissions = ()


class ContactWay(models.TextChoices):
    """Way in which staff contacted the player."""

    MESSAGE = "message", _("Message on the site")
    EMAIL = "email", pgettext_lazy("contact way", "E-mail")
    PHONE = "phone", pgettext_lazy("contact way", "Telephone")
    NONE = "none", _("No contact needed")


class Contact(models.Model):
    """A contact that staff made because of a marker."""

    case = models.ForeignKey("Case", models.PROTECT, related_name="contacts")
    staff = models.ForeignKey(Staff, models.PROTECT, db_index=False)
    at = models.DateTimeField(db_default=Clock())  # when it was recorded
    made_at = models.DateTimeField()  # when it took place
    way = models.CharField(max_length=8, choices=ContactWay)
    said = models.TextField()  # what was said and agreed
    next_review = models.DateField(null=True)  # when staff review the player again

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=models.Q(made_at__lte=models.F("at")), name="players_contact_was_made")
        ]


class HarmMarkerScan(models.Model):
    """One scan for markers of harm. The next scan begins where it ended."""

    at = models.DateTimeField(db_default=Clock())
    seen = models.DateTimeField()  # all transactions up to here had committed
    event_id = models.BigIntegerField()  # the last event of the log at that time
    players = models.PositiveIntegerField()  # how many had been active since the previous scan
    flags = models.PositiveIntegerField()  # raised, or worse than before

    class Meta:
        db_table = "players_marker_scan"
        default_permissions = ()
