"""Withdrawals."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0005_payments"), ("audit", "0002_approvals")]
    operations = []
