"""Notices of maintenance, to everybody."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0021_templates")]
    operations = []
