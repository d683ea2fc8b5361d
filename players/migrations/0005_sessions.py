"""Sessions."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0004_log_in")]
    operations = []
