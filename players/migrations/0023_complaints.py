"""Complaints as a desk handles them."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("players", "0022_notices")]
    operations = []
