"""Names of the chat that staff take away."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0023_pause")]
    operations = []
