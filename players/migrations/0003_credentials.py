"""Tables of the proofs for changes of credentials (``0003_credentials.sql``)."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0002_data")]
    operations = [migrations.RunSQL(Path(__file__).with_suffix(".sql").read_text())]
