"""No foreign key holds events any longer: ``audit/sql/0015_references.sql`` asks for them instead.

Not in one transaction: each step holds one or two tables, and whoever writes an event wants them in another order.
"""

import re
from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

TEXT = (Path(__file__).parents[1] / "sql" / "0015_references.sql").read_text()
STATEMENTS = [each for each in re.split(r"\n(?=CREATE )", TEXT) if each.startswith("CREATE ")]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("audit", "0014_months")]

    operations = [
        *(migrations.RunSQL(statement) for statement in STATEMENTS),
        migrations.AlterField(
            "leaf",
            "event",
            models.OneToOneField(
                db_constraint=False, on_delete=django.db.models.deletion.PROTECT, to="audit.event"
            ),
        ),
        migrations.AlterField(
            "pending",
            "event",
            models.OneToOneField(
                db_constraint=False,
                on_delete=django.db.models.deletion.PROTECT,
                primary_key=True,
                serialize=False,
                to="audit.event",
            ),
        ),
        migrations.AlterField(
            "personal",
            "event",
            models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, to="audit.event"),
        ),
        migrations.AlterField(
            "significant",
            "event",
            models.ForeignKey(
                db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, to="audit.event"
            ),
        ),
    ]
