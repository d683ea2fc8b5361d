"""A seat at a guests' table keeps the marks of the latest clicks, so that one that a browser sends again does nothing again."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0030_marks_shared")]
    operations = [migrations.AddField("cheminseat", "marks", ArrayField(models.UUIDField(), null=True))]
