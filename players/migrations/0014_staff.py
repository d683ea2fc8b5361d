"""Accounts of staff, made, changed and disabled by two people."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0013_compliance")]
    operations = ()
