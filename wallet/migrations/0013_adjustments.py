"""Balances put right by two people."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0012_report_indexes")]
    operations = ()
