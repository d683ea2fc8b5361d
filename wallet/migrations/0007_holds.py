"""Holds."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0006_withdrawals")]
    operations = []
