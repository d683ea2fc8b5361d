"""The text of mail is encrypted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("players", "0005_room_for_updates_of_play_time")]
    operations = [
        migrations.RemoveField(model_name="mail", name="body"),
        migrations.AddField(model_name="mail", name="sealed_body", field=models.BinaryField(default=b"")),
    ]
