"""Payments."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0004_days")]
    operations = []
