"""The log is held to what it is about, whoever writes into it: ``audit/sql/0004_guards.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_tree")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0004_guards.sql").read_text())]
