"""What staff note about players, and the words by which staff find them.

Notes are added and never changed (``sql/functions/notes.sql``); they go with the person.
"""

from django.db import models

from audit.models import Clock
from players.models.people import Player, Staff

LONGEST_NOTE = 2000  # characters


class Note(models.Model):
    """Something that a member of staff wrote about a player for others to read; "" once erased.

    A *restricted* one is for those alone who work on significant events: what is suspected under the law against money
    laundering reaches nobody else, least of all the player.
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


class WordField(models.TextChoices):
    """Where a word stands."""

    NAME = "name"
    ADDRESS = "address"


class SearchWord(models.Model):
    """A word of a player's name or address in its normal form (`players.identity.normalise.words`): "muller" for
    Müller.

    Compared byte by byte, so that a range of one index holds all words that begin alike, whatever the database's
    language.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    field = models.CharField(max_length=7, choices=WordField)
    word = models.TextField(db_collation="C")

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["player", "field", "word"], name="players_searchword_once")]
        indexes = [models.Index(fields=["field", "word", "player"], name="players_searchword_find")]
