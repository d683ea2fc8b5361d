"""Limits."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0007_service")]
    operations = []
