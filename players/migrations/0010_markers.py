"""Markers of harm."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0009_pauses")]
    operations = []
