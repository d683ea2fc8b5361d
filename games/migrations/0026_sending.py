"""Letters of an incident, sent in parts."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0025_voids")]
    operations = []
