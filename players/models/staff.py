"""What staff write: their accounts, news of approvals, notices to players, and notes about players.

Notes are added and never changed (``sql/functions/notes.sql``); they are deleted with the person.
"""

from django.db import models

from audit.models import Approval, Clock
from players.models.people import Player, Staff, User


class Notice(models.Model):
    """A notice of maintenance. It is shown from ``shown_from`` until ``shown_until``, and speaks of work planned from
    ``begins_at`` to ``ends_at``. Its words have the mark `players.staff.notices.WHEN`, for which each reader gets those
    times as their clocks show them.
    """

    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    shown_from = models.DateTimeField()
    shown_until = models.DateTimeField()
    texts = models.JSONField()  # the words in each language of the house
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False, related_name="+")
    at = models.DateTimeField(db_default=Clock())
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.ForeignKey(Staff, models.PROTECT, null=True, db_index=False, related_name="+")
    reason = models.CharField(max_length=300, blank=True)  # why it was withdrawn

    class Meta:
        db_table = "players_notice"
        default_permissions = ()
        permissions = [("publish_notices", "Can publish and withdraw notices to everybody")]

    def __str__(self) -> str:
        return f"notice:{self.pk}"


class ApprovalNews(models.Model):
    """An approval that was asked for, or that ended, of which nobody has been mailed yet; gone once they were.

    A queue and not a mark reached: requests commit in another order than they began.
    """

    approval = models.ForeignKey(Approval, models.PROTECT, db_index=False)
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_approval_news"
        default_permissions = ()


class StaffDeed(models.TextChoices):
    """What two people may do to an account of staff; the value is also the kind of the approval."""

    MAKE = "staff.make", "account made"
    ROLES = "staff.roles", "roles changed"
    DISABLE = "staff.disable", "account disabled"
    ENABLE = "staff.enable", "account enabled"
    FACTORS = "staff.factors", "second factors reset"


class StaffChange(models.Model):
    """A change of one account of staff. ``before`` and ``after`` say whether it was active, in which roles, and with
    how many second factors; ``approval`` is None where whoever owns the database founded the house.
    """

    user = models.ForeignKey(User, models.PROTECT)
    approval = models.OneToOneField(Approval, models.PROTECT, null=True)
    kind = models.CharField(max_length=20, choices=StaffDeed)
    before = models.JSONField()
    after = models.JSONField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_staff_change"
        default_permissions = ()


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
