"""A seat at a shared table keeps the marks of the latest clicks, so that one that a browser sends again does nothing again."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0029_marks_solo")]
    operations = [migrations.AddField("liveseat", "marks", ArrayField(models.UUIDField(), null=True))]
