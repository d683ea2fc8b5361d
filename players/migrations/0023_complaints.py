"""Complaints as a desk handles them: whose each is, by when it is decided, how it ended and may go on:
``players/sql/0023_complaints.sql``.
"""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from audit.models import Clock
from players.roles import Duty, grant

DECIDE = Duty("players", "conversation", "decide_complaint", "Can decide complaints and open them again")
STATES = [
    ("received", "Received"),
    ("looking", "Being looked into"),
    ("answered", "Answered"),
    ("closed", "Closed"),
    ("reopened", "Opened again"),
]
STEPS = [
    ("taken", "Taken"),
    ("handed", "Handed over"),
    ("given_back", "Given back"),
    ("decided", "Decided"),
    ("withdrawn", "Closed by the player"),
    ("reopened", "Opened again"),
    ("overdue", "Became overdue"),
]
VERDICTS = [
    ("upheld", "We agree with the complaint"),
    ("partly", "We agree with part of the complaint"),
    ("rejected", "We do not agree with the complaint"),
    ("by_player", "Closed by the player"),
]
DECIDED = ("upheld", "partly", "rejected")
Q = models.Q


def let_decide(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give the deciding to those who look after players, and not to those who run the tables that are complained of."""
    for role in ("support", "compliance"):
        grant(apps, schema_editor.connection.alias, role, DECIDE)


def staff(name: str = "") -> models.ForeignKey:
    """Return a column that names somebody of staff, or nobody."""
    way = {"related_name": name} if name else {}
    return models.ForeignKey(
        db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to="players.staff", **way
    )


def index(name: str, fields: list[str], condition: models.Q) -> migrations.AddIndex:
    """Return the operation that adds an index of some conversations."""
    return migrations.AddIndex("conversation", models.Index(condition=condition, fields=fields, name=name))


class Migration(migrations.Migration):
    dependencies = [("players", "0022_notices")]
    operations = [
        migrations.AddField(
            "jurisdiction", "complaint_days", models.PositiveSmallIntegerField(default=14), preserve_default=False
        ),
        migrations.AddField(
            "jurisdiction", "reopen_days", models.PositiveSmallIntegerField(default=30), preserve_default=False
        ),
        migrations.AlterModelOptions(
            "conversation",
            {
                "permissions": [
                    ("answer_service", "Can answer players"),
                    ("decide_complaint", "Can decide complaints and open them again"),
                ],
                "default_permissions": (),
            },
        ),
        migrations.AddField("conversation", "assigned_to", staff()),
        migrations.AddField("conversation", "ended_at", models.DateTimeField(null=True)),
        migrations.AddField("conversation", "reopen_until", models.DateTimeField(null=True)),
        migrations.AlterField(
            "conversation", "state", models.CharField(choices=STATES, default="received", max_length=8)
        ),
        migrations.RunSQL(
            """UPDATE players_conversation SET ended_at = moved_at WHERE topic = 'complaint' AND state = 'closed';
            SET CONSTRAINTS ALL IMMEDIATE"""
        ),
        migrations.RemoveIndex("conversation", "players_conversation_open"),
        index(
            "players_conversation_waits",
            ["moved_at", "id"],
            Q(state__in=("received", "looking", "reopened")),
        ),
        index("players_conversation_said", ["moved_at", "id"], Q(state="answered")),
        index("players_conversation_over", ["-moved_at", "-id"], Q(state="closed")),
        index("players_complaint_due", ["due_at", "id"], Q(topic="complaint") & ~Q(state="closed")),
        index("players_complaint_ended", ["-ended_at", "-id"], Q(topic="complaint", state="closed")),
        migrations.AddConstraint(
            "conversation",
            models.CheckConstraint(
                condition=Q(topic="complaint")
                | (Q(assigned_to=None, due_at=None, verdict="") & ~Q(state__in=["looking", "reopened"])),
                name="players_complaint_alone",
            ),
        ),
        migrations.AddConstraint(
            "conversation",
            models.CheckConstraint(
                condition=~Q(topic="complaint")
                | (Q(state="closed", ended_at__isnull=False, due_at__isnull=False) & ~Q(verdict=""))
                | (~Q(state="closed") & Q(ended_at=None, reopen_until=None, verdict="", due_at__isnull=False)),
                name="players_complaint_ends",
            ),
        ),
        migrations.CreateModel(
            name="ComplaintStep",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("step", models.CharField(choices=STEPS, max_length=10)),
                ("verdict", models.CharField(blank=True, choices=VERDICTS, max_length=10)),
                ("due_at", models.DateTimeField()),
                ("at", models.DateTimeField(db_default=Clock())),
                ("by", staff("+")),
                ("to", staff("+")),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="steps", to="players.conversation"
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="players.servicemessage",
                    ),
                ),
            ],
            options={
                "db_table": "players_complaint_step",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(step="decided", by__isnull=False, message__isnull=False, verdict__in=DECIDED)
                        | Q(step="withdrawn", by=None, message=None, verdict="by_player")
                        | Q(step="reopened", message__isnull=False, verdict="")
                        | Q(step="overdue", by=None, message=None, verdict="")
                        | Q(step__in=["taken", "handed", "given_back"], by__isnull=False, message=None, verdict=""),
                        name="players_complaint_step_whole",
                    ),
                    models.UniqueConstraint(
                        condition=Q(step="overdue"),
                        fields=("conversation", "due_at"),
                        name="players_complaint_overdue_once",
                    ),
                ],
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0023_complaints.sql").read_text()),
        migrations.RunPython(let_decide, migrations.RunPython.noop),
    ]
