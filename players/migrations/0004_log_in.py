"""Log-in."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0003_profiles")]
    operations = []
