"""The text of mail is encrypted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("players", "0003_credentials")]
    operations = [
        migrations.RemoveField(model_name="mail", name="body"),
        migrations.AddField(model_name="mail", name="sealed_body", field=models.BinaryField(default=b"")),
    ]
