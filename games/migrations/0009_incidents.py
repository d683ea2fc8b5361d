"""Incidents of shared tables."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0008_live")]
    operations: list[object] = []
