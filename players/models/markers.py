"""Flags for markers of harm, with the rows that caused them and the contacts that staff made.

A flag changes only once, when it is closed. Sightings and contacts are inserted and never changed
(``sql/functions/harm_markers.sql``).
"""

from django.db import models

from audit.models import Clock
from players.models.people import Player, Staff


class Marker(models.TextChoices):
    """Markers of harm. ``docs/markers.md`` describes each with its thresholds."""

    RAISED_STAKES = "raised_stakes", "Stakes raised after losses"
    LOSS_DEPOSIT = "loss_deposit", "Deposit soon after losses"
    EMPTIED = "emptied", "Deposits on an empty balance"
    NIGHTS = "nights", "Play in many nights"
    LONG_NIGHT = "long_night", "Hours of play in one night"
    RAPID_DEPOSITS = "rapid_deposits", "Many deposits within a day"
    RETRIED_DEPOSITS = "retried_deposits", "Declined deposits tried again"
    LIMITS_UNDONE = "limits_undone", "Changes of limits taken back"
    WITHDRAWALS_UNDONE = "withdrawals_undone", "Withdrawals taken back into play"
    CONTACT_DUE = "contact_due", "Limit that asks for contact"


class FlagOutcome(models.TextChoices):
    """How a flag was closed."""

    NO_CONCERN = "no_concern", "No reason for concern"
    TALKED = "talked", "Talked about, the player decides"
    LIMITED = "limited", "A limit was set"
    EXCLUDED = "excluded", "The player is excluded or takes a pause"


class Flag(models.Model):
    """A marker that a player has reached. At most one flag per marker is open."""

    player = models.ForeignKey(Player, models.PROTECT)
    marker = models.CharField(max_length=20, choices=Marker)
    raised_at = models.DateTimeField(db_default=Clock())
    closed_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(Staff, models.PROTECT, null=True, db_index=False)
    outcome = models.CharField(max_length=12, choices=FlagOutcome, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        default_permissions = ()
        permissions = [("see_flags", "Can see and answer markers of harm")]
        constraints = [
            models.UniqueConstraint(
                fields=["player", "marker"], condition=models.Q(closed_at=None), name="players_flag_open"
            ),
            models.CheckConstraint(
                condition=models.Q(closed_at=None, closed_by=None, outcome="")
                | (models.Q(closed_at__isnull=False, closed_by__isnull=False) & ~models.Q(outcome="")),
                name="players_flag_closed",
            ),
        ]

    def __str__(self) -> str:
        return f"flag:{self.pk}"


class Sighting(models.Model):
    """What was seen when a flag was raised, and again each time the degree rose."""

    flag = models.ForeignKey(Flag, models.PROTECT, related_name="sightings")
    at = models.DateTimeField(db_default=Clock())
    began = models.DateTimeField()  # time of the first and the last row
    ended = models.DateTimeField()
    degree = models.BigIntegerField()  # the number that the marker counts: higher is worse
    sentence = models.TextField()  # for staff
    rows = models.JSONField()  # [{"table": …, "id": …, "at": …, "amount": …}, …], amounts in minor units

    class Meta:
        default_permissions = ()


class ContactWay(models.TextChoices):
    """How staff contacted the player."""

    MESSAGE = "message", "Message in the house"
    EMAIL = "email", "E-mail"
    PHONE = "phone", "Telephone"
    NONE = "none", "None needed"


class Contact(models.Model):
    """A contact that staff made because of a flag."""

    flag = models.ForeignKey(Flag, models.PROTECT, related_name="contacts")
    staff = models.ForeignKey(Staff, models.PROTECT, db_index=False)
    at = models.DateTimeField(db_default=Clock())  # when it was recorded
    made_at = models.DateTimeField()  # when it took place
    way = models.CharField(max_length=8, choices=ContactWay)
    said = models.TextField()  # what was said and agreed
    next_look = models.DateField(null=True)  # when staff review the player again

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=models.Q(made_at__lte=models.F("at")), name="players_contact_was_made")
        ]


class Look(models.Model):
    """One scan for markers of harm. The next scan begins where it ended."""

    at = models.DateTimeField(db_default=Clock())
    seen = models.DateTimeField()  # all transactions up to here had committed
    event_id = models.BigIntegerField()  # the last event of the log at that time
    players = models.PositiveIntegerField()  # how many had been active since the previous scan
    flags = models.PositiveIntegerField()  # raised, or worse than before

    class Meta:
        db_table = "players_marker_look"
        default_permissions = ()
