"""Tables that pause: open, paused or closed in place of open or not."""

from pathlib import Path

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0022_letters")]
    operations = [
        migrations.AddField(
            model_name="table",
            name="status",
            field=models.CharField(
                choices=[("open", "open"), ("paused", "paused"), ("closed", "closed")],
                db_default="closed",
                default="closed",
                max_length=6,
            ),
        ),
        migrations.RunSQL("UPDATE games_table SET status = 'open' WHERE is_open"),
        migrations.RunSQL((Path(__file__).parents[1] / "sql" / "0023_pause.sql").read_text()),
        migrations.RemoveField(model_name="table", name="is_open"),
        migrations.AddConstraint(
            model_name="table",
            constraint=models.CheckConstraint(
                condition=models.Q(status__in=["open", "paused", "closed"]), name="games_table_status"
            ),
        ),
    ]
