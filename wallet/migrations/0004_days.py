"""What moved on each day."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0003_purse"), ("players", "0008_limits")]
    operations = []
