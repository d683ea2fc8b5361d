"""The whole house stopped: no new stake, no deposit begun."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("wallet", "0018_statements")]
    operations = []
