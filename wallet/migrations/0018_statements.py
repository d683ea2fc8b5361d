"""Nothing is added to a statement that was confirmed, nor after the last word: ``wallet/sql/0018_statements.sql``."""

from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0017_lists")]
    operations = [migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0018_statements.sql").read_text())]
