"""Staff changes, approval news, notices to players, notes about players, and search words.

Notes are inserted and never changed (``sql/functions/notes.sql``). They are erased together with
the player's data.
"""

from django.db import models

from audit.models import Approval, Clock
from players.models.people import Player, Staff, User


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

    MAKE = "staff.make", "account created"
    ROLES = "staff.roles", "roles changed"
    DISABLE = "staff.disable", "account disabled"
    ENABLE = "staff.enable", "account enabled"
    FACTORS = "staff.factors", "second factors reset"


class StaffChange(models.Model):
    """A change of one staff account.

    ``before`` and ``after`` hold activity, roles and number of second factors. ``approval`` is None
    if the database owner created the account by command. Only ``sql/functions/staff.sql`` writes rows,
    in the transaction of the change; triggers refuse a change of a staff account without a row here.
    """

    user = models.ForeignKey(User, models.PROTECT)
    approval = models.OneToOneField(Approval, models.PROTECT, null=True)
    kind = models.CharField(max_length=20, choices=StaffAction)
    before = models.JSONField()
    after = models.JSONField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_staff_change"
        default_permissions = ()


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
