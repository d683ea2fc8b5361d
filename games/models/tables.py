"""Tables and their versions."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from audit.models import Approval


class Shape(models.TextChoices):
    """Whom a table deals for. Shape belongs to the table, rules belong to the variant."""

    SOLO = "solo", "one player, on demand"
    SHARED = "shared", "many players, in timed rounds"
    GUESTS = "guests", "guests against each other"


class Status(models.TextChoices):
    """Whether rounds begin at a table: they do where it is open alone."""

    OPEN = "open", "open"
    PAUSED = "paused", "paused"
    CLOSED = "closed", "closed"


class Table(models.Model):
    """A place to play one variant. What decides money (rules, limits, chips) stands in its current version."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    variant = models.CharField(max_length=40)  # a slug of games.variants
    shape = models.CharField(max_length=6, choices=Shape.choices, default=Shape.SOLO, db_default=Shape.SOLO)
    status = models.CharField(max_length=6, choices=Status.choices, default=Status.CLOSED, db_default=Status.CLOSED)
    first_opened_at = models.DateTimeField(null=True, editable=False)  # kept by a trigger
    chat_language = models.CharField(max_length=2, blank=True, default="", db_default="")  # spoken there; "": any
    version = models.ForeignKey("TableVersion", models.PROTECT, null=True, related_name="+")

    class Meta:
        default_permissions = ("view",)
        permissions = [("operate_table", "Can open and close tables")]
        constraints = [
            models.CheckConstraint(condition=models.Q(status__in=Status.values), name="games_table_status"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        """Whether rounds begin there."""
        return self.status == Status.OPEN


class TableVersion(models.Model):
    """Rules and limits of a table from a moment on (GLI-19 v3.0, A.6.1: a change is a new version)."""

    table = models.ForeignKey(Table, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    rules_version = models.CharField(max_length=20)
    rules_digest = models.CharField(max_length=64)  # hex SHA-256 of everything in the rules that decides money
    limits = models.JSONField()  # as games.betting.limits reads them
    clock = models.JSONField(null=True)  # as games.tables.clock reads it; shared tables only
    jurisdictions = ArrayField(models.CharField(max_length=2))  # whose players it serves
    modes = ArrayField(models.CharField(max_length=1))  # the kinds of money it is played for
    created_at = models.DateTimeField(db_default=Now())
    # Whose approval it is of; None of what a table began with before it was opened, and of the program's own rules.
    approval = models.OneToOneField(Approval, models.PROTECT, null=True, related_name="+")

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(fields=["table", "number"], name="games_tableversion_number"),
            models.CheckConstraint(
                condition=~models.Q(jurisdictions=[]) & ~models.Q(modes=[]) & models.Q(modes__contained_by=["F", "R"]),
                name="games_tableversion_for_somebody",
            ),
        ]
