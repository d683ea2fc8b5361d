"""What is added to an incident afterwards: notes of staff, and letters to the players. Rows are inserted and never
changed; the words of a letter stand with each player's messages, where they read them, and are kept as long as those.
"""

from django.db import models
from django.db.models.functions import Now

from games.models.voids import Incident
from players.models import Mail, Player


class IncidentNote(models.Model):
    """What a member of staff found or did about an incident, in their words."""

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="notes")
    text = models.CharField(max_length=1000)
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class LetterKind(models.TextChoices):
    """What the house writes to everybody who was in a round."""

    ANNULLED = "annulled", "The round is annulled, stakes are back"
    STANDS = "stands", "The round was looked into, and stands"
    COMPLETED = "completed", "The round was interrupted, and completed"
    SHORTFALL = "shortfall", "The house bore what had been spent"
    APOLOGY = "apology", "An apology"


class IncidentLetter(models.Model):
    """That a letter goes to everybody who was in the round of an incident, as a member of staff decided. One of a kind
    is decided on for a round, however many incidents it has and however often somebody presses; the copies follow, in
    parts (`games.incidents.letters.parts`).
    """

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="letters")
    round_id = models.UUIDField()  # at a solo table or a shared one
    kind = models.CharField(max_length=9, choices=LetterKind)
    sentences = models.JSONField(default=dict)  # language -> what staff added to it
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["round_id", "kind"], name="games_incidentletter_once")]


class LetterEnd(models.Model):
    """Nobody is left whom a letter would go to: its last part is written."""

    letter = models.OneToOneField(IncidentLetter, models.PROTECT, primary_key=True, related_name="end")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class LetterCopy(models.Model):
    """A letter as one player got it: under messages from customer service, and by mail."""

    letter = models.ForeignKey(IncidentLetter, models.PROTECT, related_name="copies")
    player = models.ForeignKey(Player, models.PROTECT)
    language = models.CharField(max_length=2)
    conversation = models.BigIntegerField()  # its number; it is forgotten in its own time
    mail = models.ForeignKey(Mail, models.PROTECT)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["letter", "player"], name="games_lettercopy_once")]
