"""A table of our own for session cookies, which also says which log-in each belongs to."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("players", "0006_sealed_mail")]
    operations = [
        migrations.CreateModel(
            name="BrowserSession",
            fields=[
                (
                    "session_key",
                    models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name="session key"),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("log_in", models.UUIDField(null=True)),
            ],
            options={"default_permissions": ()},
        ),
    ]
