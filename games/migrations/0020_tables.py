"""Whom a table is for, and who makes one."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0019_rules")]
    operations = ()
