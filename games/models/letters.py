"""Models for the follow-up of an incident: notes of staff and letters to players.

Rows are inserted and never changed. The text of a letter is stored with the player's messages, and
kept as long as those.
"""

from django.db import models
from django.db.models.functions import Now

from games.models.voids import Incident
from players.models import Mail, Player


class IncidentNote(models.Model):
    """A note of staff about an incident."""

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="notes")
    text = models.CharField(max_length=1000)
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class LetterKind(models.TextChoices):
    """The kind of a letter to all players of a round."""

    ANNULLED = "annulled", "The round is annulled, stakes are back"
    STANDS = "stands", "The round was looked into, and stands"
    COMPLETED = "completed", "The round was interrupted, and completed"
    SHORTFALL = "shortfall", "The house bore what had been spent"
    APOLOGY = "apology", "An apology"


class IncidentLetter(models.Model):
    """A letter to all players of an incident's round, sent by a member of staff.

    A round has one letter of each kind, however many incidents it has. The copies follow in parts
    (`games.incidents.letters.parts`).
    """

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="letters")
    round_id = models.UUIDField()  # of a solo or a shared table
    kind = models.CharField(max_length=9, choices=LetterKind)
    sentences = models.JSONField(default=dict)  # language -> addition of staff
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["round_id", "kind"], name="games_incidentletter_once")]


class LetterEnd(models.Model):
    """Marks a letter whose copies are all written."""

    letter = models.OneToOneField(IncidentLetter, models.PROTECT, primary_key=True, related_name="end")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class LetterCopy(models.Model):
    """A player's copy of a letter: a message from customer service, and a mail."""

    letter = models.ForeignKey(IncidentLetter, models.PROTECT, related_name="copies")
    player = models.ForeignKey(Player, models.PROTECT)
    language = models.CharField(max_length=2)
    conversation = models.BigIntegerField()  # id of the conversation, which may be deleted after its retention time
    mail = models.ForeignKey(Mail, models.PROTECT)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["letter", "player"], name="games_lettercopy_once")]
