"""A large withdrawal is paid as two people agreed who may, whoever writes it: ``wallet/sql/0015_four_eyes.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0014_provider_statements"), ("players", "0018_four_eyes")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0015_four_eyes.sql").read_text())]
