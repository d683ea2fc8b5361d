"""Seeds of open shoes may be sealed under another key."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0027_remote")]
    operations = [
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0028_keys.sql").read_text(), migrations.RunSQL.noop)
    ]
