"""Indexes that reports need."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("audit", "0008_significant")]
    operations = ()
