"""What staff note about players."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0014_staff")]
    operations = ()
