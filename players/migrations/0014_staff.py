"""Accounts of staff, made, changed and disabled by two people: ``players/sql/0014_staff.sql``; and who may."""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import audit.models
from players.roles import Duty, grant

WORK = Duty("players", "staff", "work", "Can enter the back office")
ASK = Duty("players", "staff", "ask_staff", "Can ask for changes of staff")
DECIDE = Duty("players", "staff", "decide_staff", "Can decide changes of staff")


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Make the role that looks after accounts of staff and sees neither players nor money; compliance decides too."""
    alias = schema_editor.connection.alias
    grant(apps, alias, "administrator", WORK, ASK, DECIDE)
    grant(apps, alias, "compliance", DECIDE)


class Migration(migrations.Migration):
    dependencies = [
        ("players", "0013_compliance"),
        ("audit", "0002_approvals"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]
    operations = [
        migrations.AlterModelOptions(
            "staff",
            options={
                "default_permissions": (),
                "permissions": [
                    ("work", "Can enter the back office"),
                    ("ask_staff", "Can ask for changes of staff"),
                    ("decide_staff", "Can decide changes of staff"),
                ],
            },
        ),
        migrations.CreateModel(
            name="StaffChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("staff.make", "account made"),
                            ("staff.roles", "roles changed"),
                            ("staff.disable", "account disabled"),
                            ("staff.enable", "account enabled"),
                            ("staff.factors", "second factors reset"),
                        ],
                        max_length=20,
                    ),
                ),
                ("before", models.JSONField()),
                ("after", models.JSONField()),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                (
                    "approval",
                    models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, to="audit.approval"),
                ),
                (
                    "user",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={"db_table": "players_staff_change", "default_permissions": ()},
        ),
        migrations.AddConstraint(
            "user",
            models.CheckConstraint(condition=models.Q(is_superuser=False), name="players_user_no_superuser"),
        ),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0014_staff.sql").read_text()),
        migrations.RunPython(give, migrations.RunPython.noop),
    ]
