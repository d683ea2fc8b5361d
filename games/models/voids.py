"""Models of void rounds and of incidents."""

from django.db import models
from django.db.models.functions import Now

from games.models.live import LiveRound
from games.models.rounds import Round
from games.models.tables import Table
from players.models import Player


class VoidReason(models.TextChoices):
    """Why a round was voided. A solo round can only be voided for the first reason, and not by a person."""

    NOT_REPRODUCED = "not_reproduced", "its seed does not reproduce it"
    OVERDUE = "overdue", "it could not be dealt in time"
    CANCELLED = "cancelled", "cancelled before its deal"
    DECIDED = "decided", "decided by two people after an incident"

    @property
    def is_of_people(self) -> bool:
        """Whether people voided the round; the player is then not told of a technical fault."""
        return self in (VoidReason.CANCELLED, VoidReason.DECIDED)


class Void(models.Model):
    """A voided round: its postings were reversed. A row of its own, since a finished round never changes."""

    round = models.OneToOneField(Round, models.PROTECT, primary_key=True)
    reason = models.CharField(max_length=20, choices=VoidReason)
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class VoidPart(models.Model):
    """The effect of a void on one player, in minor units of *currency*."""

    void = models.ForeignKey(Void, models.PROTECT, related_name="parts")
    player = models.ForeignKey(Player, models.PROTECT)
    currency = models.CharField(max_length=3)
    returned = models.BigIntegerField()  # stakes returned less payouts taken back; negative where the player had won
    shortfall = models.BigIntegerField()  # what the house added, because the winnings had been spent

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["void", "player"], name="games_voidpart_once")]


class VoidTold(models.Model):
    """Marks that the player was told of a void, on the page of its table."""

    part = models.OneToOneField(VoidPart, models.PROTECT, primary_key=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class IncidentKind(models.TextChoices):
    """The kind of an incident. The verification of finished rounds finds the first three."""

    NOT_REPRODUCED = "not_reproduced", "Its seed does not reproduce it"
    RULES_UNKNOWN = "rules_unknown", "The rules it was played under are not known any more"
    LEDGER_REFUSES = "ledger_refuses", "Its seed does not reproduce it, and the ledger refuses to reverse it"
    PHASE_RAISED = "phase_raised", "It could not be moved on"
    OVERDUE = "overdue", "It stood still past its deadline"
    WRONG_CARD = "wrong_card", "The shoe is not what was shuffled"
    NOT_RECOMPUTED = "not_recomputed", "Its settlement does not recompute"
    REPORTED = "reported", "Reported by staff"


class Incident(models.Model):
    """A malfunction at a table, and what was done at once.

    *round* is a round of a solo table, which has at most one incident of each kind. *live_round* is
    a round of a shared table, finished or not; it may have another incident of a kind after the
    ruling on the first.
    """

    kind = models.CharField(max_length=20, choices=IncidentKind)
    table = models.ForeignKey(Table, models.PROTECT)
    round = models.ForeignKey(Round, models.PROTECT, null=True)
    live_round = models.ForeignKey(LiveRound, models.PROTECT, null=True)
    cause = models.TextField(db_default="", default="")  # a sentence for staff
    cards = models.CharField(max_length=40, db_default="", default="")  # so far, in dealing order
    findings = models.JSONField()  # [{"what": …, "stored": …, "recomputed": …}, …]
    done = models.JSONField()  # sentences for staff
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        permissions = [("supervise_table", "Can decide on incidents and annul rounds of shared tables")]
        constraints = [
            models.UniqueConstraint(fields=["round", "kind"], name="games_incident_once"),
        ]
        indexes = [models.Index(fields=["kind", "-id"], name="games_incident_kind")]


class Ruling(models.TextChoices):
    """The supervisor's decision on a round with an incident."""

    STANDS = "stands", "the round stands"
    VOID = "void", "the round is annulled"


class IncidentRuling(models.Model):
    """The supervisor's ruling on an incident at a shared table. Voiding a dealt round takes two people."""

    incident = models.OneToOneField(Incident, models.PROTECT, primary_key=True, related_name="ruling")
    ruling = models.CharField(max_length=6, choices=Ruling)
    by = models.CharField(max_length=40)
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
