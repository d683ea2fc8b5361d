"""Numbers of bank accounts and secrets of partners may be sealed under another key."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0021_remote")]
    operations = [
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0023_keys.sql").read_text(), migrations.RunSQL.noop)
    ]
