"""Sessions and the end of accounts: ``players/sql/0005_sessions.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Now

ENDED = [
    ("logged out", "Logged Out"),
    ("timed out", "Idle"),
    ("ended from another session", "Elsewhere"),
    ("password changed", "Password"),
    ("account closed", "Closed"),
]
STATES = [("closing", "Closing"), ("closed", "Closed"), ("erased", "Erased")]


class Migration(migrations.Migration):
    dependencies = [("players", "0004_log_in"), ("audit", "0001_log")]
    operations = [
        migrations.CreateModel(
            "Session",
            [
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ("ip", models.CharField(max_length=45)),
                ("browser", models.CharField(max_length=300)),
                ("began_at", models.DateTimeField(db_default=Now())),
                ("acted_at", models.DateTimeField(db_default=Now())),
                ("ended_at", models.DateTimeField(null=True)),
                ("why", models.CharField(choices=ENDED, default="", max_length=30)),
            ],
            {
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["acted_at"], condition=models.Q(ended_at=None), name="players_session_running")
                ],
            },
        ),
        migrations.CreateModel(
            "Closure",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("player", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="players.player")),
                ("state", models.CharField(choices=STATES, max_length=10)),
                ("by", models.CharField(max_length=40)),
                ("at", models.DateTimeField(db_default=Now())),
            ],
            {
                "default_permissions": ("view",),
                "constraints": [models.UniqueConstraint(fields=["player", "state"], name="players_closure_once")],
            },
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0005_sessions.sql").read_text()),
    ]
