"""Indexes that reports of money need."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0011_moved")]
    operations = ()
