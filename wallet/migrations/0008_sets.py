"""Stakes and payouts of a whole round, each one statement over all bettors: ``wallet/sql/0008_sets.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0007_holds")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0008_sets.sql").read_text())]
