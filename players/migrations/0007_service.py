"""Customer service."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0006_identity")]
    operations = []
