"""Pauses."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0008_limits")]
    operations = []
