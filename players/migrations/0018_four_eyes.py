"""An exclusion is lifted as two people agreed who may, whoever writes it: ``players/sql/0018_four_eyes.sql``; and what
staff are still to be told of approvals.
"""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import audit.models


class Migration(migrations.Migration):
    dependencies = [("players", "0017_exporting"), ("audit", "0011_withdrawing")]
    operations = [
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0018_four_eyes.sql").read_text()),
        migrations.CreateModel(
            name="ApprovalNews",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=audit.models.Clock())),
                (
                    "approval",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, to="audit.approval"
                    ),
                ),
            ],
            options={"db_table": "players_approval_news", "default_permissions": ()},
        ),
    ]
