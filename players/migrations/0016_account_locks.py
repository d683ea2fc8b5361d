"""Accounts that staff lock, with a reason."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0015_notes")]
    operations = ()
