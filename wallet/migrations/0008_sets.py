"""Stakes and payouts of a whole round, each one statement over all bettors."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0007_holds")]
    operations: list[object] = []
