"""Rounds annulled only as two people decided, held by the database."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0024_names")]
    operations = []
