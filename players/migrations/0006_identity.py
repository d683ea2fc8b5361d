"""Identity."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0005_sessions")]
    operations = []
