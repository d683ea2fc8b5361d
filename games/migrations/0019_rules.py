"""Rules of games as they were, and versions of tables that are asked for."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0018_report_indexes")]
    operations = ()
