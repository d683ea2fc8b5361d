"""Approvals: what one person asks for and another one decides; the rest is in ``audit/sql/0002_approvals.sql``."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import audit.models


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_log")]
    operations = [
        migrations.CreateModel(
            name="Approval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.TextField()),
                ("on", models.TextField()),
                ("request", models.TextField()),
                ("sha256", models.BinaryField()),
                ("by", models.TextField()),
                ("person", models.UUIDField()),
                ("reason", models.TextField()),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                ("expires_at", models.DateTimeField()),
            ],
            options={"db_table": "audit_approval", "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                (
                    "approval",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        serialize=False,
                        to="audit.approval",
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        choices=[("approved", "Approved"), ("refused", "Refused"), ("expired", "Expired")], max_length=8
                    ),
                ),
                ("by", models.TextField()),
                ("asker", models.UUIDField()),
                ("person", models.UUIDField(null=True)),
                ("reason", models.TextField()),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
            ],
            options={"db_table": "audit_decision", "default_permissions": ()},
        ),
        migrations.AddIndex("approval", models.Index(fields=["on", "id"], name="audit_approval_on")),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0002_approvals.sql").read_text()),
    ]
