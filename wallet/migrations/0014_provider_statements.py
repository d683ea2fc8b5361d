"""What providers say they paid, beside what the house has."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0013_adjustments")]
    operations = ()
