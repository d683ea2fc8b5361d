"""Templates of replies, with those the house ships: ``players/texts/replies.*.md``, ``players/sql/0021_templates.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import audit.models
from players.replies import shipped
from players.roles import Duty, grant

WRITE = Duty("players", "replytemplate", "write_replies", "Can write and withdraw templates of replies")


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let those who answer for what the house says write templates; make those that it ships."""
    alias = schema_editor.connection.alias
    for role in ("compliance", "supervisor"):
        grant(apps, alias, role, WRITE)
    templates = apps.get_model("players", "ReplyTemplate").objects.using(alias)
    templates.bulk_create([templates.model(number=1, **each) for each in shipped.templates()])


class Migration(migrations.Migration):
    dependencies = [("players", "0020_lists")]
    operations = [
        migrations.CreateModel(
            name="ReplyTemplate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(db_index=False, max_length=40)),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("question", "Answer to a question"),
                            ("complaint", "Answer to a complaint"),
                            ("chat", "About the chat"),
                        ],
                        max_length=10,
                    ),
                ),
                ("title", models.CharField(max_length=100)),
                ("texts", models.JSONField()),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                (
                    "by",
                    models.ForeignKey(
                        db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to="players.staff"
                    ),
                ),
            ],
            options={
                "db_table": "players_reply_template",
                "permissions": [("write_replies", "Can write and withdraw templates of replies")],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("name", "number"), name="players_reply_template_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="ReplyWithdrawal",
            fields=[
                (
                    "template",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="withdrawal",
                        serialize=False,
                        to="players.replytemplate",
                    ),
                ),
                ("reason", models.CharField(max_length=300)),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                (
                    "by",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="players.staff"),
                ),
            ],
            options={"db_table": "players_reply_withdrawal", "default_permissions": ()},
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0021_templates.sql").read_text()),
    ]
