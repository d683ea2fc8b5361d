"""What archived months are carried forward as: ``wallet/sql/0028_carried.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0027_journals_by_months")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0028_carried.sql").read_text())]
