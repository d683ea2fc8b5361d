"""Tables that pause."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0022_letters")]
    operations = []
