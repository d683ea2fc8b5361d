"""Rounds that are played on an operator's wallet."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0026_sending"), ("wallet", "0021_remote")]
    operations = []
